"""Worked examples: the paper's are found as what the paper calls them, and each comes with its command."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from audit.reports.finding import COLUMNS
from audit.vocabulary.cases import CASES
from tests.audit.calls import call, json_rows
from tests.audit.samples import SHARED, candidate, episode, revision, write_run

pytestmark = pytest.mark.usefixtures("confined_once")

DOCS = Path(__file__).resolve().parents[3] / "docs"
SECRET = "no condition has any business to read this"


def found(*arguments):
    return json_rows("find", *arguments)


TEN = tuple(range(10))
CITING, SILENT, ASIDE = (
    "The worst rollout fell.",
    "It fell.",
    "The worst rollout is a rare outlier, so I did not design around it.",
)
LOOP = "It cycles between states 9 and 10, a self-loop."


def edited(count):
    return tuple(value + (1 if index < count else 0) for index, value in enumerate(TEN))


# CartPole: floor 0, near_zero 20, partial 200, high 450, so that a span is 450; small edits change up to 3 parameters.
# Iteration: the initial candidate's returns, the revised one's, changed parameters, the answer, what it is a case of
# and with what score, in parts of a span.
EXAMPLES = {
    1: ([440, 460, 495], [500] * 3, 1, SILENT, {"conservative-repair": 35, "fine-tune": 35}),
    2: ([0, 9, 9], [480] * 3, 10, SILENT, {"full-rescue": 474, "history-guided-rescue": 474}),
    3: ([200, 400, 420], [160] * 3, 2, SILENT, {"honest-failure": 180, "surgical-backfire": 180}),
    4: ([100, 300, 500], [75] * 3, 5, CITING, {"salience": 0.5 * 225}),
    5: ([100, 300, 500], [390] * 3, 5, CITING, {"outlier-heeded": 0.5 * 90, "targeted-multi-state-fix": 90}),
    6: ([100, 100, 400], [290] * 3, 4, CITING, {"confirmed-failure": 90, "targeted-multi-state-fix": 90}),
    7: ([200, 500, 500], [300] * 3, 5, SILENT, {"preservation-broken": 100}),
    8: ([150, 300, 450], [390] * 3, 2, ASIDE, {"outlier-heeded": 45, "pinpoint-fix": 90}),
    9: ([100, 100, 130], [200] * 3, 1, LOOP, {"loop-diagnosis": 90}),
    10: ([470] * 3, [425] * 3, 6, SILENT, {"near-optimal-break": 45}),
    11: ([12] * 3, [3] * 3, 8, SILENT, {"full-redesign": 9}),
    12: ([100] * 3, [55] * 3, 0, SILENT, {"pure-stochasticity": 45}),
    13: ([100] * 3, [100] * 3, 2, SILENT, {}),
}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    records = [
        revision(r0, r1, before=TEN, after=edited(changes), answer=answer, iteration=number)
        for number, (r0, r1, changes, answer, _) in EXAMPLES.items()
    ]
    return write_run(folder, records)


def test_a_case_finds_its_examples_and_scores_them_as_by_hand(examples):
    for case in CASES:
        wanted = {number: example[4][case] / 450 for number, example in EXAMPLES.items() if case in example[4]}
        assert wanted, f"{case}: a case without an example"
        rows = found(examples, "--case", case)
        assert {row["iteration"]: row["score"] for row in rows} == pytest.approx(wanted), case
        assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
        assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
        assert {row["case"] for row in rows} == {case}
        assert {tuple(row) for row in rows} == {COLUMNS}
    documented = (DOCS / "sql.md").read_text().split("A row: ")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", documented)) == set(COLUMNS)


@pytest.mark.skipif(not (SHARED / "critic_texts").exists(), reason="the paper's texts are not at hand")
@pytest.mark.parametrize("number", range(5))
def test_the_papers_own_examples_are_found_as_what_the_paper_calls_them(tmp_path, number):
    """Their edits are told in the answers: so many parameters of the vector in the answer were something else."""
    printed = json.loads((SHARED / "critic_texts/paper_r2po.json").read_text())[number]
    changes = {"Conservative Repair": 1, "Full Rescue": 8, "Honest Failure": 2, "Loop Diagnosis": 1}[printed["case"]]
    after = [float(value) for value in re.findall(r"params\[\d+\]: (-?[\d.]+)", printed["answer"])]
    before = [value + (index < changes) for index, value in enumerate(after)]
    record = episode(
        candidate([printed["r0"]] * 20, before),
        candidate([printed["r1"]] * 20, after, "critic", printed["answer"]),
        **{key: printed[key] for key in ("env", "variant", "run", "iteration")},
    )
    record["evidence"]["kind"] = "median"
    write_run(tmp_path, [record])
    [row] = found(tmp_path, "--case", printed["case"].lower().replace(" ", "-"))
    assert (row["r0"], row["r1"]) == (pytest.approx(printed["r0"]), pytest.approx(printed["r1"]))


def test_a_condition_alone_ranks_by_the_size_of_delta(examples):
    rows = found(examples, "--where", "direction = 'improvement' and edit_distance <= 2", "--limit", 3)
    assert [row["iteration"] for row in rows] == [8, 9, 1]
    assert [row["score"] for row in rows] == [row["delta"] for row in rows] == pytest.approx([90, 90, 35])
    assert {row["case"] for row in rows} == {None}


def test_a_condition_narrows_a_case_and_may_ask_other_relations(examples):
    where = "iteration in (select iteration from rollouts where return > 480)"
    assert [row["iteration"] for row in found(examples, "--case", "outlier-heeded", "--where", where)] == [5]


def test_the_detector_and_the_thresholds_count(examples):
    assert len(found(examples, "--case", "salience", "--detector", "phrase")) == 1
    [row] = found(examples, "--case", "full-rescue", "--set", "cartpole.high=470")
    assert row["score"] == pytest.approx(474 / 470)
    assert found(examples, "--case", "full-rescue", "--set", "cartpole.high=490") == []


def test_each_comes_with_the_command_that_shows_it_wherever_it_lies(tmp_path):
    rows = [revision([1, 5, 9], [2, 2, 2], answer=CITING)]
    first = write_run(tmp_path / "it's a; folder", rows)
    second = write_run(tmp_path / "$HOME", [{**row, "condition": "an other", "env": "pong"} for row in rows])
    options = ["--detector", "resolved", "--set", "pong.high=2.5"]
    rows = found(first, second, "--case", "salience", *options)
    assert {row["env"] for row in rows} == {"cartpole", "pong"}
    for row in rows:
        program, *arguments = shlex.split(row["show"])
        assert program == "audit"
        shown = call(*arguments, "--format", "json")
        assert shown.exit_code == 0, shown.stderr
        answer = json.loads(shown.stdout)
        assert {key: answer[key] for key in ("condition", "env", "detector")} == {
            "condition": row["condition"],
            "env": row["env"],
            "detector": "resolved",
        }


def test_the_table_has_commands_and_says_what_it_leaves_out(examples):
    asked = ("find", examples, "--case", "outlier-heeded")
    result = call(*asked)
    [row, *_] = found(*asked[1:])
    assert f"   1  {row['show']}" in result.stdout.splitlines()
    assert "score: severity times gain" in result.stdout
    assert "1 of 2 revisions found" in call(*asked, "--limit", 1).stderr
    assert "--limit" not in call(*asked, "--limit", 2).stderr
    nothing = call("find", examples, "--where", "r0 > 1e6", "--format", "json")
    assert (nothing.exit_code, json.loads(nothing.stdout)) == (0, [])
    assert "nothing found: no revision is one where r0 > 1e6" in nothing.stderr


def test_the_cases_are_listed():
    listed = call("find", "--cases")
    assert (listed.exit_code, len(listed.stdout.splitlines())) == (0, len(CASES))
    for name, case in CASES.items():
        assert f"{name} " in listed.stdout
        assert case.words in listed.stdout
        assert case.words[-1] == case.score[-1] == "."


def test_an_unknown_case_lists_the_cases(examples):
    result = call("find", examples, "--case", "full-rescu")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean full-rescue?" in result.stderr
    assert set(CASES) <= set(result.stderr.split())
    assert call("find", examples).exit_code == 2


REFUSED = {
    "a second statement": "true; drop view revisions",
    "the end of ours": "true) or (true",
    "another query": "true union select * from read_text('{secret}')",
    "an order": "true order by r0",
    "two conditions": "r0 > 1, r1 > 2",
    "nothing": "",
    "a comment": "/* true",
    "another file": "exists (from read_text('{secret}'))",
    "another file by its name": "exists (from '{secret}')",
    "another file in a scalar": "(select content from read_text('{secret}')) like 'no%'",
    "another file by SQL in a text": "exists (from query('from read_text(''{secret}'')'))",
    "copying out in a CTE": "exists (with x as (copy revisions to '{folder}/out.csv') from x)",
    "an aggregate": "count(*) > 1",
    "no such column": "r2 > 1",
    "no such relation": "exists (from nonsense)",
    "bytes that are no text": "answer = '\udcff'",
}


def test_a_condition_is_one_expression_over_relations_and_nothing_else(tmp_path):
    (tmp_path / "secret.csv").write_text(SECRET)
    data = write_run(tmp_path / "data", [revision([1, 5, 9], [2, 2, 2])])
    before = sorted(tmp_path.rglob("*"))
    for case, form in REFUSED.items():
        result = call("find", data, "--where", form.format(secret=tmp_path / "secret.csv", folder=tmp_path))
        assert (result.exit_code, result.stdout) == (2, ""), case
        assert result.stderr.startswith("audit: "), case
        assert len(result.stderr.splitlines()) <= 6, case
        assert SECRET not in result.stderr, case
    assert sorted(tmp_path.rglob("*")) == before

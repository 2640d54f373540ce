"""The detector `judge`: hand-made judgements of hand-made records, and the counts worked out by hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit import store as store_module
from audit.cli import app
from audit.output.errors import AuditError, UsageError
from tests.audit.judging.judges import judgement
from tests.audit.samples import candidate, episode, revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

REVISIONS = [
    # returns before, returns after, driver as judged: False for no judgement, None for an unreadable one
    ([1, 5, 9], [2, 2, 2], "worst"),  # regression, worst < median: strict and permissive
    ([1, 5, 9], [2, 2, 2], "shared"),  # regression, not cited
    ([1, 1, 9], [2, 2, 2], "worst"),  # regression, worst = median < best: permissive only
    ([1, 5, 9], [6, 6, 6], "worst"),  # improvement
    ([1, 5, 9], [6, 6, 6], "none"),  # improvement
    ([1, 5, 9], [2, 2, 2], None),  # regression
    ([1, 5, 9], [2, 2, 2], False),  # regression
]


def answer(number):
    return f"The worst rollout fell in case {number}."


def judged(folder):
    """All answers say "worst"; the last iteration's second proposal is no critic's."""
    rows = [
        revision(before, after, after=(1, 2.5, 3), answer=answer(number), iteration=number)
        for number, (before, after, _) in enumerate(REVISIONS)
    ]
    rows.append(episode(candidate([1, 5, 9]), candidate([2, 2, 2]), iteration=len(rows)))
    lines = [
        judgement(answer(number), number, driver=driver, error=None if driver else "no driver in the reply")
        for number, (_, _, driver) in enumerate(REVISIONS)
        if driver is not False
    ]
    (folder / "data.judgements.jsonl").write_text("".join(lines))
    return write_run(folder / "data", rows)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Judged records, which tests read."""
    return judged(tmp_path_factory.mktemp("judged"))


@pytest.fixture
def own(tmp_path):
    """Judged records of a test that changes them or their judgements, once and before it opens them."""
    return judged(tmp_path)


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def salience(data, *options):
    result = audit("salience", data, "--format", "json", "--detector", "judge", *options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)[0], result.stderr


def test_rates_are_of_the_revisions_that_were_judged(data):
    row, told = salience(data)
    assert [row[name] for name in ("condition", "env", "variant", "detector")] == [
        *("hand", "cartpole", "threetraj", "judge")
    ]
    wanted = {
        "revisions": 5,
        "regressions": 3,
        "regressions_pct": 60.0,
        "strict": 1,
        "strict_pct": 100 / 3,
        "permissive": 2,
        "permissive_pct": 200 / 3,
        "worst_below_median": 2,
        "worst_below_best": 3,
        # Of the three regressions two cite, of the two improvements one.
        "citing_regressions_pct": 200 / 3,
        "citing_improvements_pct": 50,
        "risk_ratio": (2 / 3) / (1 / 2),
    }
    assert {name: row[name] for name in wanted} == pytest.approx(wanted)
    assert told == (
        "audit: 2 of 7 revisions that a critic answered have no judgement and are left out, 1 of them because the "
        "judge could not be read\n"
    )
    # Every answer says the word: all five regressions count, four of them with worst < median.
    [by_word] = json.loads(audit("salience", data, "--format", "json").stdout)
    assert (by_word["regressions"], by_word["strict"], by_word["permissive"]) == (5, 4, 5)


def test_what_is_not_judged_is_null_in_the_list_of_revisions(data):
    rows = json.loads(audit("revisions", data, "--format", "json", "--detector", "judge").stdout)
    assert [row["references_worst"] for row in rows] == [True, False, True, True, False, None, None, None]
    assert [row["strict"] for row in rows] == [True, False, False, False, False, None, None, None]


def test_of_judgements_of_one_answer_the_last_counts_and_of_another_answer_none(own):
    path = own.parent / "data.judgements.jsonl"
    more = [
        judgement(answer(1), 1, driver="worst"),  # judged again
        judgement("The answer before it was changed.", 0, driver="none"),
        judgement(answer(6), 6, run=2),  # of no revision that is there
    ]
    path.write_text(path.read_text() + "".join(more))
    row, _ = salience(own)
    assert (row["revisions"], row["strict"], row["permissive"]) == (5, 2, 3)


def test_of_several_judges_one_is_chosen(own):
    path = own.parent / "data.judgements.jsonl"
    path.write_text(path.read_text() + judgement(answer(6), 6, model="other"))
    result = audit("salience", own, "--detector", "judge")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "audit: several models have judged: choose one with --judge: other, tiny:1b\n"
    row, told = salience(own, "--judge", "other")
    assert (row["revisions"], row["strict"]) == (1, 1)
    assert "6 of 7 revisions" in told
    assert salience(own, "--judge", "tiny:1b")[0]["revisions"] == 5


def test_files_named_go_before_those_beside_the_records(data, tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text(judgement(answer(0)))
    two.write_text(judgement(answer(1), 1) + '{"schema":1,"answer_sha256":"0')
    row, told = salience(data, "--judgements", one, "--judgements", two)
    assert (row["revisions"], row["strict"]) == (2, 2)
    assert f"{two}:2: torn" in told
    assert audit("salience", data, "--detector", "judge", "--judgements", two, "--strict").exit_code == 1


@pytest.mark.parametrize("ending", [".tar.xz", ".pack.parquet"])
def test_a_pack_and_an_archive_have_the_judgements_of_their_folder(data, own, ending):
    wanted, _ = salience(data)
    archive = own.parent / f"data{ending}"
    if ending == ".pack.parquet":
        assert audit("pack", own).exit_code == 0
    else:
        tarfile = pytest.importorskip("tarfile")
        with tarfile.open(archive, "w:xz") as tar:
            tar.add(own, arcname="data")
    assert salience(archive)[0] == wanted


def test_show_tells_what_judges_said(own):
    path = own.parent / "data.judgements.jsonl"
    path.write_text(path.read_text() + judgement(answer(1), 1, sentence="An escape \x1b[2J", quoted=False))

    def shown(iteration):
        return audit("show", own, "cartpole", "threetraj", 1, iteration, "--detector", "judge").stdout

    assert 'judged by tiny:1b: driver worst, from "The worst rollout fell in case 0."\n' in shown(0)
    assert 'judged by tiny:1b: driver worst, from "An escape \\x1b[2J" (not in the answer)' in shown(1)
    assert "judged by tiny:1b: no driver in the reply" in shown(5)
    assert "the judge has not judged the answer, so nothing" in shown(6)
    assert "no critic's answer is recorded, so nothing" in shown(7)


def test_python_has_judgements_beside_any_detector(data):
    with store_module.open_store([data], judgements=[data.parent / "data.judgements.jsonl"]) as store:
        rows = {row["iteration"]: row["driver"] for row in store.rows("judgements")}
        assert rows == {number: driver for number, (*_, driver) in enumerate(REVISIONS) if driver is not False}
        assert all(row["detector"] == "word" for row in store.rows("references"))
    with store_module.open_store([data]) as store:
        assert store.rows("judgements") == []
    with store_module.open_store([data], detector="judge") as store:
        assert store.violations("permissive_contains_strict") == []
        assert store.violations("only_regressions_are_salience_problems") == []


def test_what_can_go_wrong(own, tmp_path):
    path = own.parent / "data.judgements.jsonl"
    for arguments, error, told in (
        (
            {"detector": "judge", "judge": "nobody"},
            UsageError,
            "no judgements by nobody; models with judgements: tiny:1b",
        ),
        ({"detector": "judge", "judgements": [tmp_path / "no.jsonl"]}, AuditError, "cannot read"),
        ({"detector": "judge", "judgements": [own / "run.json"]}, AuditError, "holds no judgements"),
    ):
        with pytest.raises(error, match=told):
            store_module.open_store([own], **arguments)
    path.write_text("")
    with pytest.raises(UsageError, match="empty"):
        store_module.open_store([own], detector="judge")
    path.unlink()
    with pytest.raises(
        UsageError, match=r"no judgements: no file .*data\.judgements\.jsonl; make it with `audit judge`"
    ):
        store_module.open_store([own], detector="judge")
    result = audit("salience", own, "--judge", "tiny:1b")
    assert (result.exit_code, result.stderr) == (
        2,
        "audit: --judgements and --judge are for --detector judge, or a rubric\n",
    )


def test_validate_scores_each_judge_beside_the_rules(data, tmp_path):
    """Five answers judged worst, worst, null, median and so on; a coder who agrees with the first two alone."""
    known = [(number, driver) for number, (_, _, driver) in enumerate(REVISIONS) if driver]
    labels = ["condition,env,variant,run,iteration,coder,driver"]
    labels += [f"hand,cartpole,threetraj,1,{number},A,{driver if number < 2 else 'none'}" for number, driver in known]
    (tmp_path / "labels.csv").write_text("\n".join(labels) + "\n")
    beside = ("--judgements", data.parent / "data.judgements.jsonl")
    result = audit("validate", tmp_path / "labels.csv", data, "--format", "json", *beside)
    assert result.exit_code == 0, result.stderr
    rows = [row for row in json.loads(result.stdout) if row["detector"].startswith("judge ") and row["code"] is None]
    [row] = [row for row in rows if row["column"] == "driver"]
    agreed = sum(number < 2 or driver == "none" for number, driver in known)
    assert (row["n"], row["accuracy"]) == (len(known), agreed / len(known))
    assert "judgements" in audit("salience", data, *beside).stderr

"""Logs whose candidates are texts become records of schema 2."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from audit import guess_mapping
from audit.importing import mapping_file
from audit.store import open_store
from tests.audit.importing.foreign import audit, lines, messages, records
from tests.tools.running import DATA

TEXTS = """
[fields]
run = "run"
iteration = "step"
initial.text = "prompt"
initial.returns = "scores"
initial.example_ids = "ids"
revised.text = "new_prompt"
revised.returns = "new_scores"
revised.example_ids = "ids"
revised.answer = "reflection"
[constants]
condition = "lab"
env = "trivia"
variant = "gepa"
evidence.kind = "batch"
evidence.items = "all"
[run]
selection_rule = "strict"
score_range = [0, 1]
"""


def row(step=0, **changes):
    return {
        "run": "a",
        "step": step,
        "prompt": "Answer.",
        "new_prompt": "Answer briefly.",
        "ids": [7, 3, 9],
        "scores": [1, 0, 0.5],
        "new_scores": [1, 1, 0],
        "reflection": "The second example failed.",
        **changes,
    }


def run_of(out):
    return json.loads(next(out.rglob("run.json")).read_text())


def test_texts_with_scores_of_examples_become_records_of_schema_2(importing):
    result, out = importing(
        lines(row(), row(1, new_scores=[1, 0, 0.5]), row(2, new_prompt=None, new_scores=None)), TEXTS
    )
    assert result.exit_code == 0, result.stderr
    first, second, third = records(out)
    assert first["initial"]["text"] == {"text": "Answer."}
    assert first["initial"]["example_ids"] == first["revised"]["example_ids"] == ["7", "3", "9"]
    assert [item["return"] for item in first["evidence"]["shown"]] == [1, 0, 0.5]
    assert [item["label"] for item in first["evidence"]["shown"]] == ["item"] * 3
    assert (first["initial"]["source"], first["initial"]["params"]) == ("parent", None)
    assert (first["selected"], second["selected"], third["selected"]) == ("revised", "initial", "initial")
    assert (third["revised"], third["revision_status"]) == (None, "unreadable")
    run = run_of(out)
    assert (run["schema"], run["candidates"], run["thresholds"], run["rollouts"]) == (2, "text", None, None)
    assert (run["selection_rule"], run["score_range"]) == ("strict", [0, 1])
    with open_store([out], strict=True) as store:
        assert store.problems == []
        assert len(store.rows("revisions")) == 2


FORMS = {
    "an object of texts": ({"prompt": {"system": "A", "user": "B"}}, "", {"system": "A", "user": "B"}),
    "columns of texts": (
        {"system": "A", "user": "B"},
        'initial.text.system = "system"\ninitial.text.user = "user"\n',
        {"system": "A", "user": "B"},
    ),
    "an object that is written as text": (
        {"prompts": '{"system": "A", "user": "B"}'},
        'initial.text = "prompts.system"\n',
        {"text": "A"},
    ),
    "an item of a list": ({"pair": ["A", "B"]}, 'initial.text = "pair.0"\n', {"text": "A"}),
    "a name with dots": ({"predict.self": "A"}, 'initial.text = "predict.self"\n', {"text": "A"}),
    "not stated": ({"prompt": None}, "", None),
}


def test_a_text_may_be_written_in_several_ways(importing):
    for case, (changes, line, wanted) in FORMS.items():
        mapping = TEXTS.replace('initial.text = "prompt"\n', line) if line else TEXTS
        result, out = importing(lines(row(**changes), *[row(1)] * (not line)), mapping, "--force", "--strict")
        assert result.exit_code == 0, result.stderr
        assert records(out)[0]["initial"]["text"] == wanted, case


def test_scores_by_example_are_paired_whatever_their_order(importing):
    mapping = TEXTS.replace('initial.example_ids = "ids"\n', "").replace('revised.example_ids = "ids"\n', "")
    scores = {"scores": {"b": 1, "a": 0}, "new_scores": {"a": 0.5, "b": 0.25}}
    result, out = importing(lines(row(**scores)), mapping, "--strict")
    assert result.exit_code == 0, result.stderr
    [record] = records(out)
    assert record["initial"]["example_ids"] == record["revised"]["example_ids"] == ["b", "a"]
    assert (record["initial"]["returns"], record["revised"]["returns"]) == ([1, 0], [0.25, 0.5])


def test_every_item_of_a_list_of_objects(importing):
    mapping = TEXTS.replace('"scores"', '"examples.*.score"').replace(
        'initial.example_ids = "ids"', 'initial.example_ids = "examples.*.id"'
    )
    mapping = mapping.replace('evidence.items = "all"', "").replace(
        "[constants]", 'evidence.items = "examples.*.id"\nevidence.texts = "examples.*.feedback"\n[constants]'
    )
    examples = [
        {"id": name, "score": score, "feedback": f"on {name}"} for name, score in (("7", 1), ("3", 0), ("9", 0))
    ]
    result, out = importing(lines(row(examples=examples)), mapping, "--strict")
    assert result.exit_code == 0, result.stderr
    [record] = records(out)
    assert [(item["rollout"], item["text"]) for item in record["evidence"]["shown"]] == [
        (0, "on 7"),
        (1, "on 3"),
        (2, "on 9"),
    ]


def test_a_pair_has_scores_and_texts_of_its_own(importing):
    mapping = TEXTS.replace('"batch"', '"pair"').replace('evidence.items = "all"\n', "")
    mapping = mapping.replace(
        "[constants]",
        'evidence.worst_return = "low"\nevidence.best_return = "high"\nevidence.best_text = "b"\n[constants]',
    )
    result, out = importing(lines(row(low=0.1, high=0.9, b="x" * 70_000)), mapping, "--strict")
    assert result.exit_code == 0, result.stderr
    worst, best = records(out)[0]["evidence"]["shown"]
    assert (worst["label"], worst["return"], best["label"], best["return"]) == ("worst", 0.1, "best", 0.9)
    assert best["text"].endswith("x [cut]")


def test_true_and_false_are_scores_where_the_mapping_states_their_worth(importing):
    values = "\n[values]\ninitial.returns = {true = 1, false = 0}\nrevised.returns = {true = 1, false = 0}\n"
    _, out = importing(lines(row(scores=[True, False, True])), TEXTS + values, "--strict")
    assert records(out)[0]["initial"]["returns"] == [1, 0, 1]


BAD_ROWS = {
    "NaN": ({"scores": [1, float("nan"), 0]}, "initial.returns should be a list of finite numbers, but item 1 is nan"),
    "text": (
        {"new_scores": ["good", 1, 0]},
        "revised.returns should be a list of finite numbers, but item 0 is 'good'",
    ),
    "another length than the ids": (
        {"scores": [1, 0]},
        "initial.example_ids has 3 entries where initial.returns has 2",
    ),
    "beyond the range": ({"scores": [1, -0.5, 0]}, "from 0.0 to 1.0, [run] score_range, but item 1 is -0.5"),
    "a number for a text": ({"prompt": 3}, "initial.text should be text, or an object of texts by name, but is 3"),
    "an id of half a number": ({"ids": [1.5, 2, 3]}, "initial.example_ids should be a list of example ids"),
    "a text without scores": ({"new_scores": None}, "revised.returns is missing"),
}


def test_what_is_wrong_with_scores_is_named_and_counted(importing):
    result, out = importing(lines(row(), *(row(1, **changes) for changes, _ in BAD_ROWS.values())), TEXTS)
    assert (result.exit_code, len(records(out))) == (0, 1), result.stderr
    assert f"{len(BAD_ROWS)} rows of {len(BAD_ROWS) + 1} left out" in result.stderr
    for problem, (_, message) in zip(messages(out), BAD_ROWS.values(), strict=True):
        assert message in problem["message"]


def test_items_that_are_not_among_the_examples_are_named(importing):
    mapping = TEXTS.replace('evidence.items = "all"\n', "").replace(
        "[constants]", 'evidence.items = "seen"\n[constants]'
    )
    _, out = importing(lines(row(seen=[9, 3]), row(1, seen=[9, 4])), mapping)
    assert [item["rollout"] for item in records(out)[0]["evidence"]["shown"]] == [2, 1]
    assert messages(out)[0]["message"] == "evidence.items: '4' is not one of initial.example_ids"


def test_iterations_that_are_named_by_text_are_numbered(importing):
    by_value, by_row = "0 in each run, in the order of 'step'", "no numbers or ISO times; rows are taken in their order"
    for names, order, said in (
        (["2026-01-01T10:00:00", "2026-01-01T09:00:00", "2026-01-02T00:00:00"], [1, 0, 2], by_value),
        (["2026-01-31T10:00:01.2Z", "2026-01-31T10:00:01.10Z", "2026-01-31T10:00:01Z"], [2, 1, 0], by_value),
        (["2026-01-31 10:00:00.000000002", "2026-01-31 10:00:00.000000001"], [1, 0], by_value),
        (["2026-10-25T02:10:00+01:00", "2026-10-25T02:50:00+02:00", "2026-10-25T01:20:00Z"], [1, 0, 2], by_value),
        (["step-2", "step-10", "step-1"], [1, 2, 0], by_value),
        (["f3a", "07c", "c11"], [0, 1, 2], by_row),
        (["31/01/2026 10:00", "01/02/2026 10:00"], [0, 1], by_row),
        (["01/31/2026 11:59 AM", "01/31/2026 12:01 PM", "01/31/2026 01:00 PM"], [0, 1, 2], by_row),
        (["12 AM", "1 AM"], [0, 1], by_row),
        (["2026-01-31T12:00:00", "2026-01-31T10:00:00Z"], [0, 1], "are ISO times both with and without a zone; rows"),
    ):
        result, out = importing(lines(*[row(name) for name in names]), TEXTS, "--strict", "--force")
        assert result.exit_code == 0, result.stderr
        assert [each["iteration"] for each in records(out)] == order
        assert said in result.stderr


def test_times_that_are_numbers_are_numbered_in_order_where_the_mapping_asks_for_it(importing):
    mapping = TEXTS + '[count_from]\niteration = "order"\n'
    _, out = importing(lines(row(1716200300.5), row(1716200000), row(1716200900)), mapping, "--strict")
    assert [each["iteration"] for each in records(out)] == [1, 0, 2]


def test_a_parameter_vector_and_a_text_exclude_each_other_and_all_is_named_at_once(importing):
    mapping = TEXTS.replace("[constants]", 'initial.params = "theta"\nseconds = "tmie"\n[constants]')
    mapping = mapping.replace('"strict"', '"sometimes"').replace("[0, 1]", "[1, 0]")
    result, _ = importing(lines(row()), mapping)
    first, *mistakes = result.stderr.splitlines()
    assert (result.exit_code, first.endswith("4 mistakes")) == (2, True), result.stderr
    for part in (
        "initial.params is a parameter vector, where the candidates are texts",
        "[run] selection_rule should be one of 'better', 'strict', 'always', 'pool'",
        "[run] score_range should be the lowest and the highest score",
        "no column 'theta'; no column 'tmie'",
    ):
        assert part in "\n".join(mistakes), part


def test_tables_may_have_texts_too(importing):
    content = (
        "run,step,prompt,new_prompt,ids,scores,new_scores,reflection\n"
        'a,0,"{""system"": ""A""}",B,"[\'x\', \'07\']","[True, False]","[1, 0.5]",why\n'
    )
    values = "\n[values]\ninitial.returns = {true = 1, false = 0}\n"
    result, out = importing(content.encode(), TEXTS + values, "--strict", name="log.csv")
    assert result.exit_code == 0, result.stderr
    [record] = records(out)
    assert (record["initial"]["text"], record["initial"]["example_ids"]) == ({"system": "A"}, ["x", "07"])
    assert (record["initial"]["returns"], record["revised"]["returns"]) == ([1, 0], [1, 0.5])


def test_a_mapping_that_comes_with_the_package_is_found_by_its_name(importing, monkeypatch, tmp_path):
    folder = tmp_path / "shipped"
    folder.mkdir()
    (folder / "ours.toml").write_text(TEXTS)
    monkeypatch.setattr(mapping_file, "SHIPPED", folder)
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(row()))
    result = audit("import", "--map", "ours", log, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    result = audit("import", "--map", "theirs", log, "--out", tmp_path / "other")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "theirs: No such file or directory; mappings that need no file: ours" in result.stderr


def test_the_example_of_the_documentation_is_a_text_run_of_which_the_guess_says_the_same(tmp_path):
    examples = Path(__file__).resolve().parents[3] / "docs/examples/import"
    out = tmp_path / "out"
    made = audit("import", "--map", examples / "prompts.toml", examples / "prompts.jsonl", "--out", out, "--strict")
    assert made.exit_code == 0, made.stderr
    assert "```{literalinclude} examples/import/prompts.toml\n" in (examples.parents[1] / "import.md").read_text()
    mapping, _ = mapping_file.read_mapping(examples / "prompts.toml")
    guessed = guess_mapping(examples / "prompts.jsonl").mapping
    assert (guessed.columns, guessed.values) == (mapping.columns, mapping.values)
    # Without ties both rules fit, and no score shows the range.
    assert (mapping.selection_rule, guessed.selection_rule, guessed.score_range) == ("strict", None, None)


def test_the_table_that_gepa_gives_to_a_tracker_is_read(tmp_path):
    """Rows that GEPA itself made, against the file read by Python alone."""
    log = DATA / "gepa-proposals.csv"
    with log.open(newline="") as file:
        rows = list(csv.DictReader(file))
    result = audit("import", "--map", "gepa-proposals", log, "--out", tmp_path / "out", "--strict")
    assert result.exit_code == 0, result.stderr
    found = records(tmp_path / "out")
    assert len(found) == len(rows) > 5
    for record, row in zip(found, rows, strict=True):
        assert record["selected"] == {"accepted": "revised", "rejected": "initial"}[row["status"]]
        assert record["initial"]["mean_return"] == float(row["subsample_score_before"])
        assert record["revised"]["mean_return"] == float(row["subsample_score_after"])
        assert record["revised"]["text"] == {"text": row["proposed_text"]}
        assert record["revised"]["answer"] == row["raw_lm_output"]
    assert {row["status"] for row in rows} == {"accepted", "rejected"}

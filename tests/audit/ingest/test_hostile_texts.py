"""Texts, ids, names and scores that a reader may stumble over: all come back as they are, or are named and left out."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.store import open_store
from tests.audit.samples import write_run
from tests.audit.texts import text_candidate, text_revision, text_run

NASTY = "\0\u202e\u0335Z\u0338\u0322\x1b[31mred\x07</script>|a|\r\n```"
TEXTS = {
    "controls": {NASTY: NASTY, "b": ""},
    "NUL characters": {"a\0": "1", "a\0b": "2", "a": "3", "\0": "4", "": "5"},
    "markup of paths and SQL": {
        "a'b": "1",
        'a"b': "2",
        "a.b": "3",
        "$.*": "4",
        "[0]": "5",
        "'); drop table runs; --": "6",
    },
    "no components": {},
    "ten thousand components": {f"c{number}": f"text {number}" for number in range(10_000)},
    "long texts": {"first": "word " * 10**6, "second": "x" * 10**7},
}
COMMANDS = ("summary", "salience", "revisions", "check")


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_texts_come_back_as_they_are(tmp_path):
    ids = [NASTY, "\0", NASTY]  # one example twice
    for case, text in TEXTS.items():
        initial = text_candidate([0, 1, 1], source="parent", ids=ids) | {"text": text}
        record = text_revision([0, 1, 1], [1, 0, 0], initial=initial, answer=NASTY, condition=case)
        write_run(tmp_path / case, [record], **text_run(condition=case))
    with open_store([tmp_path]) as store:
        assert not store.problems
        rows = {row["condition"]: row for row in store.rows("candidates") if row["role"] == "initial"}
        assert rows.keys() == TEXTS.keys()
        for case, row in rows.items():
            assert list(row["text"].items()) == list(TEXTS[case].items()), case
            assert row["example_ids"] == ids
        assert len(store.rows("revisions")) == len(TEXTS)


@pytest.mark.usefixtures("opened_once")
def test_commands_print_no_control_characters(tmp_path):
    initial = text_candidate([0, 1, 1], source="parent", ids=["\x1b", NASTY, ""]) | {"text": {NASTY: NASTY}}
    record = text_revision([0, 1, 1], [1, 0, 0], initial=initial, answer=NASTY)
    record["evidence"]["shown"][0] |= {"name": NASTY, "text": NASTY}
    write_run(tmp_path, [record], **text_run())
    for arguments in (*((command, tmp_path) for command in COMMANDS), ("show", tmp_path, "sums", "gepa", 1, 0)):
        result = audit(*arguments)
        assert result.exit_code == 0, result.stderr
        assert not {each for each in result.output if each < " "} - set("\t\r\n"), arguments


SCORES = {
    "ties": ([1, 1, 1], [1, 1, 1], "no_change"),
    "negative": ([-3, -1, -2], [-5, -1, -1], "regression"),
    "one example": ([1], [0], "regression"),
    "other examples": ([0, 1, 1], [1], "improvement"),
}


@pytest.mark.usefixtures("opened_once")
def test_unusual_scores_are_taken_as_they_are(tmp_path):
    for case, (before, after, _) in SCORES.items():
        record = text_revision(before, after, condition=case)
        write_run(tmp_path / case, [record], **text_run(score_range=None, condition=case))
    with open_store([tmp_path]) as store:
        assert not store.problems
        found = {row["condition"]: (row["direction"], row["paired"]) for row in store.rows("changes")}
    assert found == {
        case: (direction, len(before) == len(after)) for case, (before, after, direction) in SCORES.items()
    }
    for command in COMMANDS:
        assert audit(command, tmp_path).exit_code == 0


def test_a_line_that_is_too_long_is_named(tmp_path):
    long = text_revision([0, 1], [1, 1], iteration=1, answer="x" * (16 * 2**20))
    write_run(tmp_path, [text_revision([0, 1], [1, 1]), long], **text_run())
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        assert (problem.line, "longer than 16 MiB" in problem.message) == (2, True)
        assert len(store.rows("changes")) == 1


@pytest.mark.parametrize("ends", [[1, 0], [0.5, 0.5]])
def test_a_range_of_scores_is_in_order(tmp_path, ends):
    write_run(tmp_path / "bad", [text_revision([0, 1], [1, 1])], **text_run(score_range=ends))
    write_run(tmp_path / "good", [text_revision([0, 1], [1, 1], run=2)], **text_run(run=2))
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        assert "the lowest score is not below the highest" in problem.message
        assert [row["run"] for row in store.rows("runs")] == [2]

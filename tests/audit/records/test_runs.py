"""Whatever is wrong with a run, an archive or a place is named, counted, and left out or refused."""

from __future__ import annotations

import json
import os
import tarfile
from pathlib import Path

import pytest

from audit.output.errors import AuditError, UsageError
from audit.store import open_store
from tests.audit.samples import THRESHOLDS, revision, run_json, write_run
from tests.audit.texts import text_candidate, text_revision, text_run

GOOD = [revision([1, 5, 9], [2, 2, 2], iteration=number) for number in (0, 1)]
RUN = json.dumps(run_json())
RUNS = {
    "no run.json": (None, "no run.json beside it"),
    "torn": (RUN[:20], "left out"),
    "no text": (RUN.replace('"hand"', '"\udcff\udcfe"'), "not JSON"),
    "newer schema": (json.dumps(run_json(schema=3)), "schema 3 is newer"),
    "lacks a field": (json.dumps({"schema": 1, "condition": "hand"}), "env is missing"),
    "a key twice": (RUN.replace('"seed": 7', '"seed": 7, "seed": 8'), "the key 'seed' is given twice"),
    "nested deeply": (f'{{"deep": {"[" * 100_000 + "]" * 100_000}, {RUN[1:]}', "nested more than 200 levels deep"),
    "unknown task": (json.dumps(run_json(env="chess")), "task 'chess' is not known"),
    "unknown method": (json.dumps(run_json(variant="guess")), "method 'guess' is not known"),
    "a NUL in a name": (json.dumps(run_json(condition="hand\0")), "a NUL character in condition"),
    "an empty range": (json.dumps(text_run(score_range=[0.5, 0.5])), "the lowest score is not below the highest"),
    **{
        f"a large number {place}": (json.dumps(run_json(**changes)), "a number in it is too large")
        for place, changes in enumerate(
            (
                *({name: 10**30} for name in ("run", "iterations", "rollouts")),
                {"seed": 10**60},
                {"thresholds": {**THRESHOLDS, "surgical_max": 10**30}},
            )
        )
    },
}


def test_runs_that_cannot_be_understood_are_named_and_left_out(tmp_path):
    write_run(tmp_path / "good", [{**GOOD[0], "run": 2}])
    for case, (content, _) in RUNS.items():
        path = write_run(tmp_path / case, GOOD) / "run.json"
        path.unlink() if content is None else path.write_text(content, "utf-8", "surrogateescape")
    bad = [write_run(tmp_path / f"bad {name[:3]}", GOOD) / name for name in ("run.json", "episodes.jsonl")]
    for path in bad:
        path.unlink()
        path.mkdir()
    write_run(tmp_path / "same", [{**GOOD[1], "run": 2}], model="another")
    reasons = {**{case: reason for case, (_, reason) in RUNS.items()}, "same": "describes differently"}
    reasons |= {path.parent.name: "cannot be read" for path in bad}
    with open_store([tmp_path]) as store:
        found = {Path(each.file).relative_to(tmp_path).parts[0]: each.message for each in store.problems}
        assert len(store.problems) == len(reasons)
        assert [(row["run"], row["iteration"]) for row in store.rows("revisions")] == [(2, 0)]
    assert {case: found.get(case) for case, reason in reasons.items() if reason not in found.get(case, "")} == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", ""])
def test_what_one_may_not_read_is_named(tmp_path, name):
    write_run(tmp_path / "good", [{**GOOD[0], "run": 2}])
    bad = write_run(tmp_path / "bad", GOOD)
    (bad / name).chmod(0)
    try:
        with open_store([tmp_path]) as store:
            assert len(store.problems) == 1
            assert len(store.rows("revisions")) == 1
    finally:
        (bad / name).chmod(0o755)


def test_records_may_lie_in_an_archive_and_are_named_within_it(tmp_path):
    """Of an archive that is torn, what comes before is read."""
    for run in range(1, 40):
        write_run(tmp_path / "data" / f"{run:02}", [{**GOOD[0], "run": run}], tail=b"garbage\n")
    with tarfile.open(tmp_path / "data.tar", "w") as archive:
        archive.add(tmp_path / "data", "data")
    whole = (tmp_path / "data.tar").read_bytes()
    (tmp_path / "torn.tar").write_bytes(whole[: len(whole) // 2 + 700])
    with open_store([tmp_path / "data.tar"]) as store:
        assert (len(store.rows("revisions")), len(store.problems)) == (39, 39)
        assert (store.problems[0].file, store.problems[0].line) == (f"{tmp_path}/data.tar!data/01/episodes.jsonl", 2)
    with open_store([tmp_path / "torn.tar"]) as store:
        assert any("cannot be read to its end" in problem.message for problem in store.problems)
        assert 10 < len(store.rows("revisions")) < 30


NOTHING = {
    "empty folder": (lambda path: path.mkdir(), r"no records found; looked for run\.json"),
    "missing": (lambda path: None, "no such folder or archive"),
    "a file": (lambda path: path.write_text("hello"), "neither a folder nor an archive"),
    "only a run.json": (lambda path: write_run(path, []), "no finished iteration"),
    "only bad lines": (lambda path: write_run(path, [], tail=b"garbage\n"), "no finished iteration"),
}


def test_nothing_to_read_is_an_error_beside_good_records_too(tmp_path):
    good = write_run(tmp_path / "good", GOOD)
    for case, (make, reason) in NOTHING.items():
        given = tmp_path / case
        make(given)
        for paths in ([given], [good, given])[: 1 if "only" in case else 2]:
            with pytest.raises(AuditError, match=reason):
                open_store(paths)


@pytest.mark.parametrize(
    "options",
    [
        {"detector": "sentiment"},
        {"overrides": {"chess": {"high": 1.0}}},
        {"overrides": {"pong": {"higher": 1.0}}},
        {"overrides": {"pong": {"surgical_max": 2.5}}},
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options):
    write_run(tmp_path, GOOD, thresholds=THRESHOLDS)
    with pytest.raises(UsageError):
        open_store([tmp_path], **options)


def test_temporary_files_are_gone_when_the_store_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    write_run(tmp_path / "data", GOOD, tail=b"garbage\n")
    with open_store([tmp_path / "data"]) as store:
        assert store.rows("summary")
        assert list((tmp_path / "scratch").iterdir())
    assert list((tmp_path / "scratch").iterdir()) == []
    with pytest.raises(AuditError):
        open_store([tmp_path / "data"], strict=True)
    assert list((tmp_path / "scratch").iterdir()) == []


NASTY = "\0\u202e\u0335Z\u0338\u0322\x1b[31mred\x07</script>|a|\r\n```"
TEXTS = {
    "controls": {NASTY: NASTY, "b": ""},
    "NUL characters": {"a\0": "1", "a\0b": "2", "a": "3", "\0": "4", "": "5"},
    "markup of paths and SQL": dict.fromkeys(("a'b", 'a"b', "a.b", "$.*", "[0]", "'); drop table runs; --"), "x"),
    "no components": {},
    "ten thousand components": {f"c{number}": f"text {number}" for number in range(10_000)},
    "long texts": {"first": "word " * 10**6, "second": "x" * 10**7},
}


def test_texts_come_back_as_they_are(tmp_path):
    ids = [NASTY, "\0", NASTY]  # one example twice
    for case, text in TEXTS.items():
        initial = text_candidate([0, 1, 1], source="parent", ids=ids) | {"text": text}
        record = text_revision([0, 1, 1], [1, 0, 0], initial=initial, answer=NASTY, condition=case)
        write_run(tmp_path / case, [record], **text_run(condition=case))
    with open_store([tmp_path]) as store:
        assert not store.problems
        rows = {row["condition"]: row for row in store.rows("candidates") if row["role"] == "initial"}
        assert len(store.rows("revisions")) == len(TEXTS)
    assert {case: list(row["text"].items()) for case, row in rows.items()} == {
        case: list(text.items()) for case, text in TEXTS.items()
    }
    assert all(row["example_ids"] == ids for row in rows.values())

"""Whatever is wrong with records is named with file and line, counted, and left out or refused."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from audit.output import errors
from audit.output.errors import AuditError, UsageError
from audit.store import open_store
from tests.audit.samples import THRESHOLDS, candidate, episode, revision, run_json, write_run

GOOD = [revision([1, 5, 9], [2, 2, 2], iteration=number) for number in (0, 1)]


def changed(path, value):
    """A sound record with one thing changed; `...` takes the field out."""
    record = json.loads(json.dumps(revision([1, 5, 9], [2, 2, 2], iteration=7)))
    *parents, field = path.split(".")
    holder = record
    for parent in parents:
        holder = holder[parent]
    if value is ...:
        del holder[field]
    else:
        holder[field] = value
    return record


def line_of(record):
    return json.dumps(record).encode() + b"\n"


NAN = line_of(changed("initial.returns", "HERE")).replace(b'"HERE"', b"[1.0, NaN, 9.0]")
BAD_LINES = {
    "garbage": (b"\x00\x01 not json\n", "not JSON"),
    "not utf-8": (line_of(changed("initial.answer", "HERE")).replace(b"HERE", b"\xff\xfe"), "not JSON"),
    "half a surrogate pair": (line_of(changed("initial.answer", "\ud83d")), "surrogate"),
    "a list": (b"[1, 2]\n", "not a record"),
    "another object": (b'{"role": "critic"}\n', "condition is missing"),
    "two records on a line": (line_of(GOOD[0]).strip() * 2 + b"\n", "not JSON"),
    "no iteration": (line_of(changed("iteration", ...)), "iteration is missing"),
    "iteration is text": (line_of(changed("iteration", "third")), "iteration: Expected `int`, got `str`"),
    "no initial": (line_of(changed("initial", None)), "initial: Expected `object`, got `null`"),
    "no selected": (line_of(changed("selected", ...)), "selected is missing"),
    "no seconds": (line_of(changed("seconds", ...)), "seconds is missing"),
    "no params": (line_of(changed("initial.params", ...)), "initial.params is missing"),
    "no returns": (line_of(changed("revised.returns", ...)), "revised.returns is missing"),
    "no lengths": (line_of(changed("revised.lengths", ...)), "revised.lengths is missing"),
    "no mean": (line_of(changed("revised.mean_return", None)), "revised.mean_return: Expected `float`, got `null`"),
    "no answer": (line_of(changed("revised.answer", ...)), "revised.answer is missing"),
    "no endings": (line_of(changed("initial.ended", ...)), "initial.ended is missing"),
    "unknown source": (line_of(changed("revised.source", "oracle")), "revised.source: Invalid enum value 'oracle'"),
    "empty params": (line_of(changed("initial.params", [])), "initial.params is empty"),
    "text among returns": (
        line_of(changed("initial.returns", [1.0, "five", 9.0])),
        "initial.returns[1]: Expected `float`, got `str`",
    ),
    "null among params": (
        line_of(changed("initial.params", [1.0, None, 3.0])),
        "initial.params[1]: Expected `float`, got `null`",
    ),
    "NaN among returns": (NAN, "not JSON"),
    "short lengths": (line_of(changed("initial.lengths", [10, 10])), "3 returns and 2 lengths"),
    "short seeds": (line_of(changed("revised.seeds", [1])), "3 returns and 1 seeds"),
    "short endings": (line_of(changed("revised.ended", ["terminated"])), "3 returns and 1 ended"),
    "too few rollouts": (line_of({**episode(candidate([1, 2])), "iteration": 7}), "where the run has 3 rollouts"),
    "mean does not agree": (line_of(changed("revised.mean_return", 2.001)), "where its returns have mean"),
    "params differ in number": (line_of(changed("revised.params", [1.0, 2.0])), "initial has 3 params and revised 2"),
    "revised selected, not there": (
        line_of({**changed("revised", None), "revision_status": "unreadable", "selected": "revised"}),
        "no revised candidate",
    ),
    "unknown selected": (line_of(changed("selected", "both")), "selected: Invalid enum value 'both'"),
    "unknown status": (line_of(changed("revision_status", "fine")), "revision_status: Invalid enum value 'fine'"),
    "status does not fit": (line_of(changed("revision_status", "none")), "does not fit the revised candidate"),
    "another run's": (line_of(changed("run", 2)), "belongs to another run"),
    "another condition's": (line_of(changed("condition", "else")), "belongs to another run"),
    "negative iteration": (line_of(changed("iteration", -1)), "iteration: Expected `int` >= 0"),
    "repeated": (line_of(GOOD[0]), "is in an earlier line too"),
}


@pytest.fixture(scope="module")
def every_bad_line(tmp_path_factory):
    """Each bad line between sound ones, in a run of its own: problems by file, and iterations read by condition."""
    root = tmp_path_factory.mktemp("bad")
    for case, (line, _) in BAD_LINES.items():
        own = json.dumps(case).encode()
        tail = (line + line_of({**GOOD[0], "iteration": 9})).replace(b'"condition": "hand"', b'"condition": ' + own)
        write_run(root / case, [{**record, "condition": case} for record in GOOD], tail=tail)
    problems, iterations = {}, {}
    with open_store([root]) as store:
        for problem in store.problems:
            problems.setdefault(problem.file, []).append(problem)
        for row in store.rows("revisions"):
            iterations.setdefault(row["condition"], []).append(row["iteration"])
    return root, problems, iterations


def test_a_bad_line_is_named_and_the_others_are_read(every_bad_line):
    root, problems, iterations = every_bad_line
    found = {
        case: [(each.line, each.message) for each in problems[str(root / case / "episodes.jsonl")]]
        for case in BAD_LINES
    }
    wrong = {case: found[case] for case, (_, reason) in BAD_LINES.items() if reason not in found[case][0][1]}
    assert wrong == {}
    assert [case for case, named in found.items() if [line for line, _ in named] != [3]] == []
    assert [case for case in BAD_LINES if sorted(iterations[case]) != [0, 1, 9]] == []


def test_strict_refuses_bad_lines_and_names_them(every_bad_line, monkeypatch):
    root, _, _ = every_bad_line
    monkeypatch.setattr(errors, "NAMED", len(BAD_LINES))
    with pytest.raises(AuditError) as refused:
        open_store([root], strict=True)
    first, *named = str(refused.value).splitlines()
    assert f"{len(BAD_LINES)} problems" in first
    unnamed = {
        case: reason
        for case, (_, reason) in BAD_LINES.items()
        if not any(line.startswith(f"{root / case / 'episodes.jsonl'}:3: ") and reason in line for line in named)
    }
    assert unnamed == {}
    assert len(named) == len(BAD_LINES)


def test_a_torn_last_line_is_called_torn(tmp_path):
    write_run(tmp_path, GOOD, tail=line_of(GOOD[0])[:200])
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        assert problem.line == 3
        assert "torn" in problem.message
        assert len(store.rows("revisions")) == 2


def test_a_run_in_progress_can_be_audited(tmp_path):
    """A run that has just begun, one between two iterations, and one that writes a line this moment."""
    write_run(tmp_path / "begun", [], run=1)
    write_run(tmp_path / "going", [revision([1, 5, 9], [2, 2, 2], run=2)])
    write_run(tmp_path / "writing", [revision([1, 5, 9], [2, 2, 2], run=3)], tail=b'{"condition": "hand", "env"')
    with open_store([tmp_path]) as store:
        facts = {row["run"]: row["iterations_finished"] for row in store.rows("run_facts")}
        assert [row["run"] for row in store.rows("runs")] == [2, 3]
        assert len(store.problems) == 1
    assert facts == {1: 0, 2: 1, 3: 1}


def test_a_sound_line_after_a_bad_one_of_the_same_iteration_is_read(tmp_path):
    bad = {**GOOD[0], "selected": "both"}
    write_run(tmp_path, [bad, GOOD[1], GOOD[0], GOOD[1]])
    with open_store([tmp_path]) as store:
        assert [problem.line for problem in store.problems] == [1, 4]
        assert sorted(row["iteration"] for row in store.rows("revisions")) == [0, 1]


def test_blank_lines_do_not_shift_line_numbers(tmp_path):
    folder = write_run(tmp_path, GOOD[:1], tail=b"\n  \ngarbage\n" + line_of(GOOD[1]))
    with open_store([tmp_path]) as store:
        assert [(problem.file, problem.line) for problem in store.problems] == [(str(folder / "episodes.jsonl"), 4)]
        assert len(store.rows("revisions")) == 2


def test_unknown_fields_are_ignored(tmp_path):
    record = {**GOOD[0], "mood": {"of": "the day"}, "initial": {**GOOD[0]["initial"], "colour": "red"}}
    write_run(tmp_path, [record], weather="fine")
    with open_store([tmp_path]) as store:
        assert store.problems == []
        assert len(store.rows("revisions")) == 1


def test_many_problems_in_many_files_are_all_counted(tmp_path):
    for run in range(1, 6):
        write_run(tmp_path / str(run), [{**GOOD[0], "run": run}], tail=b"garbage\n" * 7)
    with open_store([tmp_path]) as store:
        assert len(store.problems) == 35
        assert {problem.line for problem in store.problems} == set(range(2, 9))
    with pytest.raises(AuditError, match=r"(?s)35 problems.*\.\.\. and 25 more"):
        open_store([tmp_path], strict=True)


def test_a_copied_run_folder_counts_once(tmp_path):
    """Every line of the copy is named; what the copy has on top is read."""
    write_run(tmp_path / "a", GOOD)
    write_run(tmp_path / "b", [*GOOD, {**GOOD[0], "iteration": 2}])
    with open_store([tmp_path]) as store:
        assert [(problem.line, "/b/" in problem.file) for problem in store.problems] == [(1, True), (2, True)]
        assert sorted(row["iteration"] for row in store.rows("revisions")) == [0, 1, 2]


RUNS = {
    "no run.json": (None, "no run.json beside it"),
    "torn": (b'{"schema": 1, "cond', "left out"),
    "newer schema": (json.dumps(run_json(schema=3)).encode(), "schema 3 is newer"),
    "lacks a field": (json.dumps({"schema": 1, "condition": "hand"}).encode(), "env is missing"),
    "unknown task": (json.dumps(run_json(env="chess")).encode(), "task 'chess' is not known"),
    "a NUL in a name": (json.dumps(run_json(condition="hand\0")).encode(), "a NUL character in condition"),
    "unknown method": (json.dumps(run_json(variant="guess")).encode(), "method 'guess' is not known"),
}


def test_runs_that_cannot_be_understood_are_named_and_left_out(tmp_path):
    write_run(tmp_path / "good", [{**GOOD[0], "run": 2}])
    for case, (content, _) in RUNS.items():
        bad = write_run(tmp_path / case, GOOD)
        (bad / "run.json").unlink()
        if content is not None:
            (bad / "run.json").write_bytes(content)
    with open_store([tmp_path]) as store:
        problems = store.problems
        assert [row["run"] for row in store.rows("revisions")] == [2]
    found = {Path(problem.file).relative_to(tmp_path).parts[0]: problem.message for problem in problems}
    assert {case: found.get(case) for case, (_, reason) in RUNS.items() if reason not in found.get(case, "")} == {}
    assert len(problems) == len(RUNS)


def test_two_descriptions_of_one_run_are_refused(tmp_path):
    write_run(tmp_path / "a", GOOD[:1])
    write_run(tmp_path / "b", GOOD[1:], model="another")
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        assert "describes differently" in problem.message
        assert [row["iteration"] for row in store.rows("revisions")] == [0]


def test_what_cannot_be_opened_is_named(tmp_path):
    write_run(tmp_path / "good", [{**GOOD[0], "run": 2}])
    bad = [write_run(tmp_path / f"bad {name[:3]}", GOOD) / name for name in ("run.json", "episodes.jsonl")]
    for path in bad:
        path.unlink()
        path.mkdir()
    with open_store([tmp_path]) as store:
        found = {(problem.file, problem.line): problem.message for problem in store.problems}
        assert set(found) == {(str(path), None) for path in bad}
        assert all("cannot be read" in message for message in found.values())
        assert len(store.rows("revisions")) == 1


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


def test_a_line_longer_than_the_reader_takes_is_named(tmp_path):
    write_run(tmp_path / "good", [{**GOOD[0], "run": 2}])
    long = changed("revised.answer", "x" * 40_000_000)
    bad = write_run(tmp_path / "bad", GOOD, tail=line_of(long))
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        assert (problem.file, problem.line) == (str(bad / "episodes.jsonl"), 3)
        assert "16 MiB" in problem.message
        assert sorted(row["run"] for row in store.rows("revisions")) == [1, 1, 2]


def test_records_may_lie_in_an_archive_and_are_named_within_it(tmp_path):
    write_run(tmp_path / "data" / "run-01", GOOD, tail=b"garbage\n")
    with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "data", "data")
    with open_store([tmp_path / "data.tar.gz"]) as store:
        [problem] = store.problems
        assert len(store.rows("revisions")) == 2
    assert problem.file == f"{tmp_path / 'data.tar.gz'}!data/run-01/episodes.jsonl"
    assert problem.line == 3


def test_a_torn_archive_is_named_and_what_comes_before_is_read(tmp_path):
    for run in range(1, 40):
        write_run(tmp_path / "data" / f"{run:02}", [{**GOOD[0], "run": run}])
    with tarfile.open(tmp_path / "data.tar", "w") as archive:
        archive.add(tmp_path / "data", "data")
    whole = (tmp_path / "data.tar").read_bytes()
    (tmp_path / "torn.tar").write_bytes(whole[: len(whole) // 2 + 700])
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


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_to_read_is_an_error(tmp_path, case):
    make, reason = NOTHING[case]
    make(tmp_path / "given")
    with pytest.raises(AuditError, match=reason):
        open_store([tmp_path / "given"])


def test_one_given_folder_without_records_is_an_error_beside_a_good_one(tmp_path):
    write_run(tmp_path / "good", GOOD)
    (tmp_path / "empty").mkdir()
    with pytest.raises(AuditError, match="empty: no records found"):
        open_store([tmp_path / "good", tmp_path / "empty"])


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
    write_run(tmp_path / "data", GOOD, tail=line_of(GOOD[0]))
    with open_store([tmp_path / "data"]) as store:
        assert store.rows("summary")
        assert list((tmp_path / "scratch").iterdir())
    assert list((tmp_path / "scratch").iterdir()) == []
    with pytest.raises(AuditError):
        open_store([tmp_path / "data"], strict=True)
    assert list((tmp_path / "scratch").iterdir()) == []
    shutil.rmtree(tmp_path / "data")

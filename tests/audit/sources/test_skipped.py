"""Iterations that proposed nothing: read from `skipped.jsonl`, kept by packs, reported, and in no average."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.output.errors import AuditError
from audit.records.lines import open_records
from audit.records.packing import pack
from audit.reports.unfinished import unfinished
from audit.store import open_store
from stats.tables.curves import mean_curve
from tests.audit.samples import episode, revision, write_run


def skip(iteration, *, run=1, **changes):
    first = episode(run=run)
    identity = {key: first[key] for key in ("condition", "env", "variant", "run")}
    return {**identity, "iteration": iteration, "attempts": 5, "error": "none found", "seconds": 1.5, **changes}


def write_skipped(folder, *records, tail=""):
    (folder / "skipped.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records) + tail)


@pytest.fixture
def data(tmp_path):
    """Two of five iterations skipped in the first run, all in the second, none in the third."""
    root = tmp_path / "data"
    gaps = [revision([0, 1, 2], [3, 3, 3], iteration=1), revision([1, 1, 1], [0, 0, 0], iteration=3)]
    write_run(root / "run-01", [*gaps, episode(iteration=4)], iterations=5)
    write_skipped(root / "run-01", skip(0), skip(2))
    write_run(root / "run-02", [episode(run=2)], iterations=5)
    (root / "run-02" / "episodes.jsonl").unlink()
    write_skipped(root / "run-02", *(skip(each, run=2) for each in range(5)))
    write_run(root / "run-03", [episode(run=3, iteration=each) for each in range(5)], iterations=5)
    return root


NOTE = "7 iterations of 2 runs proposed nothing, and are in no average"


def counts(store):
    return store.sql("select run, iterations_finished, iterations_skipped from run_facts order by run").fetchall()


def test_they_are_counted_whatever_the_records_are_in(data):
    """A folder, one that holds a copy of a run, a pack, and line by line."""
    with pytest.raises(AuditError, match="no iteration that proposed anything in what was given"):
        open_store([data / "run-02"], cache=False)
    with open_records([data], judged=False) as records:
        held = {run.identity.run: [each.iteration for each in records.iterations(run)] for run in records.runs}
        assert (held, records.problems) == ({1: [1, 3, 4], 2: [], 3: [0, 1, 2, 3, 4]}, [])
    packed = pack(data).path
    shutil.copytree(data / "run-02", data / "copy")
    for path in (data, packed):
        with open_store([path], cache=False) as store:
            assert counts(store) == [(1, 3, 2), (2, 0, 5), (3, 5, 0)]
            assert (store.notes, store.problems) == ([NOTE], [])


def test_gaps_are_in_no_average_and_leave_the_rest_in_place(data):
    with open_store([data], cache=False) as store:
        runs = {row["run"]: row for row in store.rows("runs")}
        found = store.frame("iterations").query("run == 1")
        assert set(runs) == {1, 3}
        assert (runs[1]["iterations"], runs[1]["mean_return"], runs[1]["final_return"]) == (3, 2.0, 2.0)
        assert found.iteration.tolist() == [1, 3, 4]
        assert found.best_so_far.tolist() == [3.0, 3.0, 3.0]
        assert found.rollouts_spent.tolist() == [6, 12, 15]
        curve = mean_curve(store.frame("iterations"))
        assert curve["mean"].notna().all()
        [line] = unfinished(store.rows("run_facts"))
    assert line == (
        "hand, cartpole, threetraj: 7 of 15 iterations proposed nothing; 1 of 3 runs proposed nothing at all, left out"
    )


def test_every_command_notes_them_and_check_counts_them(data):
    for command in ("summary", "runs", "check"):
        result = CliRunner().invoke(app, [command, str(data)])
        assert result.exit_code == 0
        assert f"audit: {NOTE}" in result.stderr
    (row,) = audit.check(data, facts=True)
    assert (row["runs"], row["iterations"], row["skipped"]) == (3, 8, 7)
    assert "skipped" in result.stdout
    (data / "run-01" / "skipped.jsonl").unlink()
    shutil.rmtree(data / "run-02")
    assert "skipped" not in CliRunner().invoke(app, ["check", str(data)]).stdout


def test_lines_that_are_no_such_records_are_problems(data):
    folder = data / "run-01"
    other = skip(0, condition="other")
    write_skipped(folder, skip(0), other, skip("two"), skip(2), skip(2), tail='{"torn')
    shutil.copytree(data / "run-02", data / "lost")
    (data / "lost" / "run.json").unlink()
    with open_store([data], cache=False) as store:
        problems = [(problem.file.rpartition("data/")[2], problem.line) for problem in store.problems]
        messages = [problem.message for problem in store.problems]
        assert counts(store)[0] == (1, 3, 2)
    assert sorted(problems, key=str) == [
        ("lost/skipped.jsonl", None), ("run-01/skipped.jsonl", 2), ("run-01/skipped.jsonl", 3),
        ("run-01/skipped.jsonl", 6),
    ]  # fmt: skip
    assert any("belongs to another run" in message for message in messages)
    assert any("no run.json beside it" in message for message in messages)

"""Each benchmark runs: with next to no work, for what it calls and what it prints, not for its figures."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.store import open_store
from benchmarks import timing
from benchmarks import workloads as works
from benchmarks.commands import in_pandas
from benchmarks.concurrency import line, throughput
from benchmarks.synthetic import write_records

FEW = 20
"""Revisions, for benchmarks that read records."""


@pytest.fixture(autouse=True)
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is timed twice."""
    monkeypatch.setattr(timing, "REPETITIONS", 1)
    monkeypatch.setattr(timing, "SHORTEST", 0.0)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few synthetic revisions."""
    return write_records(tmp_path_factory.mktemp("synthetic") / "records", revisions=FEW)


@pytest.fixture
def run(monkeypatch, capsys):
    """Run a benchmark as from the command line, some of its constants made small; returns what it prints."""

    def run_it(name: str, *options: str, **constants: object) -> str:
        module = importlib.import_module(f"benchmarks.{name}")
        for constant, value in constants.items():
            monkeypatch.setattr(module, constant, value)
        monkeypatch.setattr(sys, "argv", [name, *options])
        module.main()
        return capsys.readouterr().out

    return run_it


def rows(printed: str) -> dict[str, list[str]]:
    """The lines of the tables printed by their first cells, headings and rules left out."""
    lines = [line for line in printed.splitlines() if line.startswith("|")]
    rules = {place for place, line in enumerate(lines) if not line.strip("|-")}
    cells = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for place, line in enumerate(lines)
        if place not in rules and place + 1 not in rules
    )
    return {first: others for first, *others in cells}


def small_works() -> Iterator[works.Workload]:
    """Two tasks, of which MuJoCo simulates one; a policy each, with few seeds."""
    for each in works.workloads():
        if (each.task.id, each.kind) in {("nim", "random"), ("invertedpendulum", "long")}:
            params, seeds = each.policies[0]
            yield works.Workload(each.task, each.kind, [(params, seeds[:2])])


@pytest.mark.slow
def test_rollouts(run):
    found = rows(run("rollouts", workloads=small_works))
    assert found.keys() == {"nim", "invertedpendulum"}
    assert all(float(row[4]) > 0 for row in found.values())


def test_audit_in_pandas_counts_alike(tmp_path):
    many = write_records(tmp_path, revisions=1000)
    with open_store([many], cache=False) as store:
        counted = store.rows("salience")
    ours = tuple(sum(row[name] for row in counted) for name in ("regressions", "strict", "permissive"))
    assert in_pandas(many) == ours
    assert min(ours) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("part", "lines", "baseline"), [("cold", 8, "read_json"), ("cores", 4, "rescore, threads")])
def test_commands(part, lines, baseline, run, records):
    found = rows(run("commands", part, "--data", str(records), ROUNDS=1, ITERATIONS=1))
    assert len(found) == lines
    assert all(float(row[-1]) > 0 for row in found.values())
    assert float(found[baseline][-1]) == 1


@pytest.mark.slow
def test_the_viewer(run, records):
    assert float(rows(run("viewer", "--data", str(records), REQUESTS=3))["a page of the table"][0]) > 0


def test_many_calls_in_flight_are_measured_with_each_command():
    cases = {("collect", None): 4, ("collect", "ollama"): 4, ("judge", "openai"): 4, ("intervene", "openai"): 2}
    for (command, server), least in cases.items():
        found = throughput(command=command, server=server, in_flight=2, seconds=0.01, answers=4)
        assert found.answers >= least, command
        assert f"{found.answers} answers" in line(found)


def test_an_unknown_part_is_refused(run, capsys):
    with pytest.raises(SystemExit, match="2"):
        run("__main__", "unknown")
    assert "no part 'unknown'; parts are rollouts, " in capsys.readouterr().err

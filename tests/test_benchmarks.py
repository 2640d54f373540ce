"""Each benchmark runs: with next to no work, for what it calls and what it prints, not for its figures."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchmarks
from audit.cache_folder import VARIABLE
from audit.store import open_store
from benchmarks import reproduction, timing
from benchmarks import workloads as works
from benchmarks.commands import in_pandas
from benchmarks.processes import program
from benchmarks.synthetic import write_records
from collector.methods import METHODS
from collector.tasks import TASKS

FEW = 20
"""Revisions, for benchmarks that read records."""
ELSEWHERE = {
    "alarms": "audit/watching/test_alarms.py",
    "reflectors": "audit/interventions/texts/test_planted.py",
    "concurrency": "test_concurrency_benchmark.py",
    "critics": "audit/cards/test_benchmark.py",
    "suite": "audit/cards/test_benchmark.py",
    "envpool_loop": "rollouts",
    "interventions": "test_planted_causes.py",
    "mujoco_ceiling": "rollouts",
    "machine": "test_the_parts_are_run_and_kept",
    "processes": "commands",
    "prompts": "test_the_parts_are_run_and_kept",
    "synthetic": "commands",
    "tau": "test_tau_benchmark.py",
    "timing": "rollouts",
    "torture": "test_torture.py",
    "workloads": "rollouts",
}
"""Modules that other tests run, or other benchmarks."""


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


def test_each_benchmark_is_run_by_a_test() -> None:
    modules = {module.name for module in pkgutil.iter_modules(benchmarks.__path__)}
    text = Path(__file__).read_text(encoding="utf-8")
    run_here = {name for name in modules if f'run("{name}"' in text}
    assert modules - run_here - {"__main__"} == set(ELSEWHERE)
    files = {str(path.relative_to(Path(__file__).parent)) for path in Path(__file__).parent.rglob("test_*.py")}
    for by in ELSEWHERE.values():
        assert by in files or by in run_here or f"def {by}(" in text


@pytest.mark.slow
def test_rollouts(run):
    found = rows(run("rollouts", workloads=small_works))
    assert found.keys() == {"nim", "invertedpendulum"}
    assert found["invertedpendulum"][7].endswith("%"), "the share of bare mj_step"


def test_search_quality(run):
    found = rows(run("search_quality", "--runs", "2", "--env", "nim", "--evaluations", "4"))
    assert all("±" in cell for cell in found["nim"])


@pytest.mark.slow
def test_a_folder_of_gepa(run):
    lines = run("tool_folders", "--iterations", "60").splitlines()
    assert [line.split()[0] for line in lines] == ["salience", "revisions", "lineage", "lineage", "patterns", "show"]
    assert all("times as fast" in line for line in lines)


def test_audit_in_pandas_counts_alike(tmp_path):
    many = write_records(tmp_path, revisions=1000)
    with open_store([many], cache=False) as store:
        counted = store.rows("salience")
    ours = tuple(sum(row[name] for row in counted) for name in ("regressions", "strict", "permissive"))
    assert in_pandas(many) == ours
    assert min(ours) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "lines", "baseline"), [("cold", 8, "read_json"), ("kept", 23, None), ("cores", 7, "rescore, threads")]
)
def test_commands(part, lines, baseline, run, records):
    found = rows(run("commands", part, "--data", str(records), ROUNDS=1, ITERATIONS=1))
    assert len(found) == lines
    assert all(float(row[-1]) > 0 for row in found.values())
    if baseline:
        assert float(found[baseline][-1]) == 1


@pytest.mark.slow
def test_those_that_print_one_thing(run, records):
    few = {"TASKS": dict(list(TASKS.items())[:2]), "METHODS": {key: METHODS[key] for key in ("r2po", "threetraj")}}
    assert run("collector_scale", "--runs", "1", TASKS={"nim": TASKS["nim"]}).startswith("1 tasks × 9 methods × 1 runs")
    assert len(rows(run("drivers", DRAWS=2))) > 1
    assert len(rows(run("reproduction", RUNS=3, RESAMPLES=20, ITERATIONS=3, **few))) == len(reproduction.COMMANDS) + 2
    assert float(rows(run("viewer", "--data", str(records), REQUESTS=3))["a page of the table"][0]) > 0


@pytest.mark.slow
def test_local(run):
    pytest.importorskip("xllamacpp", reason="llama.cpp is not installed here: make local")
    assert "generation alone: " in run("local", MAX_TOKENS=96, FLIGHT=2, ITERATIONS=1)


@pytest.mark.slow
def test_ray_overhead(run):
    pytest.importorskip("ray", reason="Ray is not installed here")
    assert len(rows(run("ray_overhead", GRAINS=(0.05,), SECONDS=0.1))) == 3


@pytest.mark.slow
def test_remote(run, records, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")
    pack = tmp_path / "few.pack.parquet"
    subprocess.run(program("audit", "pack", records, "--out", pack), check=True, capture_output=True)
    for address in ([], ["--s3"]):
        found = rows(run("remote", str(pack), "--command", "salience", "--latency", "0", *address))
        assert int(found["salience"][1]) > 0, "requests"


def test_the_parts_are_run_and_kept(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.prompts.workloads", small_works)
    assert "## writing a rollout for a prompt" in run("__main__", "prompts", RESULTS=tmp_path)
    [kept] = tmp_path.glob("*.json")
    assert len(json.loads(kept.read_text(encoding="utf-8"))["prompts"]) == 4
    with pytest.raises(SystemExit, match="2"):
        run("__main__", "unknown")
    assert "no part 'unknown'; parts are rollouts, " in capsys.readouterr().err

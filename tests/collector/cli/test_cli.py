"""The `collect` command as people use it: right, wrong, twice, and on a full disk."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from typer.main import get_command

from collector.cli import app, main
from collector.cli.grouped import Grouped
from collector.grid.cli import app as grid_app
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan, threshold
from collector.switches import Switches
from collector.tasks import get_task
from tests.collector.helpers import collect, in_process, lines, spec, timeless

CONDITION = "simulated-salient+iterations-3+rollouts-5"
SMALL = ["--env", "frozenlake", "--variant", "threetraj", "--runs", "2", "--iterations", "3", "--rollouts", "5"]


def run(*arguments, **options):
    command = [sys.executable, "-m", "collector.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small collection, made one run after the other with keys in the environment, and how the command ended."""
    out = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        for key in ("OLLAMA_API_KEY", "OPENAI_API_KEY"):
            patch.setenv(key, "very-secret")
        result = in_process(main, *SMALL, "--out", out, "--concurrency", "1")
    assert result.returncode == 0, result.stderr
    return out, result


@pytest.fixture
def collected(finished, tmp_path):
    """A copy of it, to change."""
    shutil.copytree(finished[0], tmp_path / "runs")
    return tmp_path / "runs"


WRONG = {
    "no task": (["--variant", "r2po"], "Missing option '--env'"),
    "no method": (["--env", "pong"], "Missing option '--variant'"),
    "unknown task": (["--env", "chess", "--variant", "r2po"], "unknown task 'chess'; choose from nim, pong"),
    "unknown method": (["--env", "pong", "--variant", "x"], "unknown method 'x'; choose from props, propsplus"),
    "unknown option": ([*SMALL, "--bogus"], "No such option: --bogus"),
    "unknown backend": (
        [*SMALL, "--backend", "x"],
        "unknown backend 'x'; choose from simulated, local, ollama, openai",
    ),
    "unknown personality": ([*SMALL, "--personality", "x"], "unknown personality 'x'; choose from salient"),
    "a model without a backend": ([*SMALL, "--model", "x"], "--model is for real models; add --backend"),
    "a personality for a real model": ([*SMALL, "--backend", "ollama", "--personality", "salient"], "--personality"),
    "openai without a model": ([*SMALL, "--backend", "openai"], "--backend openai needs --model"),
    "threshold": ([*SMALL, "--tau-c", "lots"], "--tau-c 'lots' is neither default, half, off, auto nor a number"),
    "infinite threshold": ([*SMALL, "--tau-c", "inf"], "--tau-c 'inf' is neither"),
    "no runs": ([*SMALL, "--runs", "0"], "Invalid value for '--runs'"),
    "a word for a number": ([*SMALL, "--rollouts", "many"], "Invalid value for '--rollouts'"),
    "a negative seed": ([*SMALL, "--seed", "-1"], "Invalid value for '--seed'"),
    "a condition that leaves the folder": ([*SMALL, "--condition", "../x"], "cannot name a folder"),
}


def test_wrong_usage_is_one_line_and_status_2(tmp_path):
    for case, (arguments, message) in WRONG.items():
        result = in_process(main, *arguments, "--out", tmp_path / "runs")
        assert (result.returncode, result.stdout) == (2, ""), case
        assert message in result.stderr, case
        assert len(result.stderr.splitlines()) == 1, case
        assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_or_a_server_that_is_down_is_one_line_and_status_1(tmp_path):
    (tmp_path / "file").write_text("")
    down = ["--backend", "ollama", "--base-url", "http://127.0.0.1:9", "--out", tmp_path]
    for arguments, message in [
        (["--out", tmp_path / "file" / "runs"], f"collect: cannot write {tmp_path / 'file' / 'runs'}"),
        (down, "collect: cannot connect to Ollama at http://127.0.0.1:9 "),
    ]:
        result = in_process(main, *SMALL, *arguments)
        assert result.returncode == 1
        assert result.stderr.startswith(message)
        assert len(result.stderr.splitlines()) == 1


COLLECT = partial(in_process, main)


@pytest.mark.parametrize("command", [COLLECT, pytest.param(run, marks=pytest.mark.slow)], ids=["here", "elsewhere"])
def test_collect_twice_gives_identical_records_whatever_runs_beside_it(command, finished, tmp_path):
    beside = command(*SMALL, "--env", "pong", "--out", tmp_path, "--quiet", "--concurrency", "5")
    assert (beside.returncode, beside.stdout, beside.stderr) == (0, "", "")
    for number in (1, 2):
        folder = Path(CONDITION, "frozenlake", "threetraj", f"run-{number:02d}")
        assert timeless(finished[0] / folder) == timeless(tmp_path / folder)


def test_records_that_are_there_are_left_alone_or_refused(collected):
    before = {path: path.read_bytes() for path in collected.rglob("*.json*")}
    other = ["--condition", CONDITION, "--personality", "balanced", "--runs", "3"]
    for more, status, message in [
        ([], 0, "2 of 2 runs are complete already\n"),
        (["--no-resume"], 1, "run-01 exists already"),
        (other, 1, "was collected with other settings under the same condition"),
    ]:
        result = in_process(main, *SMALL, "--out", collected, *more)
        assert result.returncode == status
        assert message in result.stderr
        assert {path: path.read_bytes() for path in collected.rglob("*.json*")} == before


def test_dry_run_prints_the_plan_and_what_is_done_and_does_nothing(collected):
    shutil.rmtree(collected / CONDITION / "frozenlake" / "threetraj" / "run-02")
    before = sorted(collected.rglob("*"))
    result = in_process(main, *SMALL, "--variant", "r2po", "--out", collected, "--dry-run")
    rows = [line.split() for line in result.stdout.splitlines()]
    (calls,) = collected.rglob("calls.jsonl")
    again = str(sum(call["error"] is not None for call in lines(calls)))
    # runs, complete, iterations, done, calls, rollouts, warm-up, asked again:
    # 2 runs of 3 iterations, each of which has 2 calls and 2 · 5 rollouts
    assert ["2", "1", "6", "3", "12", "60", "40", again] in [row[-8:] for row in rows]
    assert ["2", "0", "6", "0", "12", "60", "40", "0"] in [row[-8:] for row in rows]
    assert ["4", "1", "12", "3", "24", "120", "80", again] in [row[-8:] for row in rows]
    assert sorted(collected.rglob("*")) == before


def test_plain_lines_when_not_on_a_terminal(finished):
    lines = finished[1].stderr.splitlines()
    assert [line.split(",")[0] for line in sorted(lines[:2])] == [
        f"complete: {CONDITION}/frozenlake/threetraj/run-0{number}" for number in (1, 2)
    ]
    assert lines[2].startswith("runs         2 of 2 complete, 6 iterations in 0:")


def test_a_full_disk_is_told_in_a_line_and_nothing_is_lost(finished, tmp_path):
    """A limit on file size stands in for a full disk: the operating system refuses the write in the same way."""
    arguments, limit = [*SMALL, "--runs", "1", "--iterations", "6", "--out", tmp_path / "full"], 30_000
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        result = in_process(main, *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert re.match(r"collect: 1 of 1 runs stopped; the first: cannot write .*calls\.jsonl: File too large\.", last)
    assert "Traceback" not in result.stderr
    (calls,) = (tmp_path / "full").rglob("calls.jsonl")
    assert 0 < calls.stat().st_size <= limit
    assert calls.read_bytes().endswith(b"\n")
    assert in_process(main, *arguments).returncode == 0
    collect(spec("frozenlake", "threetraj", iterations=6, rollouts=5, warmup=20), tmp_path / "whole")
    assert timeless(tmp_path / "full") == timeless(tmp_path / "whole")


def test_help_has_examples_and_every_option_in_a_group_of_its_own(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = in_process(main, "--help")
    assert result.returncode == 0
    assert "    collect --env cartpole --variant threetraj\n" in result.stdout
    lines = result.stdout.splitlines()
    found = [line.rstrip(":") for line in lines if re.fullmatch(r"\S.*:", line)]
    assert found == [*Grouped.groups, "Other options"]
    # Options that have no group would stand among the others.
    others = re.findall(r"--[a-z-]+", result.stdout.partition("Other options:")[2].partition("Examples:")[0])
    assert others == ["--version", "--install-completion", "--show-completion", "--help"]
    grouped = [name for names in Grouped.groups.values() for name in names]
    assert len(grouped) == len(set(grouped))
    commands = [get_command(each).params for each in (app, grid_app)]
    assert set(grouped) <= {option.name for options in commands for option in options}


def request(**settings):
    model = SimulatedModel(settings.pop("personality", "salient"))
    names = {"envs": ["cartpole"], "variants": ["r2po"], "runs": 1}
    return Request(backend="simulated", model=model.name, options=model.options, **(names | settings))


CONDITIONS = [
    ({}, "simulated-salient"),
    ({"personality": "silent"}, "simulated-silent"),
    ({"tau_c": "half"}, "simulated-salient+tau-half"),
    ({"tau_c": "300"}, "simulated-salient+tau-300"),
    ({"tau_c": "half", "variants": ["reptraj"]}, "simulated-salient"),
    ({"warmup": 0, "rollouts": 5}, "simulated-salient+rollouts-5+warmup-0"),
    ({"iterations": 30}, "simulated-salient+iterations-30"),
    ({"iterations": 100}, "simulated-salient"),
    ({"warmup": 20, "rollouts": 20, "seed": 9}, "simulated-salient"),
    ({"switches": Switches(excerpts=2), "variants": ["reptraj"]}, "simulated-salient+excerpts-2"),
    ({"switches": Switches(excerpts=2)}, "simulated-salient"),
    ({"switches": Switches(paired_seeds=True)}, "simulated-salient+paired"),
    ({"switches": Switches(paired_seeds=True), "variants": ["props"]}, "simulated-salient"),
    ({"switches": Switches(step_size=0.1, optimum=500)}, "simulated-salient+step-0.1"),
    ({"switches": Switches(step_cap=20, optimum=0.9), "envs": ["maze"]}, "simulated-salient+cap-20+optimum-0.9"),
    ({"switches": Switches(action_clipping="released")}, "simulated-salient"),
    (
        {"switches": Switches(action_clipping="released"), "envs": ["swimmer"], "variants": ["reptraj", "r2po"]},
        "simulated-salient+clipping-released|simulated-salient",
    ),
    ({"switches": Switches(named_iterations=400)}, "simulated-salient+named-400"),
    ({"switches": Switches(warmup_range="unbounded"), "envs": ["nim"]}, "simulated-salient"),
    ({"condition": "mine", "tau_c": "off"}, "mine"),
]


def test_the_condition_says_what_is_not_the_default():
    for settings, condition in CONDITIONS:
        assert {spec.condition for spec in plan(request(**settings))} == set(condition.split("|")), settings
    named = Request(
        envs=["pong"], variants=["r2po"], runs=1, backend="ollama", model="gpt-oss:20b", options={"temperature": 0.7}
    )
    assert plan(named)[0].condition == "gpt-oss-20b+temperature-0.7"


def test_defaults_are_the_papers_budget_and_all_stands_for_every_task_and_method_once():
    (spec,) = plan(request())
    assert (spec.iterations, spec.rollouts, spec.warmup, spec.tau_c) == (100, 20, 20, 480.0)
    assert spec.iterations * spec.method.calls * spec.rollouts == 4000
    assert plan(request(variants=["props"]))[0].iterations == 200
    specs = plan(request(envs=["pong", "all", "pong"], variants=["all"], runs=2))
    assert len(specs) == 2 * 10 * 9
    assert specs[0].task.id == "pong"
    assert [spec.run for spec in specs] == [1] * 90 + [2] * 90
    settings = {"default": 480.0, "half": 240.0, "off": None, "12.5": 12.5}
    assert {setting: threshold(setting, get_task("cartpole")) for setting in settings} == settings


def test_records_hold_no_secrets_and_the_truth_is_beside_them(finished):
    records = list(finished[0].rglob("*.json*"))
    assert len(records) == 2 * 4
    assert not [path for path in records if "very-secret" in path.read_text()]
    (folder,) = finished[0].rglob("run-01")
    truths = lines(folder / "truth.jsonl")
    assert {truth["personality"] for truth in truths} == {"salient"}
    assert all(truth["anchor"] in {"worst", "median", "best"} for truth in truths)
    assert "anchor" not in json.dumps([episode["evidence"] for episode in lines(folder / "episodes.jsonl")])

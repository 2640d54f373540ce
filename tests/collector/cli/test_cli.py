"""The `collect` command as people use it: right, wrong, twice, and on a full disk."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
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


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_wrong_usage_is_one_line_and_status_2(arguments, message, tmp_path):
    result = in_process(main, *arguments, "--out", tmp_path / "runs")
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""
    assert not (tmp_path / "runs").exists()


def test_an_output_folder_that_cannot_be_written_is_one_line_and_status_1(tmp_path):
    (tmp_path / "file").write_text("")
    result = in_process(main, *SMALL, "--out", tmp_path / "file" / "runs")
    assert result.returncode == 1
    assert result.stderr.startswith(f"collect: cannot write to {tmp_path / 'file' / 'runs'}")
    assert len(result.stderr.splitlines()) == 1


def test_a_server_that_is_down_is_one_line_and_status_1(tmp_path):
    result = in_process(main, *SMALL, "--backend", "ollama", "--base-url", "http://127.0.0.1:9", "--out", tmp_path)
    assert result.returncode == 1
    assert re.fullmatch(r"collect: cannot connect to Ollama at http://127\.0\.0\.1:9 .*\n", result.stderr)


COLLECT = partial(in_process, main)


@pytest.mark.parametrize("command", [COLLECT, pytest.param(run, marks=pytest.mark.slow)], ids=["here", "elsewhere"])
def test_collect_twice_gives_identical_records_whatever_runs_beside_it(command, finished, tmp_path):
    beside = command(*SMALL, "--env", "pong", "--out", tmp_path, "--quiet", "--concurrency", "5")
    assert (beside.returncode, beside.stdout, beside.stderr) == (0, "", "")
    for number in (1, 2):
        folder = Path(CONDITION, "frozenlake", "threetraj", f"run-{number:02d}")
        assert timeless(finished[0] / folder) == timeless(tmp_path / folder)


def test_a_complete_collection_is_left_alone(collected):
    before = {path: path.read_bytes() for path in collected.rglob("*.json*")}
    again = in_process(main, *SMALL, "--out", collected)
    assert (again.returncode, again.stderr) == (0, "2 of 2 runs are complete already\n")
    assert {path: path.read_bytes() for path in collected.rglob("*.json*")} == before


def test_no_resume_refuses_to_touch_records(collected):
    result = in_process(main, *SMALL, "--out", collected, "--no-resume")
    assert result.returncode == 1
    assert "run-01 exists already" in result.stderr


def test_other_settings_under_the_same_condition_are_refused_before_anything_runs(collected):
    other = ["--condition", CONDITION, "--personality", "balanced", "--runs", "3"]
    result = in_process(main, *SMALL, "--out", collected, *other)
    assert result.returncode == 1
    assert "was collected with other settings under the same condition" in result.stderr
    assert not list(collected.rglob("run-03"))


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


@pytest.fixture
def full_disk(finished):
    """A limit on file size stands in for a full disk: the operating system refuses the write in the same way."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    @contextmanager
    def limited(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


def test_a_full_disk_is_told_in_a_line_and_nothing_is_lost(full_disk, tmp_path):
    arguments = [*SMALL, "--runs", "1", "--iterations", "6"]
    limit = 30_000
    with full_disk(limit):
        result = in_process(main, *arguments, "--out", tmp_path / "full")
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert re.match(r"collect: 1 of 1 runs stopped; the first: cannot write .*calls\.jsonl: File too large\.", last)
    assert "Traceback" not in result.stderr
    (calls,) = (tmp_path / "full").rglob("calls.jsonl")
    assert 0 < calls.stat().st_size <= limit
    assert calls.read_bytes().endswith(b"\n")
    assert in_process(main, *arguments, "--out", tmp_path / "full").returncode == 0
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


@pytest.mark.parametrize(
    ("settings", "condition"),
    [
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
    ],
)
def test_the_condition_says_what_is_not_the_default(settings, condition):
    assert {spec.condition for spec in plan(request(**settings))} == set(condition.split("|"))


def test_a_models_name_becomes_a_label():
    named = Request(
        envs=["pong"], variants=["r2po"], runs=1, backend="ollama", model="gpt-oss:20b", options={"temperature": 0.7}
    )
    assert plan(named)[0].condition == "gpt-oss-20b+temperature-0.7"


@pytest.mark.parametrize(("setting", "value"), [("default", 480.0), ("half", 240.0), ("off", None), ("12.5", 12.5)])
def test_thresholds(setting, value):
    assert threshold(setting, get_task("cartpole")) == value


def test_all_stands_for_every_task_and_method_once():
    specs = plan(request(envs=["pong", "all", "pong"], variants=["all"], runs=2))
    assert len(specs) == 2 * 10 * 9
    assert specs[0].task.id == "pong"
    assert [spec.run for spec in specs] == [1] * 90 + [2] * 90


def test_defaults_are_the_papers_budget():
    (spec,) = plan(request())
    assert (spec.iterations, spec.rollouts, spec.warmup, spec.tau_c) == (100, 20, 20, 480.0)
    assert spec.iterations * spec.method.calls == 200
    assert spec.iterations * spec.method.calls * spec.rollouts == 4000


def test_records_hold_no_secrets(finished):
    records = list(finished[0].rglob("*.json*"))
    assert len(records) == 2 * 4
    assert not [path for path in records if "very-secret" in path.read_text()]


def test_truth_is_beside_the_records_and_not_in_them(finished):
    (folder,) = finished[0].rglob("run-01")
    truths = lines(folder / "truth.jsonl")
    assert {truth["personality"] for truth in truths} == {"salient"}
    assert all(truth["anchor"] in {"worst", "median", "best"} for truth in truths)
    assert "anchor" not in json.dumps([episode["evidence"] for episode in lines(folder / "episodes.jsonl")])

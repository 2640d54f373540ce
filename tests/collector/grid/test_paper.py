"""The paper's grid: what it consists of, and its collection part by part."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from collector.baselines.planning import PACKAGES
from collector.grid.cli import main
from collector.grid.parts import PARTS, chosen
from collector.plan import Request, plan
from tests.audit.samples import SHARED
from tests.collector.helpers import in_process

SMALL = ["--runs", "1", "--iterations", "1", "--rollouts", "2"]
ROOT = Path(__file__).resolve().parents[3]
PUBLISHED = next((path for path in (ROOT / "data" / "paper", SHARED / "paper") if path.is_dir()), None)


def run(*arguments, **options):
    command = [sys.executable, "-m", "collector.grid", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)


@pytest.fixture(scope="module")
def thresholds(tmp_path_factory):
    """The two parts on thresholds, collected."""
    out = tmp_path_factory.mktemp("thresholds")
    parts = ["--part", "tau-half", "--part", "tau-off"]
    assert in_process(main, *SMALL, *parts, "--out", out, "--quiet").returncode == 0
    return out


def wanted(**settings):
    return Request(envs=[], variants=[], backend="ollama", model="gpt-oss:20b", options={}, **settings)


def planned(**settings):
    return {part.name: plan(part.request(wanted(**settings))) for part in PARTS}


def published(name):
    if PUBLISHED is None:
        pytest.skip("the published numbers are not here")
    with (PUBLISHED / name).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_grid_has_the_paper_s_budgets():
    grid = planned()
    assert len(grid["methods"]) == 10 * 9 * 10
    # 200 calls and 4,000 rollouts a run, whatever the method; twice that in the extended comparison.
    assert {each.iterations * each.method.calls for each in grid["methods"]} == {200}
    assert {each.episodes for each in grid["methods"]} == {4000}
    assert {each.episodes for each in grid["extended"]} == {8000}
    assert {each.episodes for each in grid["baselines"]} == {190 * 21}  # 3,990: 21 a iteration
    assert {each.episodes for each in grid["baselines-extended"]} == {380 * 21}


def test_every_cell_of_the_published_tables_is_collected():
    grid = {name: Counter((each.task.id, each.method.id) for each in specs) for name, specs in planned(runs=10).items()}
    here = grid["methods"] + grid["baselines"]
    for table in ("mean_reward.csv", "best_reward.csv", "variants_mean_reward.csv", "variants_best_reward.csv"):
        for row in published(table):
            assert here[row["environment"], row["method"]] >= int(row["runs"]), row
    extended = grid["extended"] + grid["baselines-extended"]
    for row in published("props_extended_budget.csv"):
        cells = extended if row["episodes_per_run"] == "8000" else here
        assert cells[row["environment"], row["method"]] == 10, row


def test_thresholds_are_those_of_the_sensitivity_table():
    grid = planned()
    parts = {"default": "methods", "half": "tau-half", "disabled": "tau-off"}
    for row in published("tau_sensitivity.csv"):
        expected = None if row["setting"] == "disabled" else float(row["tau_c"])
        found = [
            each
            for each in grid[parts[row["setting"]]]
            if (each.task.id, each.method.id) == (row["environment"], "r2po")
        ]
        assert len(found) == 10
        assert {each.tau_c for each in found} == {expected}


def test_no_two_parts_share_a_run_and_they_are_chosen_by_name():
    assert [part.name for part in chosen(["tau-off", "methods"])] == ["methods", "tau-off"]
    assert chosen([]) == list(PARTS)
    for settings in ({}, {"iterations": 2}, {"iterations": 1, "rollouts": 3}):
        folders = [each.folder for specs in planned(**settings).values() for each in specs]
        assert len(folders) == len(set(folders))


def test_the_plan_is_of_what_is_missing(thresholds):
    settings = ["--part", "tau-half", "--part", "baselines", "--runs", "1", "--rollouts", "2", "--rate", "2"]
    fresh = in_process(main, "--dry-run", *settings, "--out", thresholds / "none", "--iterations", "1800")
    assert fresh.stdout.splitlines()[-1] == "7,200 calls are left: 1.0 hours at 2 calls a second."
    assert not (thresholds / "none").exists()
    [line] = [line for line in fresh.stdout.splitlines() if " pong " in line and " r2po " in line]
    assert line.split()[-8:] == ["1", "0", "1,800", "0", "3,600", "7,200", "20", "0"]
    done = in_process(main, "--dry-run", *settings, "--out", thresholds, "--iterations", "1")
    assert done.stdout.splitlines()[-1] == "0 calls are left: 0.0 hours at 2 calls a second."


@pytest.mark.slow
def test_all_parts_are_collected_and_collected_once(tmp_path):
    # The baselines' 96 runs are processes of six seconds each; how they are collected has tests of its own.
    parts = [word for part in PARTS if not part.name.startswith("baselines") for word in ("--part", part.name)]
    settings = [*SMALL, *parts, "--out", tmp_path]
    first = run(*settings)
    assert first.returncode == 0, first.stderr
    assert "extended: ProPS and ProPS+ with twice the budget, 20 of 20 runs to do" in first.stderr
    assert len(list(tmp_path.glob("*/*/*/run-01/run.json"))) == 90 + 2 + 2 + 20
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}
    again = in_process(main, *settings)
    assert again.returncode == 0
    assert "methods: nine methods on ten tasks, all 90 runs are complete" in again.stderr
    assert kept == {path: path.read_bytes() for path in tmp_path.rglob("*.json*")}


def test_a_part_that_stops_is_named_and_the_others_are_collected(thresholds, tmp_path):
    settings = [*SMALL, "--part", "tau-half", "--part", "tau-off", "--out", tmp_path]
    shutil.copytree(thresholds, tmp_path, dirs_exist_ok=True)
    [run_json] = tmp_path.glob("*tau-half*/pong/r2po/run-01/run.json")
    record = json.loads(run_json.read_text())
    run_json.write_text(json.dumps(record | {"tau_c": 2.0}))
    for path in tmp_path.glob("*tau-off*/*/*/*/episodes.jsonl"):
        path.unlink()
    result = in_process(main, *settings, "--quiet")
    assert result.returncode == 1
    message = result.stderr.splitlines()
    assert message[0].startswith("tau-half: ")
    assert "was collected with other settings" in message[0]
    assert message[-1] == "paper: not complete: tau-half. The same command goes on where they stopped."
    assert len(list(tmp_path.glob("*tau-off*/*/*/*/episodes.jsonl"))) == 2


def test_a_server_that_is_down_or_a_folder_that_cannot_be_written_is_told_part_by_part(tmp_path):
    (tmp_path / "file").write_text("")
    server = ["--backend", "ollama", "--base-url", "http://127.0.0.1:9"]
    for out, more, message in [
        (tmp_path, server, "cannot connect to Ollama at http://127.0.0.1:9"),
        (tmp_path / "file" / "grid", [], "cannot write "),
    ]:
        result = in_process(main, *SMALL, *more, "--out", out, "--part", "tau-off")
        assert result.returncode == 1
        assert f"tau-off: {message}" in result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.skipif(all(map(find_spec, PACKAGES.values())), reason="baselines are installed")
def test_baselines_are_left_out_in_a_line_where_their_packages_are_missing(tmp_path):
    result = in_process(main, *SMALL, "--part", "baselines", "--out", tmp_path)
    assert result.returncode == 0
    assert len(result.stderr.splitlines()) == 1
    assert "baselines: left out; baselines need stable-baselines3" in result.stderr


WRONG = {
    "unknown part": (["--part", "x"], "unknown part 'x'; choose from methods, tau-half, tau-off, extended, baselines"),
    "unknown option": (["--bogus"], "No such option: --bogus"),
    "no rate": (["--dry-run", "--rate", "0"], "Invalid value for '--rate'"),
    "a model without a backend": (["--model", "x"], "--model is for real models; add --backend"),
    "unknown backend": (["--backend", "x"], "unknown backend 'x'"),
}


def test_wrong_usage_is_one_line_and_status_2(tmp_path):
    for arguments, message in WRONG.values():
        result = in_process(main, *arguments, "--out", tmp_path / "grid")
        assert result.returncode == 2
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1
        assert not (tmp_path / "grid").exists()


MADE = {
    "the default": ([], "--out 'data/paper-grid' --backend 'simulated'"),
    "a real model": (["BACKEND=ollama", "MODEL=gpt-oss:20b"], "--backend 'ollama' --model 'gpt-oss:20b'"),
    "elsewhere": (["DATA=data/trial", "RUNS=1", "ITERATIONS=2"], "--out 'data/trial'"),
    "anything else": (["BASE_URL=http://x/v1", "OPTIONS=--temperature 0"], "--base-url 'http://x/v1' --temperature 0"),
}


@pytest.mark.parametrize(("variables", "passed"), MADE.values(), ids=MADE)
@pytest.mark.parametrize("target", ["paper", "paper-plan"])
def test_make_passes_on_what_it_is_given(target, variables, passed):
    command = ["make", "--dry-run", target, *variables]
    environment = {name: value for name, value in os.environ.items() if name not in {"DATA", "MAKEFLAGS", "MAKELEVEL"}}
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment)
    [line] = [line for line in result.stdout.splitlines() if "-m collector.grid" in line]
    assert " ".join(passed.split()) in " ".join(line.split())
    assert ("--dry-run" in line) == (target == "paper-plan")
    assert ("jupyter nbconvert --execute" in result.stdout) == (target == "paper")


@pytest.mark.parametrize("status", [0, 1])
def test_make_of_a_shard_collects_it_and_draws_nothing(status, tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("python", "audit", "figures"):
        program = tmp_path / "bin" / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> "{tmp_path}/called"\nexit {status}\n')
        program.chmod(0o755)
    (tmp_path / ".core").touch()
    command = ["make", "paper", "SHARD=3/16", f"DATA={tmp_path / 'data'}", f"VENV={tmp_path}"]
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode == 0) == (status == 0)
    [line] = (tmp_path / "called").read_text().splitlines()
    assert line == f"python -m collector.grid --out {tmp_path / 'data'} --backend simulated --shard 3/16"

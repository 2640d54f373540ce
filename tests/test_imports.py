"""What is read and drawn needs no simulator, compiler or model client; a missing extra is one line."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import audit.cli
import figures.cli
import stats.cli
from tests.audit.samples import revision, write_run

ROOT = Path(__file__).resolve().parents[1]

SIMULATORS = ("gymnasium", "mujoco", "stable_baselines3", "sb3_contrib", "torch")
COMPILERS = ("numba", "llvmlite")
CLIENTS = ("httpx", "ollama", "openai")

RUN = '''\
import importlib, json, sys


class Without:
    """A finder of modules for which the blocked packages are not installed."""

    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in blocked else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
for blocked, program, module, *arguments in json.loads(sys.argv[1]):
    sys.argv = [program, *arguments]
    try:
        importlib.import_module(module).main()
    except SystemExit as end:
        status = end.code or 0
    print(f"{program} {' '.join(arguments)}: {status}", file=sys.stderr)
'''

# Commands that run policies or ask models may import what does so.
RUNNING = {
    *("audit rescore", "audit calibrate", "audit replay", "audit verify", "audit judge"),
    *(
        "audit intervene",
        "audit view",
        "audit critic",
        "audit critics",
        "audit remedy",
    ),
}


def commands(data: Path, sheet: Path, tmp: Path) -> list[list[str]]:
    """Every other command of the three programs, as `main` reads it."""
    here = str(data)
    one = [["audit", command, here] for command in ("summary", "salience", "rates", "noise", "controls", "severity")]
    one += [
        ["audit", command, here] for command in ("agreement", "patterns", "revisions", "runs", "lineage", "positions")
    ]
    for detector in ("phrase", "resolved"):
        one.append(["audit", "salience", here, "--no-cache", "--detector", detector])
    one += [
        ["audit", "show", here, "cartpole", "threetraj", "1", "2"],
        ["audit", "find", here, "--case", "salience"],
        ["audit", "sensitivity", here],
        ["audit", "sql", here, "select count(*) from revisions"],
        ["audit", "sample", here, "--n", "2"],
        ["audit", "validate", str(sheet), here],
        ["audit", "check", here],
        ["audit", "pack", here, "--out", str(tmp / "data.pack.parquet")],
        ["audit", "summary", str(tmp / "data.pack.parquet")],
        ["audit", "export", "scout", here, "--out", str(tmp / "answers")],
    ]
    example = ROOT / "docs/examples/import"
    mapped = ["--map", str(example / "docking.toml"), str(example / "docking.csv")]
    one.append(["audit", "import", *mapped, "--out", str(tmp / "imported")])
    one += [["stats", command, here] for command in ("metrics", "aggregate", "profile", "efficiency", "ranks")]
    one += [
        ["stats", "compare", here, "--reference", "threetraj"],
        ["stats", "check", str(ROOT / "docs/examples/own_table.csv")],
        ["figures", here, "--out", str(tmp / "figures")],
    ]
    return one


def run(*tried):
    """Run lines one after the other in a process of their own, each with the packages that are not installed for it."""
    lines = [
        [blocked, program, f"{'collector' if program == 'collect' else program}.cli", *arguments]
        for blocked, (program, *arguments) in tried
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(lines)],
        env=os.environ | {"COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "runs"
    grid = ["--env", "cartpole", "--variant", "threetraj", "--variant", "puresearch", "--runs", "2"]
    run(([], ["collect", *grid, "--iterations", "3", "--quiet", "--out", str(folder)]))
    return folder


@pytest.fixture
def sheet(data, tmp_path):
    """Labels as a coder fills them in."""
    rows = list(csv.DictReader(io.StringIO(run(([], ["audit", "sample", str(data), "--n", "3"])).stdout)))
    coded = dict.fromkeys(("mentions_worst", "mentions_median", "mentions_best", "discounts_worst"), "0")
    with (tmp_path / "sheet.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | coded | {"driver": "worst"} for row in rows)
    return tmp_path / "sheet.csv"


def test_every_command_is_tried(tmp_path: Path) -> None:
    programs = {"audit": audit.cli, "stats": stats.cli, "figures": figures.cli}
    all_of_them = {
        f"{program} {name}" if name else program
        for program, module in programs.items()
        for name in getattr(get_command(module.app), "commands", [""])
    }
    tried = {" ".join(line[: 1 if line[0] == "figures" else 2]) for line in commands(tmp_path, tmp_path, tmp_path)}
    assert tried == all_of_them - RUNNING


@pytest.mark.slow
def test_reading_records_imports_no_simulator_compiler_or_client(data: Path, sheet: Path, tmp_path: Path) -> None:
    lines = commands(data, sheet, tmp_path)
    done = run(*(([*SIMULATORS, *COMPILERS, *CLIENTS], line) for line in lines))
    ended = [line for line in done.stderr.splitlines() if line.startswith(("audit ", "stats ", "figures "))]
    assert ended == [f"{' '.join(line)}: 0" for line in lines], done.stderr
    assert done.stdout.splitlines()[-1] == str(tmp_path / "figures/index.html")
    assert (tmp_path / "figures/index.html").is_file()


BASELINES = (["stable_baselines3"], ["torch"], ["stable_baselines3", "sb3_contrib", "torch"])


def test_clients_and_baselines_are_extras(tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "out")]
    asked = ["--backend", "openai", "--base-url", "http://127.0.0.1:9/v1", "--model", "m", *out]
    data = write_run(tmp_path / "data" / "run-01", [revision([5, 9, 9], [1, 1, 1])])
    collected = ["collect", "--env", "cartpole", "--variant"]
    done = run(
        (["openai"], [*collected, "threetraj", *asked]),
        (["openai"], ["audit", "judge", str(data), *asked, "--yes"]),
        *((blocked, [*collected, "sb3-ppo", *out]) for blocked in BASELINES),
    )
    openai, judge, *baselines = ends(done.stderr)
    needed = "the openai backend needs the openai package: in a clone, pip install '.[openai]'"
    assert openai == ([f"collect: {needed}"], "2")
    assert (judge[0][-1], judge[1]) == (f"audit: {needed}", "2")
    assert len(baselines) == len(BASELINES)
    for message, status in baselines:
        assert (len(message), status) == (1, "1")
        assert message[0].startswith("collect: baselines need ")
        assert "pip install '.[baselines]'" in message[0]
    assert not (tmp_path / "out").exists()


def ends(errors: str) -> list[tuple[list[str], str]]:
    """What each line printed on standard error, and its exit status."""
    found, message = [], []
    for line in errors.splitlines():
        if re.match(r"(audit|collect|stats|figures) .*: \d+$", line):
            found.append((message, line.rpartition(": ")[2]))
            message = []
        else:
            message.append(line)
    return found

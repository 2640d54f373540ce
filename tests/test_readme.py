"""The README's commands, run as they are printed, one after the other, in a fresh copy of the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from audit.recorders.gepa import GEPARecorder
from tests.tools.running import episodes, run_tool, troubles

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    return [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def example() -> str:
    """The program in Python."""
    [program] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return program


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The tracked files with their times, so that `make` finds the environment up to date; no records, no figures."""
    folder = tmp_path_factory.mktemp("clone") / "salience-audit"
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    for name in filter(None, names):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    # Were they older, make would install into the environment that this test itself runs in.
    wanted = max((ROOT / name).stat().st_mtime for name in ("pyproject.toml", "requirements.lock"))
    for stamp in (Path(sys.prefix) / name for name in (".core", ".dev")):
        if not stamp.exists() or stamp.stat().st_mtime < wanted:
            pytest.skip("the environment was not made by make, or is out of date")
    return folder


STRUCTURES = {"failure_confirmed", "preservation_favored", "all_diverse", "identical"}


def audit(command: str, folder: Path) -> list[dict]:
    program = [str(Path(sys.executable).with_name("audit")), command, str(folder), "--format", "json"]
    return json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def report(plan: Path) -> list[dict]:
    program = [str(Path(sys.executable).with_name("audit")), "intervene", "report", str(plan), "--format", "json"]
    return json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def ending(command: str) -> str:
    """A command that ends: one that serves is stopped as by Ctrl-C, and must still be serving then."""
    serves = command.startswith("audit view") and "--export" not in command
    return f"timeout --signal INT 30 {command} || test $? = 124" if serves else command


@pytest.mark.slow
def test_the_commands_work_as_printed(copy):
    script = "set -eux\n" + "\n".join(map(ending, commands()))
    clean = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"}}
    clean["BROWSER"] = "true"  # a program that does nothing
    result = subprocess.run(["bash", "-c", script], cwd=copy, capture_output=True, text=True, check=False, env=clean)
    assert result.returncode == 0, result.stderr[-3000:]
    assert (copy / "figures/out/index.html").exists()
    assert len(audit("revisions", copy / "data/runs")) > 2000
    grid = copy / "data/runs/simulated-salient+iterations-50"
    assert {row["structure"] for row in audit("agreement", grid)} == STRUCTURES
    assert len({row["pattern"] for row in audit("patterns", grid)}) >= 7
    assert all(sum(row[kind] for row in audit("salience", grid)) > 0 for kind in ("strict", "permissive"))
    # The default grid, and nothing beside it.
    assert len(list((copy / "data/runs").rglob("run.json"))) == 3 * 5 * 4
    # The experiment finds what moves this critic.
    moving = [row["name"] for row in report(copy / "data/silent.json") if row["verdict"] == "moves it"]
    assert moving == ["worst content"]


def test_the_readme_says_in_few_lines_what_the_project_is_for():
    assert len(README.splitlines()) <= 130
    assert {"make figures", "audit salience data/runs"} <= set(commands())
    assert "Reflective Prompted Policy Optimization: Trajectory-Grounded Revision and Salience Bias" in " ".join(
        README.split()
    )
    [picture] = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert 10_000 < (ROOT / picture).stat().st_size < 150_000


def test_every_example_writes_to_a_folder_of_its_own():
    lines = [line.removeprefix("$ ") for line in README.splitlines()]
    written = [
        re.search(r"--out (\S+)", line) for line in lines if re.match(r"collect |audit (import|intervene plan) ", line)
    ]
    assert all(written), written
    names = [found[1] for found in written] + re.findall(r'Recorder\("([^"]+)"', README)
    assert len(set(names)) == len(names) >= 8
    assert "data/runs" not in names


def test_the_recorders_example_imports_what_it_uses(tmp_path, monkeypatch):
    """With a stand-in for GEPA; `test_the_recorders_example_records_gepa` has GEPA itself."""
    asked = {}
    gepa = types.ModuleType("gepa")
    gepa.optimize = lambda *texts, **options: asked.update(options, texts=texts)
    monkeypatch.setitem(sys.modules, "gepa", gepa)
    monkeypatch.chdir(tmp_path)
    theirs = dict.fromkeys(("seed_candidate", "trainset", "valset", "task_lm", "reflection_lm"), "theirs")
    exec(example(), theirs)
    [recorder] = asked["callbacks"]
    recorder.close()
    assert isinstance(recorder, GEPARecorder)


@pytest.mark.slow
def test_the_recorders_example_records_gepa(tmp_path):
    run_tool("gepa", "run_readme.py", tmp_path)
    assert len(episodes(tmp_path / "data" / "tickets")) > 5
    assert troubles(tmp_path / "data" / "tickets") == []
    assert audit("check", tmp_path / "data" / "tickets")


MADE = {"commands.md", "relations.md", "tables.md"}
"""Pages that the build of the documentation writes; the README must not link to them."""


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
            if "://" not in target and target not in MADE:
                assert (page.parent / target).exists(), f"{page.name}: {target}"

"""Where `make figures` collects records, and where it keeps its hands off."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def make_grid(data: Path, tmp_path: Path, *, default: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `make grid` with programs in place of the environment's that only write down their arguments."""
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    for name in ("python", "collect"):
        program = binaries / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/{name}.arguments"\n')
        program.chmod(0o755)
    (tmp_path / "venv" / ".core").touch()
    (tmp_path / "collect.arguments").unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    command = ["make", "grid", f"DATA={data}", f"DEFAULT_DATA={default or 'data/runs'}", f"VENV={tmp_path / 'venv'}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)


def collected(data: Path, tmp_path: Path, *, default: Path | None = None) -> list[str]:
    """The arguments that `make grid` hands to `collect`, none where it does not collect."""
    result = make_grid(data, tmp_path, default=default)
    assert result.returncode == 0, result.stderr
    message = tmp_path / "collect.arguments"
    return message.read_text().splitlines() if message.exists() else []


def test_the_grid_is_collected_where_there_is_nothing_and_completed_later(tmp_path: Path) -> None:
    data = tmp_path / "a new folder"
    assert collected(data, tmp_path, default=data)[-2:] == ["--out", str(data)]
    assert collected(data, tmp_path, default=data)[-2:] == ["--out", str(data)]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert collected(empty, tmp_path, default=empty)[-2:] == ["--out", str(empty)]
    data.rename(tmp_path / "moved")
    assert collected(tmp_path / "moved", tmp_path)[-2:] == ["--out", str(tmp_path / "moved")]


@pytest.mark.parametrize("name", ["mistyped", "mistyped/path", "with a blank"])
def test_nothing_is_collected_into_a_path_that_does_not_exist(name: str, tmp_path: Path) -> None:
    result = make_grid(tmp_path / "data" / name, tmp_path)
    assert result.returncode != 0
    message, *of_make = result.stderr.splitlines()
    assert message.startswith(f"make: DATA={tmp_path / 'data' / name}: no such folder or archive")
    assert all(line.startswith("make") for line in of_make)
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "collect.arguments").exists()


def test_the_default_grid_has_the_control(tmp_path: Path) -> None:
    assert "puresearch" in collected(tmp_path / "data", tmp_path, default=tmp_path / "data")


def test_records_and_logs_of_anybody_else_are_left_as_they_are(tmp_path: Path) -> None:
    released = tmp_path / "released logs"
    (released / "cartpole_reflective" / "run_1" / "episode_0").mkdir(parents=True)
    archive = tmp_path / "logs.tar.xz"
    archive.write_bytes(b"")
    native = tmp_path / "native"
    (native / "x").mkdir(parents=True)
    (native / "x" / "run.json").write_text("{}")
    (tmp_path / "nothing yet").mkdir()
    for data in (released, archive, native, tmp_path / "nothing yet"):
        assert collected(data, tmp_path) == []
        assert not (data / ".default-grid").exists()


@pytest.mark.parametrize(("given", "folder"), [((), "data/real-grid"), (("DATA=data/mine",), "data/mine")])
def test_a_real_model_answers_into_a_folder_of_its_own(given: tuple[str, ...], folder: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "DATA"}}
    command = ["make", "--dry-run", "real", *given]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    collect = next(line for line in result.stdout.splitlines() if "--backend local" in line)
    assert collect.endswith(f"--out '{folder}'")
    assert f"audit salience '{folder}'" in result.stdout


@pytest.mark.parametrize("others", [False, True])
def test_figures_are_drawn_without_a_viewer_where_it_cannot_be_exported(tmp_path: Path, others: bool) -> None:
    data, view, binaries = tmp_path / "data", tmp_path / "out" / "view", tmp_path / "venv" / "bin"
    for folder in (data, view, binaries):
        folder.mkdir(parents=True)
    view.joinpath("notes.txt" if others else "audit-view.json").touch()
    for name, status in (("python", 0), ("audit", 2), ("figures", 0)):
        program = binaries / name
        program.write_text(f'#!/bin/sh\necho {name} "$@" >> "{tmp_path}/called"\nexit {status}\n')
        program.chmod(0o755)
    for name in (".core", ".notebooks"):
        (tmp_path / "venv" / name).touch()
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    command = ["make", "figures", f"DATA={data}", f"OUT={tmp_path / 'out'}", f"VENV={tmp_path / 'venv'}"]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True, env=environment)
    called = tmp_path.joinpath("called").read_text().splitlines()
    assert called == [
        f"audit view {data} --export {view}",
        f"figures --notebooks notebooks --out {tmp_path / 'out'} {data}",
    ]
    assert view.exists() == others  # the page would link to an earlier export


def test_what_is_checked_and_what_is_tested() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}

    def run_by(target: str) -> set[str]:
        """Which of the programs that check or test are run, and with which marks."""
        command = ["make", "--dry-run", target]
        shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment).stdout
        return set(
            re.findall(r"ruff format --check|ruff check|mypy$|lint-imports|-m '.*'|-m slow", shown, re.MULTILINE)
        )

    lint = {"ruff format --check", "ruff check", "mypy", "lint-imports"}
    assert run_by("test") == {"-m 'not slow'"}
    assert run_by("test-slow") == {"-m slow"}
    assert run_by("lint") == lint
    assert run_by("check") == {*lint, "-m 'not slow'"}


def test_continuous_integration_gives_tests_every_tool_that_make_installs() -> None:
    [installed] = re.findall(r"^TOOLS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    [exported] = re.findall(r"for tool in (.*); do", (ROOT / ".ci" / "run").read_text())
    tests = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    used = {
        *re.findall(r'run_tool\("(\w+)"', tests),
        *map(str.lower, re.findall(r'environ.get\("(\w+)_PYTHON"', tests)),
    }
    assert set(installed.split()) == set(exported.split()) == used

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


def make(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run `make` as from a shell of its own."""
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "DATA"}}
    command = ["make", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=check, env=environment)


def stand_ins(folder: Path, **status: int) -> list[str]:
    """Programs in place of the environment's that only append their names and arguments to `called`, and end so."""
    binaries = folder / "venv" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    for name, code in status.items():
        program = binaries / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >> "{folder}/called"\nexit {code}\n')
        program.chmod(0o755)
    for name in (".core", ".notebooks"):
        (folder / "venv" / name).touch()
    (folder / "called").write_text("")
    return [f"VENV={folder / 'venv'}"]


def collected(data: Path, tmp_path: Path, *, default: Path | None = None, status: int = 0) -> tuple[str, list[str]]:
    """What `make grid` reports, and the calls of `collect`."""
    venv = stand_ins(tmp_path, python=0, collect=0)
    result = make("grid", f"DATA={data}", f"DEFAULT_DATA={default or 'data/runs'}", *venv, check=False)
    assert (result.returncode != 0) == bool(status), result.stderr
    calls = (tmp_path / "called").read_text().splitlines()
    return result.stderr, [call for call in calls if call.startswith("collect ")]


def test_the_grid_is_collected_where_there_is_nothing_and_completed_later(tmp_path: Path) -> None:
    data, empty = tmp_path / "a new folder", tmp_path / "empty"
    empty.mkdir()
    for folder in (data, data, empty):
        _, [call] = collected(folder, tmp_path, default=folder)
        assert call.endswith(f" --out {folder}")
        assert " puresearch " in call  # the control
    data.rename(tmp_path / "moved")
    _, [call] = collected(tmp_path / "moved", tmp_path)
    assert call.endswith(f" --out {tmp_path / 'moved'}")


def test_nothing_is_collected_into_a_path_that_does_not_exist(tmp_path: Path) -> None:
    for name in ("mistyped", "mistyped/path", "with a blank"):
        errors, calls = collected(tmp_path / "data" / name, tmp_path, status=2)
        message, *of_make = errors.splitlines()
        assert message.startswith(f"make: DATA={tmp_path / 'data' / name}: no such folder or archive")
        assert all(line.startswith("make") for line in of_make)
        assert not (tmp_path / "data").exists()
        assert calls == []


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
        assert collected(data, tmp_path)[1] == []
        assert not (data / ".default-grid").exists()


def test_a_real_model_answers_into_a_folder_of_its_own() -> None:
    for given, folder in (((), "data/real-grid"), (("DATA=data/mine",), "data/mine")):
        shown = make("--dry-run", "real", *given).stdout
        collect = next(line for line in shown.splitlines() if "--backend local" in line)
        assert collect.endswith(f"--out '{folder}'")
        assert f"audit salience '{folder}'" in shown


@pytest.mark.parametrize("others", [False, True])
def test_figures_are_drawn_without_a_viewer_where_it_cannot_be_exported(tmp_path: Path, others: bool) -> None:
    data, view = tmp_path / "data", tmp_path / "out" / "view"
    for folder in (data, view):
        folder.mkdir(parents=True)
    view.joinpath("notes.txt" if others else "audit-view.json").touch()
    make("figures", f"DATA={data}", f"OUT={tmp_path / 'out'}", *stand_ins(tmp_path, python=0, audit=2, figures=0))
    assert tmp_path.joinpath("called").read_text().splitlines() == [
        f"audit view {data} --export {view}",
        f"figures --notebooks notebooks --out {tmp_path / 'out'} {data}",
    ]
    assert view.exists() == others  # the page would link to an earlier export


def test_what_is_checked_and_what_is_tested() -> None:
    def run_by(target: str) -> set[str]:
        """Which of the programs that check or test are run, and with which marks."""
        shown = make("--dry-run", target).stdout
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

"""Where `make figures` collects records, and where it keeps its hands off."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="no make")


def collected(data: Path, tmp_path: Path) -> list[str]:
    """The arguments that `make grid` hands to `collect`, none where it does not collect; nothing is run."""
    binaries = tmp_path / "venv" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    for name in ("python", "collect"):
        program = binaries / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{tmp_path}/{name}.arguments"\n')
        program.chmod(0o755)
    (tmp_path / "venv" / ".core").touch()
    told = tmp_path / "collect.arguments"
    told.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    command = ["make", "grid", f"DATA={data}", f"VENV={tmp_path / 'venv'}"]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True, env=environment)
    return told.read_text().splitlines() if told.exists() else []


def test_the_grid_is_collected_where_there_is_nothing_and_completed_later(tmp_path: Path) -> None:
    data = tmp_path / "a new folder"
    assert collected(data, tmp_path)[-2:] == ["--out", str(data)]
    assert collected(data, tmp_path)[-2:] == ["--out", str(data)]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert collected(empty, tmp_path)[-2:] == ["--out", str(empty)]


def test_records_and_logs_of_anybody_else_are_left_as_they_are(tmp_path: Path) -> None:
    released = tmp_path / "released logs"
    (released / "cartpole_reflective" / "run_1" / "episode_0").mkdir(parents=True)
    archive = tmp_path / "logs.tar.xz"
    archive.write_bytes(b"")
    native = tmp_path / "native"
    (native / "x").mkdir(parents=True)
    (native / "x" / "run.json").write_text("{}")
    for data in (released, archive, native):
        assert collected(data, tmp_path) == []
        assert not (data / ".default-grid").exists()

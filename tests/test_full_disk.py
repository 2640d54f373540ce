"""What the machine does to a command is reported in one line: a full disk, a terminal of few characters."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

import figures.cli
import figures.data
import stats.cli

FULL = Path("/dev/full")

needs_full = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


def ends(command: list[str]) -> tuple[int, str]:
    """Exit status and standard error of a command whose standard output is full."""
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    return done.returncode, done.stderr


@needs_full
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["stats.cli", "paper"], "stats"),
        pytest.param(["stats.cli", "paper", "--format", "csv"], "stats", marks=pytest.mark.slow),
        (["collector.cli", "--env", "cartpole", "--variant", "props", "--dry-run"], "collect"),
        pytest.param(
            ["collector.grid", "--dry-run", "--part", "tau-off", "--runs", "1", "--iterations", "1"],
            "paper",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_standard_output_is_full(command: list[str], name: str) -> None:
    status, err = ends(command)
    assert status == 1
    assert err.splitlines()[-1] == f"{name}: [Errno 28] No space left on device"
    assert "Traceback" not in err


def test_standard_output_lacks_characters(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["stats", "paper"])
    with pytest.raises(SystemExit) as ended:
        stats.cli.main()
    assert ended.value.code == 1
    err = capsys.readouterr().err
    assert err.startswith("stats: standard output is ascii, which lacks some of the characters")
    assert err.count("\n") == 1


def test_the_folder_of_temporary_files_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "audit-1/runs.jsonl")

    monkeypatch.setattr(figures.data, "load", load)
    monkeypatch.setattr(sys, "argv", ["figures", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        figures.cli.main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "figures: [Errno 28] No space left on device: 'audit-1/runs.jsonl'\n"

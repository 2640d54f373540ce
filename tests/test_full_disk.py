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
from tests.audit.samples import revision, write_run

FULL = Path("/dev/full")
CHECK = ["check", str(Path(__file__).resolve().parents[1] / "docs/examples/own_table.csv")]

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
        (["stats.cli", *CHECK], "stats"),
        pytest.param(["stats.cli", *CHECK, "--format", "csv"], "stats", marks=pytest.mark.slow),
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


STREAMS = {
    "output closed": (">&-", 1),
    "error closed": ("2>&-", 0),
    "all closed": ("<&- >&- 2>&-", 1),
    "input closed": ("<&-", 0),
    "error full": ("2>/dev/full", 0),
    "both full": (">/dev/full 2>/dev/full", 1),
}


def streamed(redirected: str, *command: object) -> tuple[int, str]:
    """Exit status and standard error of a command with its streams redirected by a shell."""
    run = [] if command[0] == "-c" else ["-m"]
    shell = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, *run, *map(str, command)]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_standard_output_is_closed() -> None:
    status, err = streamed(">&-", "collector.cli", "--env", "cartpole", "--variant", "props", "--dry-run")
    assert (status, err) == (1, "collect: [Errno 9] standard output is closed\n")


@needs_full
@pytest.mark.slow
def test_streams_are_closed_or_full(tmp_path: Path) -> None:
    """What cannot be printed is an error in one line; messages that nobody can read are none."""
    write_run(tmp_path / "a", [revision([1, 5, 9], [2, 2, 2])], backend="simulated")
    wrong = []
    for command in (
        ["audit", "summary", tmp_path],
        ["audit", "sql", tmp_path, "select 1", "--format", "csv"],
        ["audit", "--help"],
        ["audit", "summary", "--help"],
        ["collector.cli", "--help"],
        ["collector.cli", "--env", "cartpole", "--variant", "props", "--dry-run"],
        ["collector.grid", "--help"],
        ["stats.cli", "--help"],
        ["stats.cli", *CHECK],
        ["figures", "--help"],
    ):
        program = ["-c", f"from {command[0]}.cli import main; main()"] if command[0] == "audit" else [command[0]]
        for case, (redirected, expected) in STREAMS.items():
            status, err = streamed(redirected, *program, *command[1:])
            if status != expected or "Traceback" in err or "Exception" in err:
                wrong.append((case, command, status, err))
    assert wrong == []


def test_standard_output_lacks_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_text("method,mean,std,se,n\nÜbung,1.0,2.00,2.00,4\n", encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    monkeypatch.setattr(sys, "argv", ["stats", "check", str(table)])
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
    assert capsys.readouterr().err == "figures: cannot write audit-1/runs.jsonl: No space left on device\n"

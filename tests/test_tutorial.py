"""What the tutorial shows is what its commands print, on the real answers and on the records that it collects."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def shown_on(page: str) -> list[tuple[str, str]]:
    """The commands of a page, and what it shows that they print."""
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    parts = [part.partition("\n") for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, output) for command, _, output in parts]


COMMANDS = shown_on(PAGE)
AUDITS = [(command, output) for command, output in COMMANDS if command.startswith("audit ")]
REAL = [(command, output) for command, output in AUDITS if "data/real" in command]
SIMULATED = [(command, output) for command, output in AUDITS if "data/tutorial" in command]


def printed(command: str, folder: Path) -> list[str]:
    """What a command line prints on a terminal 80 columns wide."""
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": programs, "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    result = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    assert result.returncode == 0, result.stderr
    return lines(result.stdout)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.fixture(scope="module")
def collected(tmp_path_factory) -> Path:
    """A folder in which the tutorial's own command has collected its records."""
    folder = tmp_path_factory.mktemp("tutorial")
    [command] = [command for command, _ in COMMANDS if command.startswith("collect ")]
    printed(command, folder)
    return folder


def test_every_command_of_the_tutorial_is_run_here():
    assert len(REAL) + len(SIMULATED) + 1 == len(COMMANDS)
    assert {command.split()[1] for command, _ in REAL} >= {"salience", "show", "validate"}
    assert PAGE.index("data/real/large") < PAGE.index("data/tutorial")


def test_real_answers_give_what_the_page_shows(monkeypatch, opened_once):
    monkeypatch.chdir(ROOT)
    for command, output in REAL:
        program, _, head = command.partition(" | head -")
        result = CliRunner().invoke(app, shlex.split(program)[1:], env={"COLUMNS": "80"})
        assert result.exit_code == 0, result.stderr
        assert lines(result.stdout)[: int(head or 1000)] == lines(output), command


@pytest.mark.slow
@pytest.mark.parametrize(("command", "output"), SIMULATED, ids=[command for command, _ in SIMULATED])
def test_simulated_records_give_what_the_page_shows(command, output, collected):
    assert printed(command, collected) == lines(output)


@pytest.mark.slow
def test_the_tutorials_python_prints_what_the_page_shows(collected):
    [(program, output)] = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    (collected / "query.py").write_text(program, encoding="utf-8")
    assert printed("python query.py", collected) == lines(output)

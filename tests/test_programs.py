"""What all four programs have: `--version`, `-h`, and completion in the shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.main import get_command

import audit.cli
import collector.cli
import figures.cli
import stats.cli

PROGRAMS = {"collect": collector.cli, "audit": audit.cli, "stats": stats.cli, "figures": figures.cli}
SLOW = [
    *("numpy", "pandas", "duckdb", "matplotlib", "scipy", "statsmodels", "jinja2"),
    *("gymnasium", "mujoco", "numba", "httpx", "ollama", "openai", "torch"),
]

RUN = """\
import json, sys
program, module, slow, *arguments = json.loads(sys.argv[1])
sys.argv = [program, *arguments]
import importlib
try:
    importlib.import_module(module).main()
finally:
    if loaded := sorted(set(slow) & set(sys.modules)):
        print("LOADED", *loaded)
"""


def run(program, *arguments, **environment):
    """A program in a process of its own, as `LOADED` naming the slow packages that it imports."""
    given = json.dumps([program, PROGRAMS[program].__name__, SLOW, *arguments])
    return subprocess.run(
        [sys.executable, "-c", RUN, given],
        env=os.environ | {"COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_version_is_one_line(program: str) -> None:
    done = run(program, "--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{program} {version('salience-audit')}\n", "")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_short_option_asks_for_help(program: str) -> None:
    short, long = run(program, "-h"), run(program, "--help")
    assert (short.returncode, short.stdout, short.stderr) == (0, long.stdout, "")
    for option in ("--version", "--install-completion", "--show-completion", "-h", "--help"):
        assert option in short.stdout
    assert "LOADED" not in short.stdout


COMMANDS = [
    (program, name) for program, module in PROGRAMS.items() for name in getattr(get_command(module.app), "commands", ())
]


@pytest.mark.parametrize(("program", "command"), COMMANDS)
def test_every_command_has_it_too(program: str, command: str, monkeypatch, capsys) -> None:
    shown = []
    for option in ("-h", "--help"):
        monkeypatch.setattr(sys, "argv", [program, command, option])
        with pytest.raises(SystemExit) as ended:
            PROGRAMS[program].main()
        assert ended.value.code in {0, None}
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert f"{program} {command}" in shown[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("collect --pers", "--personality"),
        ("audit sal", "salience"),
        ("audit salience --det", "--detector"),
        ("stats compare --met", "--metric"),
        ("figures --ba", "--band"),
    ],
)
def test_the_shell_completes(line: str, expected: str) -> None:
    program, *words = line.split()
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), f"_{program.upper()}_COMPLETE": "complete_bash"}
    done = run(program, **asked)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [expected], "")

"""What all four programs have: `--version`, `-h`, and completion in the shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import audit.cli
import collector.cli
import collector.grid.cli
import figures.cli
import stats.cli

PROGRAMS = {"collect": collector.cli, "audit": audit.cli, "stats": stats.cli, "figures": figures.cli}
SLOW = [
    *("numpy", "pandas", "duckdb", "matplotlib", "scipy", "statsmodels", "jinja2", "rich"),
    *("gymnasium", "mujoco", "numba", "httpx", "ollama", "openai", "torch"),
]

RUN = """\
import contextlib, importlib, io, json, os, sys

slow, *lines = json.loads(sys.argv[1])
for program, module, environment, *arguments in lines:
    os.environ.update(environment)
    sys.argv = [program, *arguments]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = importlib.import_module(module).main()
        except SystemExit as end:
            status = end.code
    for name in environment:
        del os.environ[name]
    loaded = sorted(set(slow) & set(sys.modules))
    print(json.dumps([status or 0, out.getvalue(), err.getvalue(), loaded]))
"""
OPTIONS = ("--version", "-h", "--help")
COMPLETED = {
    "collect --pers": "--personality",
    "audit sal": "salience",
    "audit salience --det": "--detector",
    "stats compare --met": "--metric",
    "figures --rem": "--remedies",
}


def leaves(command, path) -> list:
    """The commands of a program that have no others, each with the words that call it."""
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [leaf for name, each in command.commands.items() for leaf in leaves(each, [*path, name])]


def completion(line: str) -> list:
    """The program, with what a shell asks it by."""
    program, *words = line.split()
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words)), f"_{program.upper()}_COMPLETE": "complete_bash"}
    return [program, asked]


@pytest.fixture(scope="module")
def ends() -> dict:
    """What programs end with, one after the other in a process of their own, and the slow packages imported so far."""
    lines = {(program, option): [program, {}, option] for program in PROGRAMS for option in OPTIONS}
    lines |= {line: completion(line) for line in COMPLETED}
    given = [[program, PROGRAMS[program].__name__, *rest] for program, *rest in lines.values()]
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps([SLOW, *given])],
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return dict(zip(lines, map(json.loads, done.stdout.splitlines()), strict=True))


def test_the_version_is_one_line(ends) -> None:
    for program in PROGRAMS:
        assert ends[program, "--version"] == [0, f"{program} {version('salience-audit')}\n", "", []]


def test_a_short_option_asks_for_help(ends) -> None:
    for program, module in PROGRAMS.items():
        status, shown, err, loaded = ends[program, "-h"]
        assert (status, err, loaded) == (0, "", [])
        assert shown == ends[program, "--help"][1]
        for option in ("--version", "--install-completion", "--show-completion", "-h", "--help"):
            assert option in shown
        for command in getattr(get_command(module.app), "commands", ()):
            assert command in shown


def test_every_command_has_it_too() -> None:
    for program, module in PROGRAMS.items():
        for path, _ in leaves(get_command(module.app), []):
            shown = [CliRunner().invoke(module.app, [*path, each], prog_name=program) for each in ("-h", "--help")]
            assert {result.exit_code for result in shown} == {0}, path
            assert len({result.stdout for result in shown}) == 1
            assert " ".join([program, *path]) in shown[0].stdout


def test_help_holds_at_80_columns_with_every_name_whole(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    wrong = []
    for program, module in {**PROGRAMS, "python -m collector.grid": collector.grid.cli}.items():
        found: list = [(get_command(module.app), [])]
        while found:
            command, words = found.pop()
            found += [(each, [*words, name]) for name, each in getattr(command, "commands", {}).items()]
            shown = CliRunner().invoke(module.app, [*words, "--help"], prog_name=program).stdout
            words = [program, *words]
            names = [name for each in command.params for name in (*each.opts, *each.secondary_opts) if name[:1] == "-"]
            wrong += [(words, line) for line in shown.splitlines() if len(line) > 80 or "…" in line]
            wrong += [(words, name) for name in names if not re.search(rf"(?<![\w-]){name}(?![\w-])", shown)]
    assert wrong == []


def test_the_shell_completes(ends) -> None:
    found = {line: ends[line][:3] for line in COMPLETED}
    assert found == {line: [0, found[line][1], ""] for line in COMPLETED}
    assert {line: out.split() for line, (_, out, _) in found.items()} == {
        line: [expected] for line, expected in COMPLETED.items()
    }

"""Every option and argument that is a number has bounds, shows them, and refuses what lies beyond in one line."""

from __future__ import annotations

import re
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import audit.cli
import collector.grid.cli
from tests.test_programs import PROGRAMS as ALL
from tests.test_programs import leaves

PROGRAMS = {**ALL, "python -m collector.grid": collector.grid.cli}
ABSURD = ["9" * 20, "-" + "9" * 20, "9" * 5000, "nan", "inf", "-inf", "many", ""]


def is_number(parameter):
    described = getattr(parameter, "type_descriptor", None)
    return described is not None and described.annotation in {int, float}


COMMANDS = [leaf for name, module in PROGRAMS.items() for leaf in leaves(get_command(module.app), [name])]
NUMBERS = [
    (path, command, parameter) for path, command in COMMANDS for parameter in command.params if is_number(parameter)
]


def test_numbers_are_found_and_have_bounds():
    assert len(NUMBERS) > 50
    assert {path[0] for path, *_ in NUMBERS} == set(PROGRAMS) - {"figures"}
    assert [(path, each.opts[0]) for path, _, each in NUMBERS if each.min is None or each.max is None] == []


def test_what_lies_beyond_the_bounds_is_one_line(monkeypatch, capsys):
    failures = []
    for path, command, parameter in NUMBERS:
        for value in [*ABSURD, repr(parameter.min - 1), repr(parameter.max + 1)]:
            monkeypatch.setattr(
                sys, "argv", [path[0].removeprefix("python -m "), *path[1:], *line(command, parameter, value)]
            )
            with pytest.raises(SystemExit) as ended:
                PROGRAMS[path[0]].main()
            printed = capsys.readouterr()
            told = re.fullmatch(r"[^\n]{1,300}\n", printed.err)
            internal = re.search(r"Value error|Input should|unable to parse|Traceback", printed.err)
            if (ended.value.code, printed.out) != (2, "") or not told or internal:
                failures.append((path, parameter.opts[0], value[:30], ended.value.code, printed))
    assert failures == []


def line(command, parameter, value):
    """The arguments of a command that gives a parameter this value, and others that are required a sound one."""
    name = parameter.opts[0]
    is_option = name.startswith("--")
    words = [f"{name}={value}"] if is_option else []
    for other in command.params:
        if other is parameter and not is_option:
            words.append(value)
        elif other.required:
            words += [other.opts[0], "1"] if other.opts[0].startswith("--") else ["1"]
    return words


def test_help_shows_the_bounds():
    shown = CliRunner().invoke(audit.cli.app, ["rescore", "--help"]).stdout
    assert "2<=x<=1000000" in re.sub(r"\s+", "", shown)

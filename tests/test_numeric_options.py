"""Every option and argument that is a number has bounds, shows them, and refuses what lies beyond in one line."""

from __future__ import annotations

import re
import signal
import sys

import pytest
from typer.main import get_command

import audit.cli
import collector.cli
import collector.grid.cli
import figures.cli
import stats.cli

PROGRAMS = {
    "collect": collector.cli,
    "python -m collector.grid": collector.grid.cli,
    "audit": audit.cli,
    "stats": stats.cli,
    "figures": figures.cli,
}
ABSURD = ["9" * 20, "-" + "9" * 20, "9" * 5000, "nan", "inf", "-inf", "many", ""]


@pytest.fixture(autouse=True)
def own_signals():
    """The collector's commands set a handler for the whole process."""
    kept = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, kept)


def leaves(command, path):
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [leaf for name, each in command.commands.items() for leaf in leaves(each, [*path, name])]


def is_number(parameter):
    described = getattr(parameter, "type_descriptor", None)
    return described is not None and described.annotation in {int, float}


COMMANDS = {
    " ".join(path): (path, command)
    for name, module in PROGRAMS.items()
    for path, command in leaves(get_command(module.app), [name])
}
NUMBERS = [
    pytest.param(path, command, parameter, id=f"{name} {parameter.opts[0]}")
    for name, (path, command) in COMMANDS.items()
    for parameter in command.params
    if is_number(parameter)
]


def test_numbers_are_found():
    assert len(NUMBERS) > 50
    assert {path[0] for path, *_ in (number.values for number in NUMBERS)} == set(PROGRAMS) - {"figures"}


@pytest.mark.parametrize(("path", "command", "parameter"), NUMBERS)
def test_a_number_has_bounds_and_what_lies_beyond_is_one_line(path, command, parameter, monkeypatch, capsys):
    low, high = parameter.min, parameter.max
    assert low is not None
    assert high is not None
    name = parameter.opts[0]
    for value in [*ABSURD, repr(low - 1), repr(high + 1)]:
        is_option = name.startswith("--")
        line = [f"{name}={value}"] if is_option else []
        for other in command.params:
            if other is parameter and not is_option:
                line.append(value)
            elif other.required:
                line += [other.opts[0], "1"] if other.opts[0].startswith("--") else ["1"]
        monkeypatch.setattr(sys, "argv", [path[0].removeprefix("python -m "), *path[1:], *line])
        with pytest.raises(SystemExit) as ended:
            PROGRAMS[path[0]].main()
        printed = capsys.readouterr()
        assert (ended.value.code, printed.out) == (2, ""), (value, printed.err)
        assert re.fullmatch(r"[^\n]{1,300}\n", printed.err), value
        assert not re.search(r"Value error|Input should|unable to parse|Traceback", printed.err)


def test_help_shows_the_bounds(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["audit", "rescore", "--help"])
    with pytest.raises(SystemExit):
        audit.cli.main()
    assert "2<=x<=1000000" in re.sub(r"\s+", "", capsys.readouterr().out)

"""What is converted without Pydantic, and that it is what Typer makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
import typer
from typer.main import get_command

import audit.cli
import collector.cli
import collector.grid.cli
import figures.cli
import stats.cli
from collector.command_line import NotPlainError, convert_plainly, plain

GIVEN = (
    *("", "a", "0", "1", "-1", "007", "+5", " 5", "5 ", "1_0", "10", "1e3", "1.50", ".5", "5.", "-0", "-0.0", "0.1"),
    *("5.0", "99999999999999999999", "9007199254740993", "123456789012345.123456789012345", "inf", "nan", "-inf"),
    *("true", "no", "csv", "CSV", "table", "json", "std", "all", "stop", "local", "3/16", "3/2", "s3://a/b", "~/x"),
    *(".", "/", "/nonexistent/x", "a\0b", "a\udcffb", "é", "١", "mean_return", "table "),
)


@pytest.fixture(scope="module")
def parameters() -> list:
    """Every option and argument of every command."""
    programs = (audit.cli, collector.cli, collector.grid.cli, figures.cli, stats.cli)
    waiting = [get_command(module.app) for module in programs]
    found = []
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        found += command.params
    assert len(found) > 300
    return found


def outcome(convert) -> tuple:
    """What a conversion ends with: the value and its type, or none."""
    try:
        value = convert()
    except Exception:
        return ()
    return type(value), repr(value), list(map(type, value)) if isinstance(value, list) else None


def test_plain_values_are_what_typer_makes_of_them(parameters) -> None:
    wrong, known = [], 0
    seen = set()
    for parameter in parameters:
        several = parameter.multiple or parameter.nargs == -1
        values = [None, parameter.default, *([[each], ["1", each]] if several else [each] for each in GIVEN)]
        values = [each for given in values for each in (given if isinstance(given, list) else [given])]
        info = parameter.type_descriptor.parameter_info
        kind = repr((parameter.type_descriptor.annotation, info.min, info.max, info.parser, parameter.multiple))
        if kind in seen:
            values = values[:2]
        seen.add(kind)
        for value in values:
            try:
                made = plain(value, parameter)
            except NotPlainError:
                continue
            known += 1
            # Typer's own way, by its class.
            asked = type(parameter).get_runtime_param(parameter)
            theirs = outcome(lambda asked=asked, value=value, parameter=parameter: asked.coerce(value, parameter, None))
            ours = outcome(lambda made=made: made)
            if ours != theirs:
                wrong.append((parameter.name, value, ours, theirs))
    assert wrong == []
    assert known > 1000


def test_an_empty_path_is_refused_by_every_command(parameters) -> None:
    annotated = [(each, each.type_descriptor.annotation) for each in parameters]
    paths = [each for each, annotation in annotated if Path in (annotation, *get_args(annotation))]
    assert len(paths) > 50
    convert_plainly(paths)
    for each in paths:
        for given in ("", ["data", ""]):
            with pytest.raises(typer.BadParameter, match="the path is empty"):
                each.get_runtime_param().coerce(given, each, None)
        del each.get_runtime_param  # as Typer made it


def test_defaults_and_what_is_usually_typed_is_plain(parameters) -> None:
    for parameter in parameters:
        plain(None, parameter)
        if parameter.default is not None and not callable(parameter.default):
            plain(parameter.default, parameter)
    by_name = {parameter.name: parameter for parameter in parameters}
    typed = {"paths": ["a", "/"], "output": "csv", "limit": "5", "alpha": "0.5", "detector": "phrase", "env": ["x"]}
    assert [plain(value, by_name[name]) for name, value in typed.items()][:2] == [["a", "/"], "csv"]


def test_what_is_not_certain_is_left_to_typer(parameters) -> None:
    by_name = {parameter.name: parameter for parameter in parameters}
    given = {"limit": "x", "alpha": "nan", "output": "xml", "detector": "a\udcffb", "env": ["\ud800"]}
    for name, value in given.items():
        with pytest.raises(NotPlainError):
            plain(value, by_name[name])


def test_a_version_of_typer_that_converts_otherwise_is_left_as_it_is() -> None:
    class Old:
        """A parameter of a version that has no converters."""

        __slots__ = ()

    old = Old()
    convert_plainly([old])
    assert [name for name in dir(old) if name not in dir(Old)] == []

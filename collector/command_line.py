"""Commands without Pydantic, by which Typer converts the value of every option, where values are plain."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand

_INTEGER: Final = re.compile("0|-?[1-9][0-9]{0,17}")
_DECIMAL: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")


class Command(TyperCommand):
    """A command that imports Pydantic only for values that it does not know how to convert."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read options and arguments."""
        convert_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)


def convert_plainly(parameters: Sequence[Any]) -> None:
    """Convert values of a command's parameters as Typer does, without importing Pydantic for those that are plain.

    Typer asks a parameter for its converter by `get_runtime_param`. Versions that do not are left as they are.

    Args:
        parameters: options and arguments, which are changed.
    """
    for parameter in parameters:
        if hasattr(parameter, "get_runtime_param") and hasattr(parameter, "type_descriptor"):
            parameter.get_runtime_param = partial(_Converter, parameter)


class _Converter:
    """What converts the values of a parameter; all that is not certain is left to Typer, errors for one."""

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, of the parameter's type.

        Raises:
            typer.BadParameter: it is empty, as of a variable of the shell that is not set, and would be this folder.
        """
        if "" in (value if isinstance(value, list | tuple) else [value]) and _is_path(self.parameter):
            raise typer.BadParameter("the path is empty", ctx=ctx, param=param)
        try:
            return plain(value, self.parameter)
        except NotPlainError:
            return type(self.parameter).get_runtime_param(self.parameter).coerce(value, param=param, ctx=ctx)


class NotPlainError(Exception):
    """It takes Typer to say what a value is, or what is wrong with it."""


def plain(value: Any, parameter: Any) -> Any:
    """The value of a parameter, of its type.

    Args:
        value: as it was typed, or the default.
        parameter: of a command that Typer has made.

    Raises:
        NotPlainError: that is not certain.
    """
    is_several = parameter.multiple or parameter.nargs == -1
    if value is None:
        return () if is_several else None
    descriptor = parameter.type_descriptor
    annotation, info = descriptor.annotation, descriptor.parameter_info
    if get_origin(annotation) is list and is_several and isinstance(value, list | tuple):
        return [_one(each, get_args(annotation)[0], info) for each in value]
    return _one(value, annotation, info)


def _one(value: Any, kind: Any, info: Any) -> Any:
    if isinstance(value, str) and not _is_encodable(value):
        raise NotPlainError
    if info.parser is not None:
        try:
            return info.parser(value)
        except Exception as error:
            raise NotPlainError from error
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice(value, list(kind), info)
    if get_origin(kind) is Literal:
        return _choice(value, get_args(kind), info)
    if kind in {str, bool} and type(value) is kind:
        return value
    if kind in {int, float}:
        return _number(value, kind, info)
    if kind is Path and (isinstance(value, Path) or (type(value) is str and value)):
        return _path(Path(value), info)
    raise NotPlainError


def _is_path(parameter: Any) -> bool:
    annotation = parameter.type_descriptor.annotation
    return Path in (annotation, *get_args(annotation))


def _is_encodable(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _choice(value: Any, choices: Sequence[Any], info: Any) -> Any:
    found = [each for each in choices if value is each or (type(value) is str and value == _name(each))]
    if not info.case_sensitive or len(found) != 1:
        raise NotPlainError
    return found[0]


def _name(choice: Any) -> str:
    return str(choice.value if isinstance(choice, Enum) else choice)


def _number(value: Any, kind: type[int] | type[float], info: Any) -> int | float:
    form = _INTEGER if kind is int else _DECIMAL
    if type(value) not in {int, kind} and not (type(value) is str and form.fullmatch(value)):
        raise NotPlainError
    number = kind(value)
    is_within = (info.min is None or number >= info.min) and (info.max is None or number <= info.max)
    if not is_within or number - number != 0:  # not for infinity and NaN
        raise NotPlainError
    return number


def _path(path: Path, info: Any) -> Path:
    """A path that need not exist and that may be a file or a folder, as of all options so far."""
    if info.resolve_path or info.allow_dash or info.exists or info.writable or info.path_type is not None:
        raise NotPlainError
    if not (info.file_okay and info.dir_okay):
        raise NotPlainError
    try:
        path.stat()
    except OSError:
        return path
    except ValueError as error:
        raise NotPlainError from error
    if info.readable and not os.access(path, os.R_OK):
        raise NotPlainError
    return path

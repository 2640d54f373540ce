"""How the table of a command is printed: its format, and which columns and rows in which order."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from audit.commands.options import ColumnsOption, Format, FormatOption, LimitOption, SortOption
from audit.output.rows import Table
from audit.request import note


class Asked(Protocol):
    """What users ask of a table: a `Request` has it, or what `printing` makes of the options."""

    @property
    def output(self) -> str:
        """The format."""

    @property
    def columns(self) -> Sequence[str] | None:
        """The columns; None for all."""

    @property
    def sort(self) -> Sequence[str]:
        """The columns to sort by."""

    @property
    def limit(self) -> int | None:
        """The largest number of rows; None for all."""


@dataclass(frozen=True, kw_only=True)
class Printing:
    """What users ask of a table."""

    output: str
    columns: Sequence[str] | None
    sort: Sequence[str]
    limit: int | None


def deliver(table: Table, asked: Asked) -> None:
    """Print a table, and its notes on standard error."""
    with table, arranged(table, asked) as shown:
        show(shown, asked.output)


def show(table: Table, output: str) -> None:
    """The same without what is asked of its columns and rows."""
    for line in table.notes:
        note(line)
    table.print(output)


def arranged(table: Table, asked: Asked) -> Table:
    """The columns and rows that are asked for; without any such option the table as it is."""
    if asked.columns is None and not asked.sort and asked.limit is None:
        return table
    return table.select(asked.columns, sort=asked.sort, limit=asked.limit)


def _options(
    output: FormatOption = Format.table,
    columns: ColumnsOption = None,
    sort: SortOption = None,
    limit: LimitOption = None,
) -> Printing:
    return Printing(output=output.value, columns=names(columns), sort=names(sort) or (), limit=limit)


OPTIONS: Final = inspect.signature(_options, eval_str=True).parameters
"""The options that `printing` adds, by the names of their parameters."""


def printing(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of tables; its first argument is then what they ask."""
    _, *own = inspect.signature(function, eval_str=True).parameters.values()

    @functools.wraps(function)
    def command(**given: Any) -> None:
        asked = _options(**{name: given.pop(name) for name in OPTIONS})
        function(asked, **given)

    # Typer reads both: the options and their types.
    parameters = [*own, *OPTIONS.values()]
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def names(given: Sequence[str] | None) -> list[str] | None:
    """The columns of an option that is repeated or has several, with commas between."""
    return None if given is None else [name.strip() for each in given for name in each.split(",") if name.strip()]

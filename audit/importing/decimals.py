"""Decimal commas: which mark the numbers of a CSV file have before their decimals."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final

from audit.importing.fields import FieldError, kind_of
from audit.importing.mapping import Decimal, LogMapping
from audit.importing.rows import look_up, read_rows
from audit.output.escaping import excerpt

COMMA: Final[Decimal] = ","
POINT: Final[Decimal] = "."

_NUMBER: Final = re.compile(r"[+-]?[0-9]*[,.][0-9]+(?:[eE][+-]?[0-9]{1,3})?")
_GROUPED: Final = re.compile(r"[+-]?[1-9][0-9]{0,2}[,.][0-9]{3}")
"""In these the mark may precede decimals or thousands."""


def decimal_of(path: Path, mapping: LogMapping) -> Decimal:
    """Which mark a CSV file has: as the mapping states, else as the first unambiguous number shows.

    Where commas are between the cells, and in what can be read only once, such as a pipe, it is a point unless the
    mapping states otherwise.

    Raises:
        FieldError: there are numbers with commas, and none shows what these are.
    """
    if mapping.decimal is not None:
        return mapping.decimal
    if (mapping.delimiter or COMMA) == COMMA and path.suffix.lower() != ".tsv":
        return POINT
    if not path.is_file():
        return POINT
    with contextlib.closing(_numbers(path, mapping)) as numbers:
        return mark_of(numbers)


def mark_of(numbers: Iterable[tuple[int, str]]) -> Decimal:
    """Which mark is before the decimals of numbers, as the first that is not ambiguous shows.

    Args:
        numbers: their lines and texts; what is no number with decimals is ignored.

    Raises:
        FieldError: there are numbers with commas, and none shows what these are.
    """
    doubtful = None
    for line, number in numbers:
        if not _NUMBER.fullmatch(number):
            continue
        mark = COMMA if COMMA in number else POINT
        if not _GROUPED.fullmatch(number):
            return mark
        if mark == COMMA and doubtful is None:
            doubtful = f"line {line}: {excerpt(number)}"
    if doubtful is not None:
        raise FieldError(
            f"{doubtful} may have decimals or thousands behind its comma; [source] decimal can be ',', or '.' with "
            "numbers that have no commas"
        )
    return POINT


def _numbers(path: Path, mapping: LogMapping) -> Generator[tuple[int, str], None, None]:
    """The numbers with decimals or the like, and their lines; those of a list in JSON have points in any case."""
    named = {name: column for name, column in mapping.columns.items() if name not in mapping.values}
    single = [column for name, column in named.items() if kind_of(name).type is float]
    lists = [column for name, column in named.items() if kind_of(name).type == list[float] and mapping.separator]
    if not single and not lists:
        return
    for row in read_rows(path, mapping):
        cells = [text for column in single if isinstance(text := look_up(row.cells, column), str)]
        for column in lists:
            if isinstance(text := look_up(row.cells, column), str):
                cells += text.strip("[] ").split(mapping.separator)
        yield from ((row.line, text) for text in map(str.strip, cells))

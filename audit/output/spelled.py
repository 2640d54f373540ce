"""Rows of CSV that DuckDB spells: numbers and truth values that stand side by side are one text when they arrive.

They are spelled as Python spells them: whole numbers in digits, a double in the fewest digits that are no other number,
truth values as `true` and `false`, and what is no finite number is empty. None of these needs quotation marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Protocol, runtime_checkable

WHOLE: Final = frozenset(
    {
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    }
)


@dataclass(frozen=True)
class Spelled:
    """Rows as pieces of their lines.

    Attributes:
        are_texts: of each piece whether it is one text, which is still to be escaped; otherwise it is fields as they
            are written, with commas between them.
        rows: the pieces of each row; None for a text that is null.
    """

    are_texts: Sequence[bool]
    rows: Iterator[Sequence[Any]]


@runtime_checkable
class Spelling(Protocol):
    """Rows that may come in pieces of their lines."""

    def spelled(self, columns: Sequence[str]) -> Spelled | None:
        """The rows in pieces; None where some of the columns are of a type that is not spelled."""


def pieces(columns: Sequence[tuple[str, str]]) -> list[tuple[str, bool]] | None:
    """The SQL of each piece, and whether it is a text that is still to be escaped; None where there are none.

    Args:
        columns: names in SQL and types, as DuckDB has them. A single one is not spelled: its line may not be empty.
    """
    fields = [_field(column, kind) for column, kind in columns]
    if len(columns) < 2 or None in fields:
        return None
    found: list[tuple[str, bool]] = []
    for is_text, some in groupby(filter(None, fields), key=lambda field: field[1]):
        if is_text:
            found += some
        else:
            found.append((f"concat_ws(',', {', '.join(sql for sql, _ in some)})", False))
    return found


def _field(column: str, kind: str) -> tuple[str, bool] | None:
    if kind in WHOLE or kind == "BOOLEAN":
        return f"coalesce({column}::varchar, '')", False
    if kind == "DOUBLE":
        return f"if(isfinite({column}), {column}::varchar, '')", False
    if kind == "VARCHAR":
        return column, True
    if kind.removesuffix("[]") in WHOLE:
        return f"array_to_string(list_transform({column}, lambda each: coalesce(each::varchar, 'None')), ' ')", True
    return None

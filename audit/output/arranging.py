"""Which columns and rows of a result are wanted, in which order."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audit.output.errors import UsageError
from audit.output.escaping import in_line
from audit.output.formats import Row
from audit.output.names import meant

if TYPE_CHECKING:
    import duckdb

Order = tuple[str, bool]
"""A column, and whether its largest values come first."""


def chosen(
    option: str, names: Sequence[str], columns: Sequence[str], headings: Mapping[str, str] | None = None
) -> list[str]:
    """The columns of some names, which may be headings as tables print them, each once.

    Raises:
        UsageError: there is no such column; the message has names that are near.
    """
    found = [meant(name, columns, headings or {}) for name in names]
    for name in found:
        if name not in columns:
            near = difflib.get_close_matches(name, columns, n=3)
            hint = f"did you mean {_either(near)}?" if near else f"columns are {', '.join(columns)}"
            raise UsageError(in_line(f"{option} {name}: no such column; {hint}"))
    return list(dict.fromkeys(found))


def orders(names: Sequence[str], columns: Sequence[str], headings: Mapping[str, str] | None = None) -> list[Order]:
    """The orders that `COLUMN` and `-COLUMN` stand for, with a column's name or its heading.

    Raises:
        UsageError: there is no such column.
    """
    found = []
    for name in names:
        bare = name if name in columns else name.removeprefix("-")
        found.append((chosen("--sort", [bare], columns, headings)[0], bare != name))
    return found


def arranged(rows: Sequence[Row], sort: Sequence[Order], limit: int | None) -> list[Row]:
    """Rows in an order, nulls last, those that are equal as they were; the first ones of them."""
    found = list(rows)
    for column, descending in reversed(sort):
        known = [row for row in found if row[column] is not None]
        known.sort(key=lambda row: _key(row[column]), reverse=descending)
        found = known + [row for row in found if row[column] is None]
    return found[:limit]


def arranged_relation(
    relation: duckdb.DuckDBPyRelation, sort: Sequence[Order], limit: int | None
) -> duckdb.DuckDBPyRelation:
    """The same of the rows of a relation."""
    if sort:
        place = "place before sorting"
        terms = [f"{quoted(column)} {'desc' if descending else 'asc'} nulls last" for column, descending in sort]
        numbered = relation.project(f"*, row_number() over () as {quoted(place)}")
        relation = numbered.order(", ".join([*terms, quoted(place)])).project(f"* exclude ({quoted(place)})")
    return relation if limit is None else relation.limit(limit)


def quoted(column: str) -> str:
    """The name of a column in SQL."""
    return '"' + column.replace('"', '""') + '"'


def _either(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def _key(value: Any) -> tuple[bool, float, str]:
    """Numbers by size, then texts."""
    is_number = isinstance(value, int | float)
    return (not is_number, value if is_number else 0, "" if is_number else str(value))

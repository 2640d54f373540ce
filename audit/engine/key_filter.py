"""SQL that selects rows by their keys."""

from __future__ import annotations

from collections.abc import Sequence

from audit.vocabulary.keys import RevisionKey, RunKey


def one_of(keys: Sequence[RunKey] | Sequence[RevisionKey]) -> str:
    """A condition: of one of these runs, or one of these revisions; false where there is none."""
    if not keys:
        return "false"
    named = ", ".join(f"({', '.join(map(literal, key))})" for key in keys)
    # Bounds of each column alone have DuckDB leave out most of what a list of keys would have it read.
    bounds = " and ".join(
        f"{name} between {literal(min(values))} and {literal(max(values))}"
        for name, values in zip(keys[0]._fields, zip(*keys, strict=True), strict=True)
    )
    return f"({bounds} and ({', '.join(keys[0]._fields)}) in ({named}))"


def literal(value: object) -> str:
    """A name or a number in SQL."""
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"

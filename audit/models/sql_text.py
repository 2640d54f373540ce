"""Keys, values and paths as SQL has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

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


def exactly(path: Path) -> str:
    """A pattern that matches one file alone: DuckDB takes `run[1]` for a folder `run1`, and `*` for every one."""
    return re.sub(r"[\[*?]", r"[\g<0>]", str(path))


def plainly(path: Path) -> Path:
    """The path, made absolute where DuckDB would take its beginning for a home folder (`~`) or an address (`file:`)."""
    return path.absolute() if re.match(r"~|[\w+.-]+:", str(path)) else path

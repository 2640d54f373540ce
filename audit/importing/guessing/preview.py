"""The first records of a trial import, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import excerpt
from audit.output.formats import Row
from audit.output.rows import Table

ROWS: Final = 3


def plain_table(title: str, columns: Sequence[str], rows: Sequence[Row], notes: Sequence[str] = ()) -> Table:
    """A table whose rows belong to no condition."""
    return Table(
        columns=columns,
        rows=rows,
        title=title,
        notes=notes,
        plain=True,
    )


def preview_of(folder: Path) -> Table:
    """The first three records in a folder: a row per field that one of them has."""
    records: list[dict[str, Any]] = []
    for path in sorted(folder.rglob("episodes.jsonl")):
        with path.open(encoding="utf-8") as lines:
            records += [dict(_entries(json.loads(line))) for line in islice(lines, ROWS - len(records))]
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = ("field", *(f"row {number}" for number in range(1, len(records) + 1)))
    rows = [
        dict(zip(columns, (name, *(_shown(record.get(name)) for record in records)), strict=True))
        for name in names
        if any(record.get(name) is not None for record in records)
    ]
    return plain_table("As imported", columns, rows)


def _entries(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in record.items():
        if isinstance(value, dict):
            yield from _entries(value, f"{prefix}{name}.")
        elif name == "shown" and value:
            yield f"{prefix}{name}", [f"{item['label']} {item['return']}" for item in value]
        else:
            yield f"{prefix}{name}", value


def _shown(value: Any) -> str | None:
    return None if value is None else excerpt(value)

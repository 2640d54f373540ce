"""The rows of a Parquet file, as transcript databases of Inspect Scout are made of."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb

from audit.importing.fields import FieldError, nested
from audit.models.connection import connect
from audit.models.plain_types import plain
from audit.models.sql_text import exactly
from collector.system.stopping import temporary_folder

_AT_ONCE: Final = 100
"""Rows that are in memory at once: transcripts may be long."""
_EVENTS: Final = ("events", "events_data", "timelines")
"""Columns of Scout that repeat what is in the messages of a transcript, and can have megabytes of it."""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with_metadata(cells: dict[str, str]) -> dict[str, str]:
    """A row with what is under `metadata`, where Scout leaves what it finds in Phoenix: other metadata are columns."""
    inner = nested(cells.get("metadata", ""))
    if not isinstance(inner, dict):
        return cells
    return {**{str(name): _text(value) for name, value in inner.items() if value is not None}, **cells}


def parquet_rows(path: Path, columns: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Each row by column, values as text as they are in CSV: so are scores and objects in what Scout writes.

    What is null is left out, and so are Scout's records of everything that happened, unless they are asked for.

    Args:
        path: the file.
        columns: those that the mapping names.

    Raises:
        FieldError: the file is no Parquet file, or is damaged.
    """
    with temporary_folder() as folder, contextlib.closing(connect(folder)) as connection:
        try:
            relation = connection.read_parquet(exactly(path))
            unread = [name for name in _EVENTS if name in relation.columns and name not in columns]
            relation = plain(relation.select(duckdb.StarExpression(exclude=unread)))
            found = connection.execute(relation.sql_query())
            while rows := found.fetchmany(_AT_ONCE):
                for row in rows:
                    cells = zip(relation.columns, row, strict=True)
                    yield _with_metadata({name: _text(value) for name, value in cells if value is not None})
        except duckdb.Error as error:
            raise FieldError(f"not a Parquet file, or a damaged one ({str(error).splitlines()[0]})") from None

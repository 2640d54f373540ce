"""The rows of a Parquet file, as transcript databases of Inspect Scout are made of."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb

from audit.engine.connection import connect
from audit.engine.paths import exactly
from audit.engine.plain_types import plain
from audit.importing.fields import FieldError, nested
from collector.system.stopping import temporary_folder

_AT_ONCE: Final = 100
"""Rows that are in memory at once: transcripts may be long."""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _with_metadata(cells: dict[str, str]) -> dict[str, str]:
    """A row with what is under `metadata`, where Scout leaves what it finds in Phoenix: other metadata are columns."""
    inner = nested(cells.get("metadata", ""))
    if not isinstance(inner, dict):
        return cells
    return {**{str(name): _text(value) for name, value in inner.items() if value is not None}, **cells}


def parquet_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Each row by column, values as text as they are in CSV: so are scores and objects in what Scout writes.

    What is null is left out.

    Raises:
        FieldError: the file is no Parquet file, or is damaged.
    """
    with temporary_folder() as folder, contextlib.closing(connect(folder)) as connection:
        try:
            relation = plain(connection.read_parquet(exactly(path)))
            found = connection.execute(relation.sql_query())
            while rows := found.fetchmany(_AT_ONCE):
                for row in rows:
                    cells = zip(relation.columns, row, strict=True)
                    yield _with_metadata({name: _text(value) for name, value in cells if value is not None})
        except duckdb.Error as error:
            raise FieldError(f"not a Parquet file, or a damaged one ({str(error).splitlines()[0]})") from None

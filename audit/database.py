"""A DuckDB database that builds the relations of `audit/models` when they are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import duckdb

from audit.catalog import STORED, invariants, models, named_in
from audit.problems import AuditError

MEMORY_LIMIT: Final = "2GB"
"""DuckDB's own memory; beyond it DuckDB works from the temporary folder."""


class Database:
    """Relations by name, over the files and options that variables name."""

    def __init__(self, directory: Path) -> None:
        self._connection = duckdb.connect(
            config={"memory_limit": MEMORY_LIMIT, "temp_directory": str(directory / "spill")}
        )
        self._built: set[str] = set()

    def set(self, variable: str, value: Any) -> None:
        """Set a variable that models read with `getvariable`; its name is the program's, its value is bound."""
        self._connection.execute(f"set variable {variable} = ?", [value])

    def relation(self, name: str) -> duckdb.DuckDBPyRelation:
        """A relation by its name, built first where this has not happened yet, with those that it reads.

        Raises:
            AuditError: there is no such relation.
        """
        self._build(name)
        return self._connection.table(name)

    def violations(self, invariant: str) -> list[tuple[Any, ...]]:
        """The rows for which an invariant of `audit/models/invariants` does not hold."""
        text = invariants()[invariant]
        for needed in sorted(named_in(text)):
            self._build(needed)
        return self._connection.sql(text).fetchall()

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def _build(self, name: str) -> None:
        if name in self._built:
            return
        if name not in models():
            raise AuditError(f"no relation {name!r}; relations are {', '.join(models())}")
        for needed in sorted(named_in(models()[name]) - {name}):
            self._build(needed)
        query = self._connection.sql(models()[name])
        if name in STORED:
            query.to_table(name)
        else:
            query.to_view(name)
        self._built.add(name)

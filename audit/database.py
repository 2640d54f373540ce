"""A DuckDB database that builds the relations of `audit/models` when they are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import duckdb

from audit.catalog import STORED, functions, invariants, models, named_in
from audit.makers import MAKERS, Maker
from audit.memory import memory_limit
from audit.paths import exactly
from audit.problems import AuditError

ROW_GROUP: Final = 8192
"""Records that are written at once: few enough that long answers do not fill the memory."""


class Database:
    """Relations by name, over the files and options that variables name."""

    def __init__(self, directory: Path) -> None:
        self._connection = duckdb.connect(
            config={"memory_limit": memory_limit(), "temp_directory": str(directory / "spill")}
        )
        self._built: set[str] = set()
        self._directory = directory
        self._stand_ins: dict[str, str] = {}
        for statement in functions().values():
            self._connection.execute(statement)

    def set(self, variable: str, value: Any) -> None:
        """Set a variable that models read with `getvariable`; its name is the program's, its value is bound.

        A path, or each of a list of them, stands for the file of that name alone.
        """
        self._connection.execute(f"set variable {variable} = ?", [_bound(value)])

    def stand_in(self, name: str, other: str) -> None:
        """Let another model's SELECT make a relation; it has the same columns."""
        self._stand_ins[name] = other

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

    def write(self, name: str, path: Path) -> None:
        """Write a relation to a Parquet file."""
        self._build(name)
        self._connection.execute(
            f'copy "{name}" to ? (format parquet, compression zstd, row_group_size {ROW_GROUP})', [str(path)]
        )

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def _build(self, name: str) -> None:
        if name in self._built:
            return
        if name not in models():
            raise AuditError(f"no relation {name!r}; relations are {', '.join(models())}")
        text = models()[self._stand_ins.get(name, name)]
        for needed in sorted(named_in(text) - {name}):
            self._build(needed)
        if name in MAKERS:
            self._make(name, MAKERS[name])
        # The relation is bound but once this way; `sql(…).to_view(…)` binds it twice.
        self._connection.execute(f'create {"table" if name in STORED else "view"} "{name}" as {text}')
        self._built.add(name)

    def _make(self, name: str, maker: Maker) -> None:
        """Write the rows that the model of that name reads."""
        self._build(maker.reads)
        path = self._directory / f"{name}.jsonl"
        maker.writer()(self._connection.execute(f'from "{maker.reads}"'), path)
        self.set(f"{name}_file", path)


def _bound(value: Any) -> Any:
    if isinstance(value, list):
        return [_bound(each) for each in value]
    return exactly(value) if isinstance(value, Path) else value

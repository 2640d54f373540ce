"""A DuckDB database that builds the relations of `audit/models` on demand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from audit.engine.catalog import (
    BATCHED,
    KEPT,
    LONG,
    PASSED_ON,
    STORED,
    functions,
    functions_in,
    invariants,
    made_with,
    models,
    named_in,
)
from audit.engine.connection import confine, connect
from audit.engine.makers import MAKERS, Writer
from audit.engine.memory import SORTING, bounded
from audit.engine.paths import bound, plainly
from audit.engine.queries import expression, refusing, relations_in
from audit.engine.shelf import Keeper, Shelf
from audit.output.errors import AuditError
from audit.output.progress import PrintedProgress


class Database:
    """Relations by name, over the files and options that variables name.

    Args:
        directory: temporary files go there.
        shelf: stores the relations that are kept.
        read: called once, before the first relation that is not kept is built; it sets the variables.
    """

    def __init__(
        self, directory: Path, shelf: Shelf | None = None, read: Callable[[Database], None] | None = None
    ) -> None:
        self._connection = connect(directory)
        self._built: dict[str, str] = {}
        """Each with what it is: a table or a view."""
        self._appended: set[str] = set()
        self._defined: set[str] = set()
        self._values: dict[str, Any] = {}
        self._is_small = False
        self._has_segments = False
        self._directory = directory
        self._keeper = Keeper(self._connection, directory, shelf)
        self._is_confined = False
        self._read = read
        self._parts: Callable[[str], Sequence[Path] | None] | None = None
        self._stand_ins: dict[str, str] = {}
        self._writers: dict[str, Writer] = {}

    @property
    def is_small(self) -> bool:
        """Whether the data are so few that every relation is a table."""
        return self._is_small

    @property
    def has_segments(self) -> bool:
        """Whether `segments` is a table, so that records that are read become no file."""
        return self._has_segments

    def hold(self, *, segments_alone: bool = False) -> None:
        """Make every relation a table from here on, by one thread.

        A view costs more to bind, in each query that reads it, than few rows cost to store.

        Args:
            segments_alone: only `segments` is one, by all threads.
        """
        self._has_segments = True
        if not segments_alone:
            self._is_small = True
            self._connection.execute("set threads = 1")

    def set(self, variable: str, value: Any) -> None:
        """Set a variable that models read with `getvariable`; its name is the program's, its value is bound.

        A path, or each of a list of them, names exactly that file, without wildcards.
        """
        if not isinstance(value, (Path, list)) and self._values.get(variable, self) == value:
            return
        self._values[variable] = value
        self._connection.execute(f"set variable {variable} = ?", [bound(value)])
        if self._is_small:
            self._forget(variable)

    def append(self, name: str, source: str, **constants: str) -> None:
        """Add the rows of another relation to a table that is made of nothing else.

        Args:
            name: the table, which takes the place of the model of that name.
            source: the relation.
            constants: more columns, each with its one value.
        """
        self._build(source)
        columns = "".join(f', ? as "{column}"' for column in constants)
        into = f'insert into "{name}" by name' if name in self._appended else f'create table "{name}" as'
        self._connection.execute(f'{into} select *{columns} from "{source}"', list(constants.values()))
        self._appended.add(name)
        self._built[name] = "table"

    def take_parts(self, parts: Callable[[str], Sequence[Path] | None]) -> None:
        """Build the relations in `BATCHED` from Parquet files that a function finds by name, if it finds them."""
        self._parts = parts

    def stand_in(self, name: str, other: str) -> None:
        """Build a relation from another model's SELECT, which has the same columns."""
        self._stand_ins[name] = other

    def write_with(self, name: str, writer: Writer) -> None:
        """Have another function than its own write the rows of a relation in `MAKERS`."""
        self._writers[name] = writer

    def relation(self, name: str) -> duckdb.DuckDBPyRelation:
        """A relation by its name, built on first use together with those that it reads.

        Raises:
            AuditError: there is no such relation.
        """
        self._build(name)
        return self._connection.table(name)

    def violations(self, invariant: str) -> list[tuple[Any, ...]]:
        """The rows for which an invariant of `audit/models/invariants` does not hold."""
        text = invariants()[invariant]
        self._prepare(text)
        return self._connection.sql(text).fetchall()

    def write(self, name: str, path: Path) -> None:
        """Write a relation to a Parquet file."""
        self.write_query(f'from "{name}"', path)

    def write_query(self, query: str, path: Path) -> None:
        """Write the result of a query of the program's own to a Parquet file.

        Args:
            query: a SELECT over the relations.
            path: the file.
        """
        self._prepare(query)
        # Row groups are so small that long answers do not fill the memory. With this level, reading takes a sixth less
        # processor time than with the default one, and files are 7% larger.
        self._connection.execute(
            f"copy ({query}) to ? (format parquet, compression zstd, compression_level 1, row_group_size 8192)",
            [str(plainly(path))],
        )

    def query(self, text: str) -> duckdb.DuckDBPyRelation:
        """The result of one SELECT over the relations, those that it names built first; it is not run yet.

        Raises:
            UsageError: it is anything else, or names an unknown relation or column.
        """
        self.build(text)
        with refusing():
            return self._connection.sql(text)

    def build(self, text: str) -> None:
        """Build the relations that a user's SELECT names; the arguments and errors are those of `query`."""
        for needed in sorted(relations_in(text, self._connection)):
            self._build(needed)
        self._define(text)

    def condition(self, text: str) -> duckdb.Expression:
        """A condition to filter by, the relations that it names in subqueries built first.

        Raises:
            UsageError: it is not a single expression.
        """
        condition = expression(text)
        self.build(f"select (\n{text}\n)")
        return condition

    def read(self) -> None:
        """Read the records, unless this has been done."""
        if self._read is not None:
            if self._is_confined:
                raise AuditError("the records were not read, and cannot be any more")
            read, self._read = self._read, None
            read(self)

    def kept(self, name: str, query: str) -> Path:
        """A database file with the result of a query of the program's own, kept from one audit to the next.

        Args:
            name: under which it is kept, and of its one table.
            query: a SELECT over the relations, run where nothing is kept.
        """

        def write(path: Path) -> None:
            self._prepare(query)
            with bounded(self._connection, SORTING):
                self._keeper.export(path, name, query)

        return self._keeper.file(name, write)

    def keep(self) -> None:
        """Keep what was built while the records were read."""
        for name in sorted(self._built.keys() & KEPT):
            self._keeper.keep(name)

    def confine(self, *, read: bool = True) -> None:
        """Restrict queries from here on to the files that the relations are read from, and lock all settings.

        Args:
            read: whether the records are read before; else what is neither built nor kept can no longer be built.
        """
        if read:
            self.read()
        files = self._files("segments")
        for name in self._built.keys() & BATCHED:
            files += self._files(f"{name}_parts")
        confine(self._connection, files, self._directory)
        self._keeper.confine()
        self._is_confined = True

    def interrupt(self) -> None:
        """Stop the query that runs in another thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def _build(self, name: str) -> None:
        if name in self._built:
            return
        if name in KEPT and self._keeper.take(name):
            self._built[name] = "view"
            return
        if name not in models():
            raise AuditError(f"no relation {name!r}; relations are {', '.join(models())}")
        self.read()
        if name in self._built:  # reading has built it too
            return
        text = self._text(name)
        is_empty = name in MAKERS and MAKERS[name].of_texts and not self._has_texts()
        if name in BATCHED and self._parts is not None and not is_empty:
            parts = self._parts(name)
            if parts is not None:
                self._join(name, parts, text)
                return
        self._prepare(text, name)
        if name in MAKERS:
            self._write_rows(name, has_rows=not is_empty)
        # This way the relation is bound only once; `sql(…).to_view(…)` binds it twice.
        kind = self._kind(name)
        self._connection.execute(f'create {kind} "{name}" as {text}')
        self._built[name] = kind
        if name in KEPT:
            self._keeper.keep(name, is_view=kind == "view")

    def _text(self, name: str) -> str:
        """The SELECT of a relation."""
        return models()[self._stand_ins.get(name, name)]

    def _kind(self, name: str) -> str:
        is_table = name not in PASSED_ON if self._is_small else name in (STORED | KEPT) - LONG
        return "table" if is_table else "view"

    def _prepare(self, query: str, name: str = "") -> None:
        """Build what a query of the program's own reads, itself aside, and define what it calls."""
        for needed in sorted(named_in(query) - {name, self._stand_ins.get(name)}):
            self._build(needed)
        self._define(query)

    def _define(self, text: str) -> None:
        for function in functions_in(text):
            if function not in self._defined:
                self._connection.execute(functions()[function])
                self._defined.add(function)

    def _forget(self, variable: str) -> None:
        """Drop the tables that were made with an earlier value of a variable, and those made of them."""
        for name in made_with(variable, {name: self._text(name) for name in self._built.keys() - self._appended}):
            self._connection.execute(f'drop {self._built.pop(name)} "{name}"')

    def _join(self, name: str, parts: Sequence[Path], text: str) -> None:
        """Build a relation from its parts, in the order that its model specifies."""
        self.set(f"{name}_parts", [self._keeper.within(file, f"{name}-{i}") for i, file in enumerate(parts)])
        order = re.search(r"\border by [\w, ]+\s*$", text)
        query = f"select * from read_parquet(getvariable('{name}_parts'))"
        self._connection.execute(f'create view "{name}" as {query} {order[0] if order else ""}')
        self._built[name] = "view"

    def _files(self, variable: str) -> list[str]:
        """The paths that a variable names, as they are read."""
        [(files,)] = self._connection.execute(f"select getvariable('{variable}')").fetchall()
        return files or []

    def _has_texts(self) -> bool:
        """Whether a run's candidates are texts."""
        return bool(self.relation("run_records").filter("candidates = 'text'").limit(1).fetchall())

    def _write_rows(self, name: str, *, has_rows: bool) -> None:
        """Write the rows that the model of that name reads."""
        path = self._directory / f"{name}.jsonl"
        if has_rows:
            maker = MAKERS[name]
            self._build(maker.reads)
            writer = self._writers.get(name) or maker.writer()
            with PrintedProgress() as progress:
                progress.begin(0, f"analysing records ({name})", counted=False)
                writer(self._connection.execute(f'from "{maker.reads}"'), path)
        else:
            path.touch()
        self.set(f"{name}_file", path)

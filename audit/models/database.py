"""A DuckDB database that builds the relations of `audit/models` on demand."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import duckdb

from audit.models.catalog import functions, functions_in, invariants, is_cached, models, named_in
from audit.models.connection import TABLES, confine, connect, write_parquet
from audit.models.functions import callable_from, called_in
from audit.models.settings import SORTING, bounded
from audit.models.sql_text import exactly, literal, one_of
from audit.models.users_sql import expression, refusing, relations_in
from audit.output.errors import AuditError
from audit.output.progress import PrintedProgress
from audit.records.cache import digest_of
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from audit.detectors.detector import Detect

LARGE: Final = frozenset({"revisions"})
"""Relations with many columns and a row per revision: they are read from a file, and never held in memory."""
TRANSIENT: Final = frozenset({"plan_files"})
"""Variables that name files which may change while the records do not: what depends on them is not cached."""
NARROW: Final = "DECIMAL(38,0)"
"""What Parquet has in place of whole numbers of 128 bits, which sums of others are."""
_SMALL: Final = 2**24
"""Bytes of the largest cached file that is read into memory."""


class RelationCache(Protocol):
    """Where relations are cached, each as one file."""

    def take(self, name: str, directory: Path) -> Path | None:
        """The file of that name, in a directory where it stays when the cache is removed; None where there is none."""

    def add(self, path: Path) -> None:
        """Cache a file under its own name."""

    def remove(self, name: str) -> None:
        """Remove a file that turned out to be damaged."""


class Database:
    """Relations by name, over the records and the options that variables hold.

    Args:
        directory: temporary files go there.
        cache: where relations are cached; None for nowhere.
        load: reads the records when they are first needed, and gives the file of each of `TABLES`.
    """

    def __init__(
        self,
        directory: Path,
        cache: RelationCache | None = None,
        load: Callable[[Database], dict[str, Path]] | None = None,
    ) -> None:
        self.connection = connect(directory)
        self._directory = directory
        self._cache = cache
        self._load = load
        self._texts: dict[str, str] = {}
        """SELECTs that replace those of models, by relation."""
        self._detect: Detect | None = None
        self._values: dict[str, Any] = {}
        self._built: dict[str, str] = {}
        """Each relation with what it is: a table or a view."""
        self._read_by: dict[str, frozenset[str]] = {}
        """Each relation with the variables that it reads."""
        self._defined: set[str] = set()
        self._files: list[Path] = []
        self._is_confined = False
        self._is_of_few = False

    def set(self, variable: str, value: Any) -> None:
        """Set a variable that models read with `getvariable`; relations that were built with another value are dropped.

        Args:
            variable: its name, which is the program's own.
            value: bound as it is.
        """
        if variable in self._values and self._values[variable] == value:
            return
        self._values[variable] = value
        self.connection.execute(f"set variable {variable} = ?", [value])
        for name in [each for each in self._built if variable in self._variables(each)]:
            self.connection.execute(f'drop {self._built.pop(name)} "{name}"')

    def stand_in(self, name: str, other: str) -> None:
        """Build a relation from another model's SELECT, which has the same columns."""
        self._texts[name] = models()[other]
        self._read_by.clear()

    def detect_with(self, detect: Detect) -> None:
        """Have the relation `findings` hold what a user's function finds."""
        self._detect = detect

    def relation(self, name: str) -> duckdb.DuckDBPyRelation:
        """A relation by its name, built on first use together with those that it reads.

        Raises:
            AuditError: there is no such relation.
        """
        self._build(name)
        return self.connection.table(name)

    def violations(self, invariant: str) -> list[tuple[Any, ...]]:
        """The rows for which an invariant of `audit/models/invariants` does not hold."""
        text = invariants()[invariant]
        self._prepare(text)
        return self.connection.sql(text).fetchall()

    def query(self, text: str) -> duckdb.DuckDBPyRelation:
        """The result of one SELECT over the relations, those that it names built first; it is not run yet.

        Raises:
            UsageError: it is anything else, or names an unknown relation or column.
        """
        self.build(text)
        with refusing():
            return self.connection.sql(text)

    def build(self, text: str) -> None:
        """Build the relations that a user's SELECT names; the arguments and errors are those of `query`."""
        for needed in sorted(relations_in(text, self.connection)):
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

    def load(self) -> None:
        """Read the records, unless this has been done."""
        if self._load is not None:
            load, self._load = self._load, None
            self.take_records(load(self))

    def take_records(self, files: dict[str, Path]) -> None:
        """Read records from the files of `TABLES` from here on."""
        for name, path in files.items():
            self.set(name, exactly(path))
            self._files.append(path)
        self._load = None

    def take_cached_records(self) -> None:
        """Read records from the cache from here on, if all is there and sound. Otherwise they are read when needed."""
        files = {} if self._cache is None else {name: self._taken(f"{name}.parquet") for name in TABLES}
        sound = {name: path for name, path in files.items() if path is not None}
        if len(sound) == len(TABLES):
            self.take_records(sound)

    def cached_file(self, name: str, query: str) -> Path:
        """A database file with the result of a query of the program's own, which is cached.

        Args:
            name: of the file, and of its one table.
            query: a SELECT over the relations, run where nothing is cached.
        """
        self._texts[name] = query
        file = self._file(name).replace(".parquet", ".duckdb")
        path = self._taken(file)
        if path is not None:
            return path
        self._prepare(query)
        path = self._directory / file
        quoted = str(path).replace("'", "''")
        with bounded(self.connection, SORTING):
            self.connection.execute(f"attach '{quoted}' as exported (type duckdb)")
            try:
                self.connection.execute(f'create table exported."{name}" as {query}')
            finally:
                self.connection.execute("detach exported")
        self._add(path)
        return path

    def of_runs(self, runs: Collection[RunKey], directory: Path) -> Database:
        """A database of the records of some runs alone, with the same options.

        Args:
            runs: which.
            directory: for its temporary files.
        """
        for name in TABLES:
            self._build(name)
        alone = Database(directory)
        alone._texts = {**self._texts, **{name: self._of_runs(name, runs) for name in TABLES}}
        for variable, value in self._values.items():
            alone.set(variable, value)
        alone._detect = self._detect
        alone._is_of_few = True
        return alone

    def confine(self) -> None:
        """Restrict queries from here on to what is built, without other files and network, and lock all settings."""
        confine(self.connection, [str(path) for path in self._files], self._directory)
        self._is_confined = True

    def interrupt(self) -> None:
        """Stop the query that runs in another thread."""
        self.connection.interrupt()

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def _build(self, name: str) -> None:
        if name in self._built:
            return
        if name not in models():
            raise AuditError(f"no relation {name!r}; relations are {', '.join(models())}")
        if name in TABLES:
            self.load()
        if is_cached(name) and self._take(name):
            return
        text = self._text(name)
        self._prepare(text, name)
        if name in LARGE and not (self._is_confined or self._is_of_few):
            path = self._directory / self._file(name)
            write_parquet(self.connection, text, path)
            self._read(name, path)
            self._add(path)
        else:
            kind = "table" if is_cached(name) else "view"
            with PrintedProgress() as progress, callable_from(text, self.connection, self._detect):
                if called_in(text):
                    progress.begin(0, f"analysing records ({name})", counted=False)
                self.connection.execute(f'create {kind} "{name}" as {text}')
            self._built[name] = kind
            if is_cached(name):
                self._export(name)

    def _take(self, name: str) -> bool:
        """Take a relation from the cache; False where it is not there. A damaged file is removed."""
        if self._cache is None or self._is_confined or self._is_transient(name):
            return False
        path = self._taken(self._file(name))
        if path is None:
            return False
        self._read(name, path, is_small=name not in LARGE and path.stat().st_size < _SMALL)
        return True

    def _taken(self, file: str) -> Path | None:
        """A file of the cache; None where it is not there. One that DuckDB cannot open is removed."""
        path = None if self._cache is None else self._cache.take(file, self._directory)
        if path is None or self._cache is None:
            return None
        try:
            if path.suffix == ".parquet":
                self.connection.execute("select count(*) from read_parquet(?)", [exactly(path)])
            else:
                self.connection.execute(f"attach {literal(str(path))} as taken (type duckdb, read_only)")
                self.connection.execute("detach taken")
        except duckdb.Error:
            self._cache.remove(file)
            return None
        return path

    def _read(self, name: str, path: Path, *, is_small: bool = False) -> None:
        """Make a relation of a file: a table where it is small, which then needs the file no longer."""
        source = f"from read_parquet({literal(exactly(path))})"
        columns = self._replaced(source, NARROW, "HUGEINT")
        kind = "table" if is_small else "view"
        self.connection.execute(f'create {kind} "{name}" as select *{columns} {source}')
        self._built[name] = kind
        if not is_small:
            self._files.append(path)

    def _export(self, name: str) -> None:
        """Cache a table."""
        if self._cache is None or self._is_confined or self._is_transient(name):
            return
        path = self._directory / self._file(name)
        try:
            columns = self._replaced(f'from "{name}"', "HUGEINT", NARROW)
            write_parquet(self.connection, f'select *{columns} from "{name}"', path)
            self._add(path)
        except (OSError, duckdb.IOException):  # the disk is full
            pass
        path.unlink(missing_ok=True)

    def _replaced(self, source: str, before: str, after: str) -> str:
        """The clause that gives columns with one type of number another one, however deep it is within their types."""
        described = self.connection.execute(f"describe select * {source}").fetchall()
        casts = [
            f'"{column}"::{kind.replace(before, after)} as "{column}"'
            for column, kind, *_ in described
            if before in kind
        ]
        return f" replace ({', '.join(casts)})" if casts else ""

    def _add(self, path: Path) -> None:
        if self._cache is not None and not self._is_transient(path.name.partition("-")[0]):
            self._cache.add(path)

    def _file(self, name: str) -> str:
        """The file name under which a relation is cached: with a digest of the options that it depends on."""
        values = [(each, self._values.get(each)) for each in sorted(self._variables(name))]
        return f"{name}-{digest_of(repr(values), self._text(name))[:16]}.parquet"

    def _is_transient(self, name: str) -> bool:
        """Whether a relation depends on files that may change while the records do not."""
        return any(self._values.get(each) for each in self._variables(name) & TRANSIENT)

    def _variables(self, name: str) -> frozenset[str]:
        """The variables that a relation reads, directly or through others."""
        if name not in self._read_by:
            text = self._text(name)
            found = {*re.findall(r"getvariable\('(\w+)'\)", text)} - {*TABLES}
            others = named_in(text) - {name}
            self._read_by[name] = frozenset(found).union(*map(self._variables, others - {*TABLES}))
        return self._read_by[name]

    def _text(self, name: str) -> str:
        """The SELECT of a relation."""
        return self._texts.get(name) or models()[name]

    def _of_runs(self, name: str, runs: Collection[RunKey]) -> str:
        return f"select * from ({models()[name]}) where {one_of(sorted(runs))}"

    def _prepare(self, query: str, name: str = "") -> None:
        """Build what a query of the program's own reads, itself aside, and define what it calls."""
        for needed in sorted(named_in(query) - {name}):
            self._build(needed)
        self._define(query)

    def _define(self, text: str) -> None:
        for function in functions_in(text):
            if function not in self._defined:
                self.connection.execute(functions()[function])
                self._defined.add(function)

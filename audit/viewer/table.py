"""All revisions of a data set in one table, in a file of DuckDB's that is made once and kept.

A table of a million revisions is a file of about 100 MB, of which a filter reads the columns that it names.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from audit.models.settings import without_progress_bar
from audit.models.sql_text import one_of
from audit.output.errors import AuditError
from audit.viewer.query import PAGE, Filters, Kind, Query
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.marks.marks import Marks
    from audit.store import Store

NAME: Final = "viewer"
"""Of the file among what is kept of an analysis, and of the table in it."""
MEMORY: Final = "800MB"
"""What DuckDB may use for queries of the table."""
FACETS: Final = 40
"""Values of a column that are counted, the most frequent ones."""
TABLES: Final = 32
"""Searches and lists of revisions whose numbers are kept at once."""

TEXT: Final = "lower(concat(revised.answer, chr(0), revised.thinking))"
"""What is searched in: an answer and its thinking, in small letters."""
REVISED: Final = "revised.source is not null"
"""Of which episodes: those with a revised candidate, told by a field of it, so that no other one is read."""

_HIDDEN: Final = frozenset({"changed", "chance_pooled", "chance_initial", "file", "id"})
"""Columns that no filter reads."""
_KINDS: Final[Mapping[str, Kind]] = {"BOOLEAN": "boolean", "VARCHAR": "name"}


class RevisionTable:
    """The table of a store's revisions; requests in several threads may ask it at once.

    Args:
        store: the records.
        base: restricts all queries, as the command's options select conditions, tasks, methods and runs.
        directory: for temporary files.
        lock: held while the store is used.
        marks: by which stars and tags are looked up.
    """

    def __init__(
        self, store: Store, base: Query, directory: Path, lock: threading.Lock, marks: Marks | None = None
    ) -> None:
        self._marks = marks
        self._store = store
        self._base = base
        self._lock = lock
        self._cursors = threading.Lock()
        self._making = threading.Lock()
        self._tables: dict[Hashable, str] = {}
        self._names = itertools.count()
        self._connection = duckdb.connect(
            config={"memory_limit": MEMORY, "temp_directory": str(directory / "table-spill")}
        )
        without_progress_bar(self._connection)
        file = _file(store)
        quoted = str(file).replace("'", "''")
        self._connection.execute(f"attach '{quoted}' as kept (read_only)")
        self._connection.execute("use kept")
        described = self._connection.execute(f"describe {NAME}").fetchall()
        self.kinds: dict[str, Kind] = {
            name: _KINDS.get(kind, "number") for name, kind, *_ in described if name not in _HIDDEN
        }
        """The columns that can be filtered and sorted by."""

    def count(self, query: Query) -> int:
        """How many revisions a query has."""
        [(number,)] = self._rows("select count(*)", query)
        return int(number)

    def page(self, query: Query, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """One page of a query, in its order.

        Args:
            query: also the page.
            columns: of `kinds`.
        """
        # The keys of a late page are sorted alone, and the other columns looked up for its rows.
        ids = self._rows("select id", query, f"order by {query.order()} limit {PAGE} offset {(query.page - 1) * PAGE}")
        return self._looked_up([number for (number,) in ids], columns)

    def all_rows(self, query: Query, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """All rows of a query, in its order."""
        cursor = self._execute(f"select {_listed(columns)}", query, f"order by {query.order()}")
        while batch := cursor.fetchmany(10_000):
            yield from batch

    def facet(self, query: Query, column: str) -> list[tuple[Any, int]]:
        """The values of a column among the revisions of a query, with the filter of that column set aside.

        Returns:
            Value and number of revisions, the most frequent ones first.
        """
        end = f"group by 1 order by 2 desc, 1 limit {FACETS}"
        return self._rows(f'select "{column}", count(*)', query.without(column), end)

    def range(self, query: Query, column: str) -> tuple[float | None, float | None]:
        """The smallest and the largest number of a column, with its own filter set aside."""
        [(low, high)] = self._rows(f'select min("{column}"), max("{column}")', query.without(column))
        return low, high

    def grouped(self, query: Query, by: Sequence[str], filters: Sequence[Filters]) -> list[tuple[Any, ...]]:
        """How many revisions of each group pass each of some filters.

        Args:
            query: which revisions are counted at all.
            by: columns whose values make a group.
            filters: as those of a query.

        Returns:
            The group's values and its counts, in the order of groups.
        """
        counted = [Query(filters=each).where(self.kinds) for each in filters]
        counts = [f"count(*) filter (where {condition})" for condition, _ in counted]
        condition, bound = self._condition(query)
        select = f"select {', '.join([_listed(by), *counts])} from kept.{NAME} where {condition}"
        values = [*(value for _, bound in counted for value in bound), *bound]
        return self._cursor().execute(f"{select} group by all order by all", values).fetchall()

    def is_empty(self, column: str) -> bool:
        """Whether a column is null in all revisions."""
        return not self._rows("select 1", Query(filters=((column, ("!",)),)), "limit 1")

    def row(self, key: RevisionKey) -> dict[str, Any] | None:
        """All that is known of one revision; None where there is none."""
        condition = " and ".join(f'"{name}" = ?' for name in RevisionKey._fields)
        cursor = self._cursor().execute(f"from kept.{NAME} where {condition}", list(key))
        found = cursor.fetchone()
        return None if found is None else dict(zip([each[0] for each in cursor.description], found, strict=True))

    def full_rows(self) -> Iterator[dict[str, Any]]:
        """All that is known of each revision, as numbered."""
        cursor = self._execute("select *", Query(), "order by id")
        names = [each[0] for each in cursor.description]
        while batch := cursor.fetchmany(1_000):
            yield from (dict(zip(names, row, strict=True)) for row in batch)

    def neighbours(self, query: Query, number: int) -> tuple[int, RevisionKey | None, RevisionKey | None]:
        """The place of a revision among those of a query, from 1, and the revisions before and after it.

        Args:
            query: its order counts.
            number: the revision's `id`.

        Returns:
            0 as the place where the revision is not among them.
        """
        condition, bound = self._condition(query)
        found = self._cursor().execute(
            f"select place, before, after from (select id, row_number() over w as place, lag(id) over w as before, "
            f"lead(id) over w as after from kept.{NAME} where {condition} window w as (order by {query.order()})) "
            "where id = ?",
            [*bound, number],
        )
        row = found.fetchone()
        if row is None:
            return 0, None, None
        place, before, after = row
        return place, self._key(before), self._key(after)

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection for one query: the one that it is made from serves one call at a time."""
        with self._cursors:
            return self._connection.cursor()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _key(self, number: int | None) -> RevisionKey | None:
        if number is None:
            return None
        [row] = self._looked_up([number], RevisionKey._fields)
        return RevisionKey(*row)

    def _looked_up(self, ids: Sequence[int], columns: Sequence[str]) -> list[tuple[Any, ...]]:
        if not ids:
            return []
        # As literals, since a filter by a list that is bound reads every row.
        rows = self._cursor().execute(
            f"select id, {_listed(columns)} from kept.{NAME} where id in ({', '.join(map(str, ids))})"
        )
        found = {row[0]: row[1:] for row in rows.fetchall()}
        return [found[number] for number in ids]

    def _rows(self, select: str, query: Query, end: str = "") -> list[tuple[Any, ...]]:
        return self._execute(select, query, end).fetchall()

    def _execute(self, select: str, query: Query, end: str = "") -> duckdb.DuckDBPyConnection:
        condition, bound = self._condition(query)
        return self._cursor().execute(f"{select} from kept.{NAME} where {condition} {end}", bound)

    def _condition(self, query: Query) -> tuple[str, list[Any]]:
        condition, bound = query.where(self.kinds)
        base, more = self._base.where(self.kinds)
        parts = [f"({base})", f"({condition})"]
        if query.tags or query.starred:
            chosen = self._marks.chosen(tags=query.tags, starred=query.starred) if self._marks else []
            parts.append(f"id in (from memory.{self._numbered(tuple(chosen))})")
        if query.keys is not None:
            parts.append(f"id in (from memory.{self._numbered(query.keys)})")
        if any(query.terms):
            parts.append(f"id in (from memory.{self._searched(*query.terms)})")
        return " and ".join(parts), [*more, *bound]

    def _numbered(self, keys: tuple[RevisionKey, ...]) -> str:
        """The name of the table that has the numbers of some revisions."""
        with self._making:
            return self._made(keys, f"select id from kept.{NAME} where {one_of(keys)}")

    def _searched(self, wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> str:
        """The name of the table that has the numbers of the revisions whose answer and thinking have some texts.

        Args:
            wanted: texts that are all there.
            unwanted: texts of which none is.
        """
        with self._making:
            found = None
            if (wanted, unwanted) not in self._tables:
                with self._lock:
                    found = _with_texts(self._store, wanted, unwanted)
            joined = f"select id from found join kept.{NAME} using ({_listed(RevisionKey._fields)})"
            return self._made((wanted, unwanted), joined, found)

    def _made(self, key: Hashable, source: str, found: Any = None) -> str:
        """The name of the table in memory of some revisions' numbers: one that is there, or made now.

        A condition that a number is in it is a join, which is quicker than one that it is among many literals.

        Args:
            key: of the revisions.
            source: a SELECT of their numbers.
            found: a frame that it names.
        """
        if key not in self._tables:
            while len(self._tables) >= TABLES:
                oldest = next(iter(self._tables))
                self._cursor().execute(f"drop table memory.{self._tables.pop(oldest)}")
            name = f"numbers_{next(self._names)}"
            cursor = self._cursor()
            if found is not None:
                cursor.register("found", found)
            cursor.execute(f"create table memory.{name} as {source}")
            self._tables[key] = name
        return self._tables[key]


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _with_texts(store: Store, wanted: Sequence[str], unwanted: Sequence[str]) -> Any:
    """The keys of the revisions whose texts have all that is wanted and nothing that is unwanted, as a frame."""
    from duckdb import ConstantExpression, FunctionExpression, SQLExpression

    def has(text: str) -> duckdb.Expression:
        return FunctionExpression(
            "contains", SQLExpression(TEXT), FunctionExpression("lower", ConstantExpression(text))
        )

    found = store.relation("episodes").filter(SQLExpression(REVISED))
    for condition in (*map(has, wanted), *(~has(text) for text in unwanted)):
        found = found.filter(condition)
    return found.select(", ".join(RevisionKey._fields)).df()


def _file(store: Store) -> Path:
    """The file of the table: one that was kept, or one made now."""
    keys = ", ".join(RevisionKey._fields)
    # Rows are numbered as they come from being sorted: numbering them by a window of that order would sort them twice.
    return store.cached_file(NAME, f"select row_number() over () as id, * from (from viewed_revisions order by {keys})")


def no_such(key: RevisionKey) -> AuditError:
    """The error for a revision that the table does not have."""
    return AuditError(f"no revision {key}: no such iteration, or it has no revised candidate")

"""Rows as a result has them, and how they are printed."""

from __future__ import annotations

import contextlib
import difflib
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from audit.output.cells import FOLDED, WEIGHTED
from audit.output.errors import UsageError
from audit.output.escaping import escape_markdown, in_line
from audit.output.formats import WRITERS, Row
from audit.output.latex import write_latex
from audit.output.names import meant
from audit.output.paragraphs import as_wide_as_shown, first
from audit.output.printable import Printable
from audit.output.tables import print_table

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


@dataclass(kw_only=True, eq=False, repr=False)
class Table(Printable):
    """A result: iterate over its rows, take them as a data frame, or print it.

    A table of records that were opened for it alone closes them when nothing refers to it, its rows or its relation
    any longer; `close`, or a `with` statement, does so at once.

    Attributes, beside those of `Printable`:
        print_for_people: prints a table in another layout.
        parts: further rows that such a layout has, by name.
        answering: makes `answers`.
    """

    print_for_people: Callable[[Table], None] | None = None
    parts: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    answering: Callable[[], Sequence[str]] = list
    close: Callable[[], object] = field(default=lambda: None)

    @cached_property
    def answers(self) -> list[str]:
        """What the rows say, in paragraphs, which people see above the table; computed when it is first asked for."""
        return list(self.answering())

    def select(
        self,
        columns: str | Sequence[str] | None = None,
        *,
        sort: str | Sequence[str] = (),
        limit: int | None = None,
    ) -> Table:
        """The same result with other columns and rows, printed as a plain table of rows.

        Args:
            columns: which, in the order in which they are wanted; None for all of them.
            sort: columns to sort by, the first one first: `delta`, or `-delta` for the largest values first. Nulls
                come last, and rows that are equal stay in their order.
            limit: at most so many rows; None for all of them.

        Raises:
            UsageError: there is no such column, or the limit is not positive.
        """
        wanted = list(self.columns) if columns is None else self._named("--columns", columns)
        by = []
        for name in [sort] if isinstance(sort, str) else sort:
            bare = name if name in self.columns else name.removeprefix("-")
            by.append((self._named("--sort", bare)[0], bare != name))
        notes = list(self.notes)
        if limit is not None and limit < 1:
            raise UsageError(f"--limit {limit}: give a number of rows, at least 1")
        if limit is not None and (number := len(self)) > limit:
            notes.append(f"first {limit} of {number} rows")
        relation, rows = self.relation, self.rows
        if relation is not None and self.rows_of is not None:
            needed = {*wanted, "condition", *(f"{name}{end}" for name in wanted for end in FOLDED)}
            needed |= {"rough", *(WEIGHTED[name][0] for name in wanted if name in WEIGHTED)}
            relation = _arranged_relation(relation, by, limit)
            rows = self.rows_of(_projected(relation, [name for name in self.columns if name in needed]))
            relation = _projected(relation, wanted)
        elif by or limit is not None:
            rows = _arranged(list(rows), by, limit)
        return replace(
            self,
            columns=wanted,
            rows=rows,
            relation=relation,
            essential=self.essential if columns is None else None,
            notes=notes,
            whole=self.whole or columns is not None,
            print_for_people=None,
            # This table keeps the one that it is from, which closes its records when nothing refers to it any longer.
            close=self.__exit__,
        )

    def df(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        if self.relation is not None:
            frame: pd.DataFrame = self.relation.df()
            return frame
        return pd.DataFrame([dict(row) for row in self.rows], columns=list(self.columns))

    def print(self, output: str = "table") -> None:
        """Print the rows on standard output.

        Args:
            output: table, json, csv, markdown or latex. A table and LaTeX have the essential columns, the others all.
        """
        if output == "latex":
            write_latex(self, sys.stdout)
        elif output != "table":
            WRITERS[output](self.columns, self.rows, sys.stdout)
            if output == "markdown" and self.caption:
                sys.stdout.write(f"\n{escape_markdown(self.caption)}\n")
        elif self.print_for_people is not None:
            self.print_for_people(self)
        else:
            if answers := as_wide_as_shown(first(self.answers)):
                sys.stdout.write(answers)
            print_table(self)

    def _named(self, option: str, names: str | Sequence[str]) -> list[str]:
        """The columns of some names, which may be headings as tables print them, each once."""
        names = [names] if isinstance(names, str) else names
        found = [meant(name, self.columns, self.headings or {}) for name in names]
        for name in found:
            if name not in self.columns:
                near = " or ".join(difflib.get_close_matches(name, self.columns, n=3))
                hint = f"did you mean {near}?" if near else f"columns are {', '.join(self.columns)}"
                raise UsageError(in_line(f"{option} {name}: no such column; {hint}"))
        return list(dict.fromkeys(found))

    def __iter__(self) -> Iterator[Row]:
        # A generator refers to the table, whose records stay open as long as rows are read.
        yield from self.rows

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            self.print()
        return text.getvalue().rstrip("\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _projected(relation: duckdb.DuckDBPyRelation, columns: Sequence[str]) -> duckdb.DuckDBPyRelation:
    return relation.project(", ".join(map(_quoted, columns)))


def _arranged(rows: Sequence[Row], sort: Sequence[tuple[str, bool]], limit: int | None) -> list[Row]:
    """Rows in an order, nulls last, those that are equal as they were; the first ones of them."""
    found = list(rows)
    for column, descending in reversed(sort):
        found.sort(key=lambda row: _key(row[column]), reverse=descending)
        found.sort(key=lambda row: row[column] is None)
    return found[:limit]


def _arranged_relation(
    relation: duckdb.DuckDBPyRelation, sort: Sequence[tuple[str, bool]], limit: int | None
) -> duckdb.DuckDBPyRelation:
    """The same of the rows of a relation."""
    if sort:
        place = _quoted("place before sorting")
        terms = [f"{_quoted(column)} {'desc' if descending else 'asc'} nulls last" for column, descending in sort]
        numbered = relation.project(f"*, row_number() over () as {place}")
        relation = numbered.order(", ".join([*terms, place])).project(f"* exclude ({place})")
    return relation if limit is None else relation.limit(limit)


def _quoted(column: str) -> str:
    """The name of a column in SQL."""
    return '"' + column.replace('"', '""') + '"'


def _key(value: Any) -> tuple[bool, float, str]:
    """Numbers by size, then texts."""
    return (False, value, "") if isinstance(value, int | float) else (True, 0, str(value))

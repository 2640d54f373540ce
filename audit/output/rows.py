"""Rows as a result has them, and how they are printed."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from audit.output.formats import WRITERS, Row
from audit.output.tables import print_table

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

LONGEST_TABLE: Final = 500
"""Rows that a table for people has at most; the other formats have all."""


class Rows(Protocol):
    """Rows that can be iterated over more than once."""

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows, each a mapping from column to value."""

    def __len__(self) -> int:
        """How many there are."""


@dataclass(kw_only=True, eq=False, repr=False)
class Table:
    """A result: iterate over its rows, take them as a data frame, or print it.

    A table of records that were opened for it alone closes them when nothing refers to it any longer; `close`, or a
    `with` statement, does so at once.

    Attributes:
        columns: of every row, in order.
        rows: dicts with all columns.
        title: above the table for people.
        essential: the columns that people get to see, where all would be too many.
        headings: for people, where names of columns are too long.
        caption: what readers of the rows must know, such as that a model was simulated.
        notes: what a command reports on standard error beside the rows.
        relation: the DuckDB relation that the rows are from, if they are all from one.
        print_for_people: prints a table in another layout.
    """

    columns: Sequence[str]
    rows: Rows | Sequence[Row]
    title: str = ""
    essential: Sequence[str] | None = None
    headings: Mapping[str, str] | None = None
    caption: str | None = None
    notes: Sequence[str] = ()
    relation: duckdb.DuckDBPyRelation | None = None
    print_for_people: Callable[[Table], None] | None = None
    close: Callable[[], object] = field(default=lambda: None)

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
            output: table, json, csv, markdown or latex.
        """
        if output != "table":
            WRITERS[output](self.columns, self.rows, sys.stdout, self.caption)
        elif self.print_for_people is not None:
            self.print_for_people(self)
        else:
            self._print_table()

    def _print_table(self) -> None:
        shown = self.essential or self.columns
        notes = [self.caption] if self.caption else []
        rows = list(islice(self.rows, LONGEST_TABLE))
        if len(shown) < len(self.columns):
            notes.append(f"{len(shown)} of {len(self.columns)} columns; the other formats have all.")
        if len(rows) == LONGEST_TABLE and len(self) > LONGEST_TABLE:
            notes.append(f"First {LONGEST_TABLE} of {len(self)} rows; the other formats have all.")
        print_table(shown, rows, title=self.title, caption="\n".join(notes) or None, headings=self.headings)

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


def print_rows(rows: Sequence[Row], columns: Sequence[str], output: str, **options: Any) -> None:
    """Print rows in the format `output`.

    Args:
        rows: each with all columns.
        columns: of the formats for programs.
        output: table, or a key of `audit.output.formats.WRITERS`.
        options: as `Table` has them.
    """
    Table(columns=columns, rows=rows, **options).print(output)

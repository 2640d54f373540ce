"""Rows as a result has them, and how they are printed."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, Self

from audit.output.arranging import arranged, arranged_relation, chosen, orders, quoted
from audit.output.cells import FOLDED, WEIGHTED, short_values
from audit.output.errors import UsageError
from audit.output.formats import WRITERS, Row
from audit.output.latex import write_latex
from audit.output.paragraphs import as_wide_as_shown, first
from audit.output.tables import OTHERS, print_plain_table, print_table

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

    A table of records that were opened for it alone closes them when nothing refers to it, its rows or its relation
    any longer; `close`, or a `with` statement, does so at once.

    Attributes:
        columns: of every row, in order.
        rows: dicts with all columns.
        title: above the table for people.
        essential: the columns that people and papers see, in the order of importance; None for all. On a terminal
            those are printed that fit into it, and where there is room, others too.
        headings: for people, where names of columns are too long.
        caption: what readers of the rows must know, such as that a model was simulated.
        notes: what a command reports on standard error beside the rows.
        relation: the DuckDB relation that the rows are from, if they are all from one.
        rows_of: reads the rows of such a relation.
        plain: whether rows belong to no condition: they are one table, whose columns have their own names.
        whole: whether people see all columns, however wide the table becomes.
        decides: columns that a narrow table for people has in any case; None for those that usually decide.
        longest_text: characters of a text that people see; None where texts are shown in full.
        print_for_people: prints a table in another layout.
        parts: further rows that such a layout has, by name.
        answering: makes `answers`.
    """

    columns: Sequence[str]
    rows: Rows | Sequence[Row]
    title: str = ""
    essential: Sequence[str] | None = None
    headings: Mapping[str, str] | None = None
    caption: str | None = None
    notes: Sequence[str] = ()
    relation: duckdb.DuckDBPyRelation | None = None
    rows_of: Callable[[duckdb.DuckDBPyRelation], Rows] | None = None
    plain: bool = False
    whole: bool = False
    decides: Sequence[str] | None = None
    longest_text: int | None = None
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
        names = [columns] if isinstance(columns, str) else columns
        wanted = list(self.columns) if names is None else chosen("--columns", names, self.columns, self.headings)
        by = orders([sort] if isinstance(sort, str) else sort, self.columns, self.headings)
        notes = list(self.notes)
        if limit is not None and limit < 1:
            raise UsageError(f"--limit {limit}: give a number of rows, at least 1")
        if limit is not None and (number := len(self)) > limit:
            notes.append(f"first {limit} of {number} rows")
        relation, rows = self.relation, self.rows
        if relation is not None and self.rows_of is not None:
            needed = {*wanted, "condition", *(f"{name}{end}" for name in wanted for end in FOLDED)}
            needed |= {"rough", *(WEIGHTED[name][0] for name in wanted if name in WEIGHTED)}
            relation = arranged_relation(relation, by, limit)
            rows = self.rows_of(_projected(relation, [name for name in self.columns if name in needed]))
            relation = _projected(relation, wanted)
        elif by or limit is not None:
            rows = arranged(list(rows), by, limit)
        return replace(
            self,
            columns=wanted,
            rows=rows,
            relation=relation,
            essential=self.essential if names is None else None,
            notes=notes,
            whole=self.whole or names is not None,
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
            shown = self.essential or self.columns
            write_latex(shown, list(self.rows), sys.stdout, self.caption, plain=self.plain, whole=self.whole)
        elif output != "table":
            WRITERS[output](self.columns, self.rows, sys.stdout, self.caption)
        elif self.print_for_people is not None:
            self.print_for_people(self)
        else:
            self._print_table()

    def _print_table(self) -> None:
        if answers := as_wide_as_shown(first(self.answers)):
            sys.stdout.write(answers)
            sys.stdout.flush()  # before Rich does, which takes a reader that closes the pipe for a failure
        shown = self.essential or self.columns
        more = [column for column in self.columns if column not in {*shown, "rough"}]
        notes = [self.caption] if self.caption else []
        rows: list[Row] = list(islice(self.rows, LONGEST_TABLE))
        if self.longest_text is not None:
            rows, cut = short_values(rows, self.columns, self.longest_text)
            if cut:
                notes.append(f"Texts beyond {self.longest_text} characters are cut; the other formats have all.")
        if len(rows) == LONGEST_TABLE and len(self) > LONGEST_TABLE:
            notes.append(f"First {LONGEST_TABLE} of {len(self)} rows; the other formats have all.")
        caption = "\n".join(notes) or None
        if self.plain:
            print_plain_table(shown, rows, self.title or None, caption, more=more, whole=self.whole, others=OTHERS)
        else:
            print_table(
                shown,
                rows,
                title=self.title,
                caption=caption,
                headings=self.headings,
                more=more,
                whole=self.whole,
                others=OTHERS,
                decides=self.decides,
            )

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
    return relation.project(", ".join(map(quoted, columns)))

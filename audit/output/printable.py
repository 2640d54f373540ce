"""What is printed of a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from audit.output.formats import Row

if TYPE_CHECKING:
    import duckdb


class Rows(Protocol):
    """Rows that can be iterated over more than once."""

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows, each a mapping from column to value."""

    def __len__(self) -> int:
        """How many there are."""


@dataclass(kw_only=True, eq=False, repr=False)
class Printable:
    """Rows, and how people and papers see them.

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
        is_part: whether it is printed as a part of something longer, whose columns users cannot choose.
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
    is_part: bool = False

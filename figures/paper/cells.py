"""What a table of the paper is made of: cells, each with the published number and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from figures.paper.published import Published, Withheld
from figures.tables import MISSING
from stats.published.verdicts import Verdict

if TYPE_CHECKING:
    from figures.paper.bases import Base


class Goal(Enum):
    """Which of a row's cells is the best."""

    none = 0
    highest = 1
    lowest = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One recomputed number.

    `row` holds the ids of its row, `column` that of its column; `env` and `method` are its task and method; `records`
    is the condition of its runs. `text` is how it reads, `value` and `spread` are unrounded, `runs` is None where it is
    not a number over runs. `above` is what a number that is not known is sure to exceed. `withheld` is why there is
    no verdict where one might be expected.
    """

    row: tuple[str, ...]
    column: str
    text: str = MISSING
    value: float | str | None = None
    above: float | None = None
    spread: float | None = None
    runs: int | None = None
    env: str = ""
    method: str = ""
    records: str = ""
    goal: Goal = Goal.none
    published: Published | None = None
    verdict: Verdict | None = None
    withheld: Withheld | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_missing(self) -> bool:
        """Whether the records have no such number."""
        return self.text in ("", MISSING)


@dataclass(frozen=True)
class Definition:
    """A table of the paper.

    Attributes:
        stem: file name without ending.
        title: its heading.
        caption: how to read it.
        keys: what the ids of a row are, with the headings of their columns.
        columns: ids of the other columns, with their headings.
        cells: makes the cells of one condition; none where it has nothing to show.
        published: name of the published table, for the tasks that it has.
        needs: what records have to hold for it.
        optional: columns that are left out where nothing is in them.
        details: what cells know beside their number, for the CSV file.
    """

    stem: str
    title: str
    caption: str
    keys: Mapping[str, str]
    columns: Mapping[str, str]
    cells: Callable[[Base], Iterable[Cell]]
    published: str
    needs: str
    optional: Sequence[str] = ()
    details: Sequence[str] = ()

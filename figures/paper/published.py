"""Published numbers, as they are printed beside recomputed ones."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import StrEnum

from figures.errors import FiguresError
from figures.names import name
from stats.published.printed import Printed, printed
from stats.published.results import Status
from stats.published.source import Paper, PublishedError, Row, folder, read
from stats.published.tables import spreads

RUNS = 10
"""Runs behind each published number."""
BUDGET = 4000
"""Rollouts that each of them spent, unless the table names another number."""


class Withheld(StrEnum):
    """Why there is no verdict although there is a published number."""

    simulated = "simulated"
    impossible = "impossible spread"
    mixed = "other rows"
    budget = "other budget"
    runs = "fewer than two runs"
    constant = "no spread"
    family = "other number of tasks"
    curves = "read off mean curves"


@dataclass(frozen=True, slots=True)
class Published:
    """A published number, or a pair of mean and spread, or words.

    `method` names the method where the column does not, `doubt` is the reason not to compare with the number itself.
    """

    value: Printed | None
    spread: Printed | None = None
    runs: int = RUNS
    budget: int = BUDGET
    method: str = ""
    words: str = ""
    doubt: Withheld | None = None

    @property
    def text(self) -> str:
        """How it was printed."""
        number = self.words or (self.value.text if self.value else "")
        number += f" ± {self.spread.text}" if self.spread else ""
        return f"{number} ({name(self.method)})" if self.method else number


@functools.cache
def paper() -> Paper:
    """All published tables.

    Raises:
        FiguresError: they are not where they should be, or cannot be read.
    """
    try:
        return read(folder())
    except PublishedError as error:
        raise FiguresError(f"published numbers: {error}") from None


def row_of(table: str, **where: str) -> Row | None:
    """The row of a published table that has these values, if there is one."""
    return next(paper().rows(table, **where), None)


def number(table: str, column: str, **where: str) -> Published | None:
    """One published number without a spread, if there is one."""
    row = row_of(table, **where)
    return None if row is None else Published(row.number(column))


@functools.cache
def impossible(table: str) -> frozenset[str]:
    """The items of a table whose spread no runs with their mean can have, as `stats paper` finds."""
    wrong = [result for result in spreads(paper()) if result.status is Status.inconsistent]
    return frozenset(result.item for result in wrong if result.table == table)


def text(words: str) -> Published:
    """A number that is printed in the text and in no table."""
    return Published(printed(words))


def tasks(table: str) -> list[str]:
    """The tasks of a published table, in its order; none where there is no such table."""
    return list(dict.fromkeys(row["environment"] for row in paper().tables.get(table, [])))

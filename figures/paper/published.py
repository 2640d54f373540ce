"""Published numbers, as they are printed beside recomputed ones."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from enum import StrEnum

from figures.names import name
from stats.published.printed import Printed, printed
from stats.published.source import Row, folder, read_csv

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
def rows_of(table: str) -> list[Row]:
    """The rows of a published table."""
    return read_csv(folder() / f"{table}.csv")


def row_of(table: str, **where: str) -> Row | None:
    """The row of a published table that has these values, if there is one."""
    return next((row for row in rows_of(table) if where.items() <= row.fields.items()), None)


def number(table: str, column: str, **where: str) -> Published | None:
    """One published number without a spread, if there is one."""
    row = row_of(table, **where)
    return None if row is None else Published(row.number(column))


def is_possible(env: str, mean: Printed, standard_error: Printed) -> bool:
    """Whether ten returns of a task with such a mean can have such a standard error.

    n values between two limits have a sample variance of at most n / (n - 1) (highest - mean) (mean - lowest):
    R. Bhatia and C. Davis, "A better bound on the variance", American Mathematical Monthly 107 (2000). Tasks whose
    rules do not bound their returns can have any.
    """
    limits = row_of("return_ranges", environment=env)
    if limits is None:
        return True
    lowest, highest = (limits.number(end).value for end in ("lowest", "highest"))
    # The mean that prints so and leaves most room is the one next to the middle of the range.
    middle = min(max((lowest + highest) / 2, mean.range.low), mean.range.high)
    return standard_error.range.low <= math.sqrt(max((highest - middle) * (middle - lowest), 0.0) / (RUNS - 1))


def text(words: str) -> Published:
    """A number that is printed in the text and in no table."""
    return Published(printed(words))


def tasks(table: str) -> list[str]:
    """The tasks of a published table, in its order; none of no table."""
    return list(dict.fromkeys(row["environment"] for row in rows_of(table))) if table else []

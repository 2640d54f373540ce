"""Numbers over revisions: a sum over runs divided by another, with the spread that it has from run to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audit.measures.summary import Summary, ratio_of_sums
from figures.paper.cells import Goal
from figures.paper.writing import decimal, percent

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Select = Callable[[pd.DataFrame], Flags]


@dataclass(frozen=True)
class Measure:
    """A mean over some revisions.

    Attributes:
        of: what is averaged, shape (revisions,).
        among: which revisions count, shape (revisions,).
        goal: which cell of a row is the best.
        write: how the mean reads.
    """

    of: Callable[[pd.DataFrame], Values]
    among: Select
    goal: Goal = Goal.none
    write: Callable[[float], str] = decimal

    def mean(self, revisions: pd.DataFrame) -> Summary:
        """The mean over the revisions of all runs: sums over runs, divided."""
        runs, _ = pd.factorize(revisions["run"])
        among = self.among(revisions)
        sums = np.bincount(runs, weights=np.where(among, self.of(revisions), 0.0))
        return ratio_of_sums(sums, np.bincount(runs, weights=among))

    def count(self, revisions: pd.DataFrame) -> int:
        """In how many of the revisions that count it is not zero."""
        return int(np.count_nonzero(np.where(self.among(revisions), self.of(revisions), 0.0)))


def every(revisions: pd.DataFrame) -> Flags:
    """All revisions."""
    return np.ones(len(revisions), dtype=bool)


def equal(column: str, value: object) -> Select:
    """Those revisions that have this value."""
    return lambda revisions: revisions[column].isin([value]).to_numpy()


def known(column: str) -> Select:
    """Those revisions that have any value."""
    return lambda revisions: revisions[column].notna().to_numpy()


def classified(revisions: pd.DataFrame) -> Flags:
    """All revisions, where edit patterns of the task are known; else none."""
    can_tell = revisions["pattern"].notna().any() or revisions["direction"].isin(["no_change"]).all()
    return np.full(len(revisions), bool(can_tell))


def average(column: str, goal: Goal = Goal.none, *, digits: int = 2, among: Select | None = None) -> Measure:
    """The mean of a column over those revisions that have it, and are among the given ones."""

    def both(revisions: pd.DataFrame) -> Flags:
        here = known(column)(revisions)
        return here & among(revisions) if among else here

    return Measure(
        lambda r: r[column].to_numpy(dtype=float, na_value=np.nan), both, goal, lambda value: decimal(value, digits)
    )


def share(column: str, value: object, goal: Goal = Goal.none, *, among: Select = every) -> Measure:
    """How many of some revisions have a value, in percent."""
    return Measure(lambda r: np.where(equal(column, value)(r), 100.0, 0.0), among, goal, percent)

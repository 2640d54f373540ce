"""When do runs reach a goal, if some end before they do? Times to an event, of which some are censored.

E. L. Kaplan and P. Meier, "Nonparametric estimation from incomplete observations", Journal of the American Statistical
Association 53 (1958).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import CensoredData, ecdf


class Survival(NamedTuple):
    """A survival function: after each of `times`, shape (events,), the share of runs that are still on their way."""

    times: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def median(self) -> float:
        """The first time by which at least half are estimated to have got there; infinite where fewer do."""
        there = self.times[self.shares <= 0.5 + 1e-12]
        return float(there[0]) if there.size else math.inf


def kaplan_meier(times: ArrayLike, censored: ArrayLike) -> Survival:
    """Kaplan and Meier's estimate: the product over times t of 1 - d / n, for d events at t and n runs at risk.

    Args:
        times: shape (runs,), when a run got there, or ended.
        censored: shape (runs,), whether a run ended at its time without getting there. A run that is censored at the
            time of an event is at risk of it.

    Returns:
        A point at every time in the sample; none where no run got there.
    """
    sample, open_ended = np.asarray(times, dtype=float), np.asarray(censored, dtype=bool)
    if open_ended.all():
        return Survival(np.empty(0), np.empty(0))
    found = ecdf(CensoredData(uncensored=sample[~open_ended], right=sample[open_ended])).sf
    return Survival(found.quantiles, found.probabilities)

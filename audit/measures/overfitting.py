"""Does a search overfit the few examples by which it accepts what it tries?"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

Verdict = Literal["overfits", "does not", "cannot be told"]

FEWEST: Final = 6
"""Accepted revisions below which there is no interval: that many on one side are beyond chance by signs alone."""
LOST: Final = 0.5
"""A search overfits where validation shows less than this share of the gain on minibatches."""


class Overfitting(NamedTuple):
    """Gains where acceptance looked, and where it did not.

    Attributes:
        revisions: that count.
        minibatch, validation: mean gains.
        gap: of the two means.
        low, high: interval of the gap (Student's t over revisions); NaN below `FEWEST`.
        verdict: `overfits` where less than half of the gain is found again, beyond doubt at the level; `does not`
            where more than half is.
    """

    revisions: int
    minibatch: float
    validation: float
    gap: float
    low: float
    high: float
    verdict: Verdict


def overfitting(minibatch: ArrayLike, validation: ArrayLike, *, lost: float = LOST, level: float = 0.95) -> Overfitting:
    """Compare gains on the examples that decided on acceptance with gains on others.

    What is accepted for a high gain has been lucky more often than not, so that some gap is to be expected of any
    search (the winner's curse); the verdict is on whether most of the gain is one. The ratio of the two means is
    compared with `lost` by the t-test of `(1 − lost)·minibatch − validation` (E. C. Fieller, 1954, "Some problems in
    interval estimation", Journal of the Royal Statistical Society B 16).

    Args:
        minibatch: shape (revisions,), the gain of each accepted revision on its minibatch, a mean over examples.
        validation: shape (revisions,), its gain on examples that acceptance did not use, in the same unit; NaN where
            there are none, which leaves the revision out.
        lost: the share of the gain that may be lost.
        level: of the interval; the verdict has half of the rest on either side.
    """
    here, there = np.asarray(minibatch, dtype=float), np.asarray(validation, dtype=float)
    known = np.isfinite(here) & np.isfinite(there)
    here, there = here[known], there[known]
    if not here.size:
        return Overfitting(0, math.nan, math.nan, math.nan, math.nan, math.nan, "cannot be told")
    low, high = _interval(here - there, level)
    least, most = _interval((1 - lost) * here - there, level)
    verdict: Verdict = "overfits" if least > 0 else "does not" if most < 0 else "cannot be told"
    means = float(here.mean()), float(there.mean())
    return Overfitting(here.size, *means, means[0] - means[1], low, high, verdict)


def _interval(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], level: float) -> tuple[float, float]:
    if values.size < FEWEST:
        return math.nan, math.nan
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(values.size)
    reach = float(special.stdtrit(values.size - 1, (1 + level) / 2)) * error
    return mean - reach, mean + reach

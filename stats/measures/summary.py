"""Mean, spread and count of a sample of runs."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

# Two returns this close are the same return, computed twice: one unit in the last place must not become a finding.
TOLERANCE: Final = 1e-12


class Summary(NamedTuple):
    """A sample by its mean, its standard deviation (n - 1 in the denominator) and its size."""

    mean: float
    std: float
    n: int

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, std / sqrt(n); NaN for fewer than two values."""
        return self.std / math.sqrt(self.n) if self.n else math.nan


def same(a: float, b: float) -> bool:
    """Whether two numbers differ by no more than rounding error, relative to the larger of 1, |a| and |b|."""
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def summarise(values: ArrayLike) -> Summary:
    """Summarise one value per run.

    Args:
        values: shape (runs,). What is not finite counts as missing: it is left out, and `n` says how many were not.

    Returns:
        Sample mean and Bessel-corrected standard deviation (`numpy.std` with `ddof=1`). NaN where there are too few
        values. A sample that is constant up to rounding error has a standard deviation of exactly 0.

    Raises:
        ValueError: `values` has more than one axis.
    """
    sample = np.asarray(values, dtype=float)
    if sample.ndim != 1:
        raise ValueError(f"expected one value per run, got an array of shape {sample.shape}")
    sample = sample[np.isfinite(sample)]
    if sample.size == 0:
        return Summary(math.nan, math.nan, 0)
    if same(float(sample.min()), float(sample.max())):
        return Summary(float(sample[0]), 0.0 if sample.size > 1 else math.nan, sample.size)
    return Summary(float(sample.mean()), float(sample.std(ddof=1)), sample.size)

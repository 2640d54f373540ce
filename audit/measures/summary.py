"""Mean, spread and count of a sample of runs."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

# Two returns whose ratio is this close to 1 are the same return, computed twice: one unit in the last place must not
# become a finding. An absolute bound would take samples whose numbers are small themselves for constant ones.
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
    """Whether two numbers differ by no more than rounding error, relative to the larger of |a| and |b|."""
    return math.isclose(a, b, rel_tol=TOLERANCE)


def summarise(values: ArrayLike) -> Summary:
    """Summarise one value per run.

    Args:
        values: shape (runs,). What is not finite counts as missing: it is left out, and `n` counts the others.

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


def ratio_of_sums(numerators: ArrayLike, denominators: ArrayLike) -> Summary:
    """A ratio of two sums over runs, with the spread that it has from run to run.

    W. G. Cochran, "Sampling Techniques" (3rd edition, 1977), section 6.4: the standard error of R = sum(a) / sum(b) is
    that of the mean of a - R b, divided by the mean of b. Where all b are equal it is that of the mean of a / b.

    Args:
        numerators: shape (runs,), such as the regressions of each run.
        denominators: shape (runs,), such as the revisions of each run; not negative.

    Returns:
        The ratio, the standard deviation that a run's share in it has, and the number of runs. All NaN where the
        denominators sum to zero.
    """
    a, b = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if not b.sum() > 0:
        return Summary(math.nan, math.nan, int(b.size))
    ratio = float(a.sum() / b.sum())
    if b.size < 2:
        return Summary(ratio, math.nan, int(b.size))
    std = float((a - ratio * b).std(ddof=1) / b.mean())
    return Summary(ratio, std if std > TOLERANCE * abs(ratio) else 0.0, int(b.size))

"""How numbers read in the paper's tables."""

from __future__ import annotations

from audit.measures.summary import Summary
from figures.tables import MISSING, shown


def spread(summary: Summary, digits: int = 2) -> str:
    """Mean ± standard deviation; of one run the mean alone."""
    number, other = (decimal(value, digits) for value in (summary.mean, summary.std))
    return number if MISSING in (number, other) else f"{number} ± {other}"


def decimal(value: float, digits: int = 2) -> str:
    """A number with so many decimals."""
    return shown(value, f"{{:.{digits}f}}")


def percent(value: float) -> str:
    """A percentage, with one decimal."""
    return shown(value, "{:.1f}%")


def probability(value: float | None) -> str:
    """A p-value as the paper prints it: four decimals, powers of ten below 0.0001."""
    if value == 0:
        return "0"
    return shown(value, "{:.4f}" if value is not None and value >= 1e-4 else "{:.1e}")

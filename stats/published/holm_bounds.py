"""Holm's correction of p-values that are known to within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Final

from stats.published.intervals import Interval

_EXACT: Final = Context(prec=60)
"""Digits enough for any printed p-value; computed ones come with slack."""


def holm_bounds(p_values: Sequence[Interval]) -> list[Interval]:
    """Bounds of the adjusted p-values of one family.

    Holm's procedure is the closed test of Bonferroni's: the adjusted p-value of a test is the largest |I| min(p_k, k in
    I), at most 1, over all sets I of tests that it belongs to (R. Marcus, E. Peritz and K. R. Gabriel, "On closed
    testing procedures with special reference to ordered analysis of variance", Biometrika 63, 1976). No such term
    falls when a p-value rises, so neither does their largest: the lower ends of all p-values give the lower ends of all
    results, and the upper ends the upper ends.

    Args:
        p_values: one interval within 0 to 1 for each test of the family, also for those of which nothing is known.
    """
    low, high = _holm([p.low for p in p_values]), _holm([p.high for p in p_values])
    return [Interval(*ends) for ends in zip(low, high, strict=True)]


def _holm(p_values: Sequence[Decimal]) -> list[Decimal]:
    # Written out although `measures.holm` has it: that one's library takes longer to load than all of this to run.
    adjusted = [Decimal(1)] * len(p_values)
    so_far = Decimal(0)
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, test in enumerate(order):
        so_far = max(so_far, min(_EXACT.multiply(len(order) - rank, p_values[test]), Decimal(1)))
        adjusted[test] = so_far
    return adjusted

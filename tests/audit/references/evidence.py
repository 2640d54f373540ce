"""What the sentences of the tests are read against."""

from __future__ import annotations

from audit.references import Shown
from audit.vocabulary.evidence import ShownRollout


def three(worst, median, best, **known):
    """Evidence of three rollouts, each (index, return, length)."""
    labelled = zip(("worst", "median", "best"), (worst, median, best), strict=True)
    return Shown(tuple(ShownRollout(label, *facts) for label, facts in labelled), **known)


POLE = three((17, 446.0, 446), (3, 490.0, 490), (0, 500.0, 500))
PONG = three((5, -1.0, 81), (2, 1.0, 389), (9, 3.0, 1000))
LAKE = three((4, 0.0, 9), (4, 0.0, 9), (6, 1.0, 15))
LUCKY_LAKE = three((4, 0.0, 9), (7, 1.0, 23), (7, 1.0, 23))
SWIM = three((12, -3.7261, 1000), (8, 21.5049, 1000), (19, 40.0, 1000))
SAME = three((0, 500.0, 500), (0, 500.0, 500), (0, 500.0, 500))
UNNUMBERED = three((None, 446.0, 446), (None, 490.0, 490), (None, 500.0, 500))
MEDIAN = Shown((ShownRollout("median", 0, 500.0, 500),), smallest=303.0, largest=500.0)
EXAMPLE = Shown((ShownRollout("representative", 6, 21.0, 21),), returns=(9.0, 30.0, 24.0, 25.0, 18.0, 26.0, 21.0))
NOTHING = Shown()
EVIDENCE = {
    "POLE": POLE,
    "PONG": PONG,
    "LAKE": LAKE,
    "LUCKY_LAKE": LUCKY_LAKE,
    "SWIM": SWIM,
    "SAME": SAME,
    "UNNUMBERED": UNNUMBERED,
    "MEDIAN": MEDIAN,
    "EXAMPLE": EXAMPLE,
    "NOTHING": NOTHING,
}

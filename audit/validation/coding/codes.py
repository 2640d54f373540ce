"""What is coded of an answer: the columns of a file of labels, and the codes that they may hold."""

from __future__ import annotations

from typing import Final

from audit.detectors.detector import Detector
from audit.vocabulary.drivers import DRIVERS

YES: Final = "1"
NO: Final = "0"

CODES: Final[dict[str, tuple[str, ...]]] = {
    "mentions_worst": (YES, NO),
    "mentions_median": (YES, NO),
    "mentions_best": (YES, NO),
    "discounts_worst": (YES, NO),
    "driver": DRIVERS,
}
"""The codes that each column may hold, in the order of the columns."""


def codes_for(detector: Detector) -> dict[str, tuple[str, ...]]:
    """The columns of a sheet and the codes that each may hold: the usual ones, and those of a user's detector."""
    return {**CODES, **detector.codes}

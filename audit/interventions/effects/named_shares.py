"""What shares are called, and the smallest of each that is of interest."""

from __future__ import annotations

from typing import Final

CONTENTS: Final = ("worst content", "median content", "best content")
LABELS: Final = ("called worst", "called median", "called best")
PLACES: Final = ("shown first", "shown second", "shown last")
NUMBERS: Final = ("lowest printed return", "median printed return", "highest printed return")
ANY: Final = "any rollout"
NOTHING: Final = "no evidence"
SHARES: Final = (*CONTENTS, *LABELS, *PLACES, *NUMBERS, ANY, NOTHING)
"""The shares, in the order in which they are estimated."""
FACTORS: Final = (CONTENTS, LABELS, PLACES, NUMBERS)
"""Those of which one level's gain is the others' loss."""
FOLLOWED: Final = frozenset(name for names in FACTORS for name in names)
"""The shares that say which rollout is followed."""

WORDING: Final = "wording"
LENGTH: Final = "length"
HEADINGS: Final = "order of headings"
STIMULI: Final = (WORDING, LENGTH, HEADINGS)
"""What is no rollout; given as share-equivalents."""
NAMES: Final = "names of rollouts"
ORDER: Final = "order of rollouts"
UNTRACED: Final = (NAMES, ORDER)
"""What can move edits of a critic that, shown one rollout, edits the same for each: no share says who is followed."""

SMALLEST: Final = 0.15
"""The smallest share of interest, unless a plan states another."""
SMALLEST_CONTENT: Final = 0.25
"""The same of contents and of numbers, which are known less well."""


def margin_of(share: str, smallest: float) -> float:
    """The smallest share of interest of one share."""
    return max(smallest, SMALLEST_CONTENT) if share in {*CONTENTS, *NUMBERS} else smallest


def holds_all(low: float, high: float) -> bool:
    """Whether an interval holds all that a share of revisions can be, from none to all, and so says nothing."""
    return low <= 0 and high >= 1


def within(value: float) -> float:
    """A number within what a share can be."""
    return max(-1.0, min(1.0, value))

"""Which item of the evidence an audit asks about: the worst one, unless `--about` names another."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from audit.output.errors import UsageError
from audit.output.escaping import in_line

Kind = Literal["role", "place", "label", "id", "own"]

ROLES: Final = ("worst", "median", "best", "representative")
PLACES: Final = {"first": 1, "last": -1}
"""Places in the order of display, as lists are counted in SQL."""
OWN: Final = "own"
"""What a detector is about whose question is of no single item."""
_LABEL: Final = "label:"


class About(NamedTuple):
    """An item of the evidence, the same way of choosing it for every revision.

    Attributes:
        text: as it is given, and as the column `about` has it.
        kind: by its role, its place in the display, its label or heading, or its id (a rollout's index, an example's
            id); `own` where a detector asks of no item.
    """

    text: str
    kind: Kind

    @property
    def name(self) -> str:
        """The role, label or id alone."""
        return self.text.removeprefix(_LABEL)

    @property
    def place(self) -> int | None:
        """The place in the display, from 1, or -1 at the end; None where it is not chosen by its place."""
        return PLACES.get(self.text)

    @property
    def is_worst(self) -> bool:
        """Whether it is what the published columns are about."""
        return self == WORST

    def __str__(self) -> str:
        words = {"role": "the {} rollout", "place": "the {} item shown", "label": "the item {}", "id": "item {}"}
        return words.get(self.kind, "what it asks for").format(in_line(self.name))


WORST: Final = About("worst", "role")


def parse_about(text: str) -> About:
    """Read what is asked about: worst, median, best, representative, first, last, own, `label:X`, or an id.

    Raises:
        UsageError: it is empty.
    """
    if text in ROLES:
        return About(text, "role")
    if text in PLACES:
        return About(text, "place")
    if text == OWN:
        return About(text, "own")
    if not text.removeprefix(_LABEL).strip():
        raise UsageError("--about is empty; it takes worst, median, best, first, last, label:X, or an item's id")
    return About(text, "label" if text.startswith(_LABEL) else "id")

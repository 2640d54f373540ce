"""What is coded of an answer: the columns of a file of labels, and what may stand in them."""

from __future__ import annotations

from typing import Final, NamedTuple

from audit.references import visible

IDENTITY: Final = ("condition", "env", "variant", "run", "iteration")

YES: Final = "1"
NO: Final = "0"
DRIVERS: Final = ("worst", "shared", "median", "best", "history", "structure", "none")

CODES: Final[dict[str, tuple[str, ...]]] = {
    "mentions_worst": (YES, NO),
    "mentions_median": (YES, NO),
    "mentions_best": (YES, NO),
    "discounts_worst": (YES, NO),
    "driver": DRIVERS,
}
"""The codes that each column may hold, in the order of the columns."""


class Identity(NamedTuple):
    """A revision, by what its record says of it."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int

    def __str__(self) -> str:
        text = f"{self.condition} {self.env} {self.variant} run {self.run} iteration {self.iteration}"
        return visible(text).replace("\n", " ")

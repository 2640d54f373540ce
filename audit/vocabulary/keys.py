"""What identifies a run, and an iteration of it."""

from __future__ import annotations

from typing import NamedTuple

from audit.output.escaping import visible


class RunKey(NamedTuple):
    """Identifies a run by the fields that open its records."""

    condition: str
    env: str
    variant: str
    run: int


class RevisionKey(NamedTuple):
    """Identifies an iteration, and so its revision."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int

    def __str__(self) -> str:
        text = f"{self.condition} {self.env} {self.variant} run {self.run} iteration {self.iteration}"
        return visible(text).replace("\n", " ")

"""What tells records apart."""

from __future__ import annotations

from typing import NamedTuple

from audit.output.escaping import visible


class RunKey(NamedTuple):
    """A run, by what its record says of it."""

    condition: str
    env: str
    variant: str
    run: int


class RevisionKey(NamedTuple):
    """An iteration, and so its revision, by what its record says of it."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int

    def __str__(self) -> str:
        text = f"{self.condition} {self.env} {self.variant} run {self.run} iteration {self.iteration}"
        return visible(text).replace("\n", " ")

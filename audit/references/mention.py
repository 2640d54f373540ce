"""A mention: a place in a text that points at one or more rollouts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Label = Literal["worst", "median", "best", "representative"]
"""A role that a rollout can have in the evidence."""

Kind = Literal["label", "index", "return", "paraphrase", "quote"]
"""How a mention points: by its role's name or heading, by number, by its return, by a description, or by words that
only one of the items shown has."""

LABELS: Final[tuple[Label, ...]] = ("worst", "median", "best", "representative")


@dataclass(frozen=True, slots=True)
class Target:
    """The rollouts that a mention points at, by role and by index; both are empty where it could not be resolved.

    Attributes:
        labels: every role of these rollouts, in the order of `LABELS`, none for a rollout without a role; then the
            headings of items that have no label of their own, in lower case.
        rollouts: their indices among the K rollouts, ascending; empty where the indices are unknown.
    """

    labels: tuple[str, ...] = ()
    rollouts: tuple[int, ...] = ()

    def __or__(self, other: Target) -> Target:
        """Both targets together."""
        both = {*self.labels, *other.labels}
        return Target(
            (*(label for label in LABELS if label in both), *sorted(both.difference(LABELS))),
            tuple(sorted({*self.rollouts, *other.rollouts})),
        )

    def __bool__(self) -> bool:
        return bool(self.labels or self.rollouts)


UNRESOLVED: Final = Target()


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to rollouts.

    Attributes:
        start: offset of the first character in the text.
        end: offset behind the last character.
        text: the characters between, as they are in the text.
        kind: how it points.
        labels: every role of the rollouts that it points at, and headings of items, as `Target` has them; empty where
            unresolved or where they have none.
        rollouts: their indices; empty where unresolved or unknown.
        negated: the statement is denied of these rollouts ("not the worst rollout", "unlike the best one").
        discounted: a user's detector states that the rollouts are set aside; None where nothing states it.
    """

    start: int
    end: int
    text: str
    kind: Kind
    labels: tuple[str, ...]
    rollouts: tuple[int, ...]
    negated: bool = False
    discounted: bool | None = None

    @property
    def worst(self) -> bool:
        """Whether the worst rollout is among the targets."""
        return "worst" in self.labels

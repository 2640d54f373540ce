"""What a call shows a critic: the recorded rollouts, unchanged or in another way.

A content is a rollout by its true role: `worst`, `median` and `best` of those recorded, `other` for the recorded
rollout that takes one's place, `q0.25` for the one at that quantile of the returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from collector.prompt_parts import LETTERS, Block, CriticPrompt

if TYPE_CHECKING:
    from collector.remedies import Situation

ROLES: Final = ("worst", "median", "best")
NEUTRAL_FRAMES: Final = ("N0", "P1", "P3", "P4", "P5", "P6")
"""The arms whose frames mean the same."""
_REVERSED: Final = (2, 1, 0)


@dataclass(frozen=True, slots=True)
class Shown:
    """One rollout as a call shows it.

    Attributes:
        content: its true role.
        number: whose return is printed with it; None where it is hidden.
        block: what the prompt prints.
    """

    content: str
    number: str | None
    block: Block


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the arms of a unit are made from.

    Attributes:
        prompt: the recorded one.
        contents: its rollouts by true role, and `other` and `q…` where they are needed.
        fresh: rollouts of the same policy on fresh seeds by the number of the draw, each by role.
        number_readable: the returns can be read off the rollouts themselves, so that they are never exchanged in `C`.
        frames: the arms among whose frames `C` draws; in plans of schema 1 the neutral one alone.
        situation: what remedies rewrite the prompt from, with draws of their own; None where no arm needs it.
    """

    prompt: CriticPrompt
    contents: Mapping[str, Block]
    fresh: Sequence[Mapping[str, Block]] = ()
    number_readable: bool = True
    frames: Sequence[str] = NEUTRAL_FRAMES
    situation: Callable[[np.random.Generator], Situation] | None = None

    @property
    def recorded(self) -> list[Shown]:
        """The rollouts as they were shown."""
        return [Shown(role, role, self.contents[role]) for role in ROLES]

    def identified(self, blocks: Sequence[Block]) -> list[Shown]:
        """Rollouts of the evaluation by their true roles; those that were not shown are `other`."""
        roles = {self.contents[role].rollout: role for role in ROLES}
        contents = [roles.get(block.rollout, "other") for block in blocks]
        return [
            Shown(content, None if block.value is None else content, block)
            for content, block in zip(contents, blocks, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Call:
    """What a prompt is made from.

    Attributes:
        evidence: of the unit.
        rng: draws what the arm leaves to chance.
        replicate: number of the call in its unit and arm, from 0.
    """

    evidence: Evidence
    rng: np.random.Generator
    replicate: int


Shows = Callable[[Call], list[Shown]]
"""The rollouts that a call shows."""


def recorded(call: Call) -> list[Shown]:
    """The rollouts as they were shown."""
    return call.evidence.recorded


def redrawn(call: Call) -> list[Shown]:
    """Rollouts of the same policy on fresh seeds."""
    fresh = call.evidence.fresh[call.replicate % len(call.evidence.fresh)]
    return [Shown(f"fresh {role}", f"fresh {role}", fresh[role]) for role in ROLES]


def conjoint(call: Call) -> list[Shown]:
    """Every attribute drawn by itself; a number that can be read off the rollout is true, or all are hidden."""
    order, labels, numbers = (call.rng.permutation(3) for _ in range(3))
    hides = bool(call.rng.random() < 0.5)
    shown = _labelled(call.evidence.recorded, labels)
    if not call.evidence.number_readable:
        shown = _numbered(shown, numbers)
    elif hides:
        shown = _hidden(shown)
    return [shown[place] for place in order]


def hidden(call: Call) -> list[Shown]:
    """Returns hidden."""
    return _hidden(call.evidence.recorded)


def labels_exchanged(one: str, other: str) -> Shows:
    """The labels of two exchanged, returns hidden."""
    names = {one: other, other: one}
    labels = [ROLES.index(names.get(role, role)) for role in ROLES]
    return lambda call: _hidden(_labelled(call.evidence.recorded, labels))


def nothing(_: Call) -> list[Shown]:
    """No rollout."""
    return []


def letters(call: Call) -> list[Shown]:
    """Rollout A, B, C in place of the labels."""
    return _lettered(call.evidence.recorded)


def letters_turned(call: Call) -> list[Shown]:
    """Rollout A, B, C in this order, with the rollouts in reverse order under them."""
    return _lettered(call.evidence.recorded[::-1])


def letters_shuffled(call: Call) -> list[Shown]:
    """No labels, random order."""
    recorded = call.evidence.recorded
    return _lettered([recorded[place] for place in call.rng.permutation(3)])


def turned(call: Call) -> list[Shown]:
    """In reverse order."""
    return call.evidence.recorded[::-1]


def numbers_exchanged(call: Call) -> list[Shown]:
    """The numbers of worst and best exchanged."""
    return _numbered(call.evidence.recorded, _REVERSED)


def replaced(role: str) -> Shows:
    """Another rollout in place of one; no labels, random order."""

    def shows(call: Call) -> list[Shown]:
        other = Shown("other", "other", call.evidence.contents["other"])
        shown = [other if each.content == role else each for each in call.evidence.recorded]
        return _lettered([shown[place] for place in call.rng.permutation(3)])

    return shows


def without(role: str) -> Shows:
    """All but one."""
    return lambda call: [each for each in call.evidence.recorded if each.content != role]


def alone(role: str) -> Shows:
    """One, without a label."""
    return lambda call: _lettered([Shown(role, role, call.evidence.contents[role])])


def dosed(quantile: float) -> Shows:
    """The rollout at a quantile of the returns under the name of the worst."""
    content = f"q{quantile:g}"

    def shows(call: Call) -> list[Shown]:
        worst, *others = call.evidence.recorded
        return [Shown(content, content, replace(call.evidence.contents[content], name=worst.block.name)), *others]

    return shows


def _hidden(shown: Sequence[Shown]) -> list[Shown]:
    return [Shown(each.content, None, each.block.hidden()) for each in shown]


def _labelled(shown: Sequence[Shown], labels: Iterable[int]) -> list[Shown]:
    """Each under the heading of another."""
    return [
        Shown(each.content, each.number, replace(each.block, name=shown[label].block.name))
        for each, label in zip(shown, labels, strict=True)
    ]


def _numbered(shown: Sequence[Shown], numbers: Iterable[int]) -> list[Shown]:
    """Each with the return of another."""
    return [
        Shown(each.content, shown[number].content, each.block.with_number_of(shown[number].block))
        for each, number in zip(shown, numbers, strict=True)
    ]


def _lettered(shown: Sequence[Shown]) -> list[Shown]:
    return [
        Shown(each.content, each.number, replace(each.block, name=name))
        for each, name in zip(shown, LETTERS, strict=False)
    ]

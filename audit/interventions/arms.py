"""The arms of an experiment: how each changes a critic's prompt, and what was drawn for a call.

A content is a rollout by its true role: `worst`, `median` and `best` of those recorded, `other` for the recorded
rollout that takes one's place, `q0.25` for the one at that quantile of the returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from audit.interventions.prompt import Block, CriticPrompt

ROLES: Final = ("worst", "median", "best")
LETTERS: Final = ("Rollout A", "Rollout B", "Rollout C")
QUANTILES: Final = (0.0, 0.1, 0.25, 0.5)

Needs = Literal["prompt", "rollouts", "policy"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to ask.

    Attributes:
        id: its name.
        meaning: what is changed, in a few words.
        control: the arm it is compared with; None if it has no control.
        needs: the recorded `prompt` alone; other recorded `rollouts` of the policy; or the `policy`, run on fresh
            seeds.
    """

    id: str
    meaning: str
    control: str | None = None
    needs: Needs = "prompt"


ARMS: Final[Mapping[str, Arm]] = {
    arm.id: arm
    for arm in (
        Arm("A0", "the recorded prompt, asked again"),
        Arm("N0", "a neutral frame that states neither the order nor the number of rollouts", "A0"),
        Arm("N0h", "the neutral frame with returns hidden", "N0"),
        Arm("P1", "the neutral frame, reworded and laid out differently", "N0"),
        Arm("P2", "other evidence of the same policy: rollouts on fresh seeds, selected anew", "N0", "policy"),
        Arm("C", "order, labels and numbers drawn independently for every call"),
        Arm("XL", "the labels of worst and best exchanged, returns hidden", "N0h"),
        Arm("XA", "Rollout A, B, C in place of the labels", "N0"),
        Arm("XP", "the rollouts in reverse order", "N0"),
        Arm("XN", "the numbers of worst and best exchanged", "N0"),
        Arm("RW", "another rollout near the median in place of the worst; no labels, random order", "RM", "rollouts"),
        Arm("RM", "the same rollout in place of the median one; no labels, random order", None, "rollouts"),
        Arm("RB", "the same rollout in place of the best; no labels, random order", "RM", "rollouts"),
        *(Arm(f"D{q:g}", f"the worst replaced by the rollout at quantile {q:g}", "D0", "rollouts") for q in QUANTILES),
        Arm("DW", "without the worst rollout", "DM"),
        Arm("DM", "without the median rollout"),
        Arm("DB", "without the best rollout", "DM"),
        Arm("S_w", "the worst rollout alone, without a label"),
        Arm("S_m", "the median rollout alone, without a label"),
        Arm("S_b", "the best rollout alone, without a label"),
        Arm("I", "without the instructions that mention the worst rollout", "A0"),
        Arm("H", "earlier trials in random order", "A0"),
    )
}

FRAMES: Final = ("N0", "N0h")
"""Arms that serve as controls; their own effect is tested only where their own control is asked as well."""


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
class Asked:
    """A prompt of an arm, and the rollouts that it shows, in order."""

    prompt: str
    shown: tuple[Shown, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the arms of a unit are made from.

    Attributes:
        prompt: the recorded one.
        contents: its rollouts by true role, and `other` and `q…` where they are needed.
        fresh: rollouts of the same policy on fresh seeds by the number of the draw, each by role.
        number_readable: the returns can be read off the rollouts themselves, so that they are never exchanged in `C`.
    """

    prompt: CriticPrompt
    contents: Mapping[str, Block]
    fresh: Sequence[Mapping[str, Block]] = ()
    number_readable: bool = True


def ask(arm: str, evidence: Evidence, rng: np.random.Generator, replicate: int = 0) -> Asked:
    """Make the prompt of one call.

    Args:
        arm: one of `ARMS`.
        evidence: of the unit.
        rng: draws what the arm leaves to chance.
        replicate: number of the call in its unit and arm, from 0: which fresh rollouts `P2` shows.
    """
    plain = [Shown(role, role, evidence.contents[role]) for role in ROLES]
    frame = _frame(arm, evidence.prompt, rng)
    if arm == "P2":
        fresh = evidence.fresh[replicate % len(evidence.fresh)]
        shown = [Shown(f"fresh {role}", f"fresh {role}", fresh[role]) for role in ROLES]
    elif arm == "C":
        shown = _conjoint(evidence, rng)
    elif arm in _REPLACED:
        shown = list(plain)
        shown[_REPLACED.index(arm)] = Shown("other", "other", evidence.contents["other"])
        shown = _lettered([shown[place] for place in rng.permutation(3)])
    elif arm in _DROPPED:
        shown = [each for place, each in enumerate(plain) if place != _DROPPED.index(arm)]
    elif arm in _SINGLE:
        shown = _lettered([plain[_SINGLE.index(arm)]])
    elif arm in _DOSES:
        content = f"q{arm.removeprefix('D')}"
        shown = [Shown(content, content, replace(evidence.contents[content], name=plain[0].block.name)), *plain[1:]]
    else:
        shown = _SWAPPED[arm](plain) if arm in _SWAPPED else plain
    return Asked(str(frame.with_blocks([each.block for each in shown])), tuple(shown))


def _frame(arm: str, recorded: CriticPrompt, rng: np.random.Generator) -> CriticPrompt:
    """What is around the rollouts."""
    match arm:
        case "A0":
            return recorded
        case "I":
            return recorded.without_warnings()
        case "H":
            return recorded.with_trials(rng.permutation(recorded.trials).tolist())
        case "P1":
            return recorded.neutral().placebo()
    return recorded.neutral()


def _conjoint(evidence: Evidence, rng: np.random.Generator) -> list[Shown]:
    """Every attribute drawn by itself; a number that can be read off the rollout is true, or all are hidden."""
    order, labels, numbers = (rng.permutation(3) for _ in range(3))
    hides = bool(rng.random() < 0.5)
    plain = [Shown(role, role, evidence.contents[role]) for role in ROLES]
    shown = _labelled(plain, labels)
    if not evidence.number_readable:
        shown = _numbered(shown, numbers)
    elif hides:
        shown = _hidden(shown)
    return [shown[place] for place in order]


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


_REPLACED: Final = ("RW", "RM", "RB")
_DROPPED: Final = ("DW", "DM", "DB")
_SINGLE: Final = ("S_w", "S_m", "S_b")
_DOSES: Final = tuple(f"D{quantile:g}" for quantile in QUANTILES)
_REVERSED: Final = (2, 1, 0)
_SWAPPED: Final[Mapping[str, Callable[[Sequence[Shown]], list[Shown]]]] = {
    "N0h": _hidden,
    "XL": lambda shown: _hidden(_labelled(shown, _REVERSED)),
    "XA": _lettered,
    "XP": lambda shown: list(shown[::-1]),
    "XN": lambda shown: _numbered(shown, _REVERSED),
}
"""Arms that show the three rollouts in another way."""

"""What an experiment found, answer by answer: the form that every test of it takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from audit.interventions.arms import BASE
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from audit.interventions.units import Unit

Floats = NDArray[np.float64]

HIDDEN: Final = None
"""The number of a rollout whose return was not shown."""


@dataclass(frozen=True, slots=True)
class Place:
    """What was shown at one place of the evidence.

    Attributes:
        content: its true role: `worst`, `median`, `best`, `other` and so on.
        label: the role that its heading stated; None for `Rollout A`.
        number: the content whose return was printed with it; None where returns were hidden.
    """

    content: str
    label: str | None
    number: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """An answer, read.

    Attributes:
        unit: index among the experiment's units.
        arm: how it was asked.
        replicate: number of the answer among those of its unit and arm, from 0.
        order: place of its call in the order of all calls, from 0.
        shown: the rollouts in the order of display.
        readable: a parameter vector could be read.
        driver: content of the rollout that the change is chiefly justified by; None where it is no single rollout.
        mentioned: contents of the rollouts that the answer mentions.
        says_worst: the word is in it.
        edit: shape (parameters,), or (parameters × actions,) for tables: the change in units of the search step, or for
            each entry of the table and each action 1 where the entry was changed to that action. An unreadable answer
            leaves the policy as it was, as the search does: zeros.
        changed: number of parameters that changed.
        gain: return of the revised policy minus that of the policy under review, on the same fresh seeds; NaN where
            policies are not run, as in most arms.
        harmful: the gain is below minus two standard errors.
        completion: digest of the text, for repeated answers.
        words: number of words.
        prompt_tokens: as the backend counts them; None where it does not.
        prompt_characters: length of the prompt.
        named: contents of the rollouts that the answer names in a sentence that gives a reason for its change.
        frame: the arm whose frame was drawn; says something of answers under `C` only.
    """

    unit: int
    arm: str
    replicate: int
    order: int
    shown: tuple[Place, ...]
    readable: bool
    driver: str | None
    mentioned: frozenset[str]
    says_worst: bool
    edit: Floats
    changed: int
    gain: float
    harmful: bool
    completion: str
    words: int
    prompt_tokens: int | None
    prompt_characters: int
    named: frozenset[str] = frozenset()
    frame: str = BASE


@dataclass(frozen=True)
class Experiment:
    """Units and the answers to them.

    Attributes:
        units: those of the plan.
        answers: in the order of the plan's calls.
    """

    units: Sequence[Unit]
    answers: Sequence[Answered]

    @cached_property
    def by_arm(self) -> Mapping[str, Mapping[int, list[Answered]]]:
        """Answers by arm and unit."""
        found: dict[str, dict[int, list[Answered]]] = defaultdict(lambda: defaultdict(list))
        for answer in self.answers:
            found[answer.arm][answer.unit].append(answer)
        return found

    def arm(self, name: str) -> Mapping[int, list[Answered]]:
        """The answers of an arm by unit; empty where there are none."""
        return self.by_arm.get(name, {})

    @cached_property
    def clusters(self) -> Sequence[RunKey]:
        """The run of each unit."""
        return [unit.cluster for unit in self.units]

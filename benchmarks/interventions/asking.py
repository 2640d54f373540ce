"""Data sets: a planted critic is asked all calls of a plan, and its answers are read as a user's are, without texts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from audit.interventions.arms import ARMS, BASE, CONJOINT, PLACEBOS
from audit.interventions.effects.named_shares import LENGTH, STIMULI, WORDING
from audit.interventions.experiment import Answered, Experiment, Floats, Place
from audit.interventions.showing import Call, Evidence, Shown
from audit.interventions.units import Unit
from benchmarks.interventions.critics import Critic, followed

OUTSPOKEN: Final = 0.9
"""Share of revisions for a rollout that name it."""
WORDS: Final = 60
"""Of an answer, whose text is not written."""
_FRAMED: Final = ("A0", *PLACEBOS)
"""Arms whose wording is another than that of `BASE`."""


class Edits(Protocol):
    """Where edits come from."""

    def evidence(self, unit: Unit) -> Evidence:
        """What its arms are made from."""

    def characters(self, unit: Unit, frame: str, shown: Sequence[Shown]) -> int:
        """Length of a prompt in the frame of an arm."""

    def for_rollout(self, unit: Unit, shown: Shown | None, rng: np.random.Generator) -> Floats:
        """An edit made for a rollout, or without evidence; NaN where it cannot be read."""

    def for_stimulus(self, unit: Unit, motive: str, level: str | int, rng: np.random.Generator) -> Floats:
        """An edit that goes by the wording, the prompt's length or the order of headings, and by no rollout."""


def experiment(
    edits: Edits, critic: Critic, units: Sequence[Unit], arms: Mapping[str, int], rng: np.random.Generator
) -> Experiment:
    """Ask a critic all calls of a plan in random order.

    Args:
        edits: makes them.
        critic: decides what each is made for.
        units: who are asked about.
        arms: answers of each unit by arm.
        rng: of all draws.
    """
    calls = [
        (place, arm, replicate)
        for place in range(len(units))
        for arm, number in arms.items()
        for replicate in range(number)
    ]
    carries = {
        "all": [True] * len(units),
        "a fifth of units": [place % 5 == 0 for place in range(len(units))],
        "one run": [unit.cluster == units[0].cluster for unit in units],
    }[critic.carried]
    answers = []
    for order, chosen in enumerate(rng.permutation(len(calls)).tolist()):
        place, arm, replicate = calls[chosen]
        motive = critic.motive(rng, carries=carries[place])
        answers.append(_answer(edits, critic, motive, (units[place], place, arm, replicate, order), rng))
    return Experiment(units, answers)


def _answer(
    edits: Edits, critic: Critic, motive: str, call: tuple[Unit, int, str, int, int], rng: np.random.Generator
) -> Answered:
    unit, number, arm, replicate, order = call
    evidence = edits.evidence(unit)
    shown = ARMS[arm].shows(Call(evidence, rng, replicate))
    places = tuple(Place(each.content, each.block.label, each.number) for each in shown)
    frame = evidence.frames[int(rng.integers(len(evidence.frames)))] if arm == CONJOINT else arm
    characters = edits.characters(unit, frame, shown)
    named: frozenset[str] = frozenset()
    if motive in STIMULI:
        level: str | int = "/".join(each.block.name for each in shown)
        if motive in {WORDING, LENGTH}:
            level = characters if motive == LENGTH else frame if frame in _FRAMED else BASE
        edit = edits.for_stimulus(unit, motive, level, rng)
    else:
        returns = {content: block.value or 0.0 for content, block in evidence.contents.items()}
        place = followed(motive, places, returns, rng)
        edit = edits.for_rollout(unit, None if place is None else shown[place], rng)
        if place is not None and rng.random() < OUTSPOKEN:
            named = frozenset({places[place].content})
    refused = critic.unreadable is not None and critic.unreadable[0] == arm and rng.random() < critic.unreadable[1]
    readable = not refused and bool(np.isfinite(edit).all())
    edit = edit if readable else np.zeros_like(edit)
    named = named if readable else frozenset()
    return Answered(
        unit=number,
        arm=arm,
        replicate=replicate,
        order=order,
        shown=places,
        readable=readable,
        driver=min(named, default=None),
        mentioned=named,
        says_worst=False,
        edit=edit,
        changed=int(np.count_nonzero(edit)),
        gain=math.nan,
        harmful=False,
        completion=str(order),
        words=WORDS,
        prompt_tokens=None,
        prompt_characters=characters,
        named=named,
        frame=frame if arm == CONJOINT else BASE,
    )

"""Data sets: units of the pool, asked of a simulated critic under some arms, and read as a user's answers are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from audit.interventions.answers import ShownLine
from audit.interventions.arms import Asked, ask
from audit.interventions.experiment import Answered, Experiment, Place
from audit.interventions.outcomes import HARM, Reading, changed_of, edit_of, read_text
from audit.interventions.units import Unit
from audit.vocabulary.keys import RevisionKey
from benchmarks.interventions.pool import Pool
from collector import seeding
from collector.llm.simulated import SimulatedModel
from collector.llm.simulated.model import read_request
from collector.llm.simulated.reading import Request
from collector.policy import UnreadableAnswer, from_text
from collector.rollouts.evaluate import evaluate
from collector.tasks import get_task

DRAWN: Final = frozenset({"C", "RW", "RM", "RB", "H"})
"""Arms whose prompts differ from call to call."""
WITH_TEXT: Final = frozenset({"A0", "N0", "C"})
"""Arms whose texts are read: those that text outcomes are about."""
KEPT: Final = 10_000
"""Prompts that are kept as read, all that do not differ from call to call; one takes some 30 kB."""


class Prepared(NamedTuple):
    """A prompt as the critic reads it, and what it shows."""

    request: Request
    places: tuple[Place, ...]
    lines: tuple[ShownLine, ...]
    characters: int


@dataclass(frozen=True)
class Laboratory:
    """Asks simulated critics about units of a pool.

    Attributes:
        pool: the units.
    """

    pool: Pool
    _fixed: dict[tuple[RevisionKey, str], Prepared] = field(default_factory=dict)

    def experiment(
        self, critic: str, arms: Mapping[str, int], units: Sequence[Unit], seed: int, *, rollouts: int = 0
    ) -> Experiment:
        """Ask a critic all calls of a plan in random order.

        Args:
            critic: the personality.
            arms: answers of each unit by arm.
            units: who are asked about.
            seed: of all draws.
            rollouts: fresh rollouts of each revised policy; 0 leaves gains unknown.
        """
        model = SimulatedModel(critic)
        rng = np.random.default_rng(seed)
        calls = [
            (place, arm, replicate)
            for place in range(len(units))
            for arm, number in arms.items()
            for replicate in range(number)
        ]
        order = rng.permutation(len(calls)).tolist()
        seeds = rng.integers(2**31, size=len(calls)).tolist()
        gains = [_Gains(unit, rollouts, seed) for unit in units] if rollouts else []
        answers = []
        for number, chosen in enumerate(order):
            place, arm, replicate = calls[chosen]
            unit = units[place]
            prepared = self._prepare(unit.key, arm, rng)
            text = model.answer_request(prepared.request, seeds[number]).text
            answers.append(_read(text, prepared, place, unit, arm, replicate, number, gains[place] if gains else None))
        return Experiment(units, answers)

    def _prepare(self, key: RevisionKey, arm: str, rng: np.random.Generator) -> Prepared:
        if arm in DRAWN:
            return _prepared(ask(arm, self.pool.units[key][1], rng))
        if (key, arm) not in self._fixed:
            if len(self._fixed) >= KEPT:
                self._fixed.clear()
            self._fixed[key, arm] = _prepared(ask(arm, self.pool.units[key][1], np.random.default_rng(0)))
        return self._fixed[key, arm]


class _Gains:
    """Gains of the revised policies of a unit, on the same fresh seeds."""

    def __init__(self, unit: Unit, rollouts: int, seed: int) -> None:
        self._task = get_task(unit.env)
        self._seeds = seeding.seeds(seed, rollouts, *unit.key, "gains")
        self._before = self._returns(unit.params)

    def of(self, params: Sequence[float]) -> tuple[float, bool]:
        """The mean gain, and whether it is harm."""
        gain = self._returns(params) - self._before
        return float(gain.mean()), bool(gain.mean() < -HARM * gain.std(ddof=1) / math.sqrt(gain.size))

    def _returns(self, params: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array(evaluate(self._task, list(params), self._seeds).returns)


def _prepared(asked: Asked) -> Prepared:
    lines = tuple(ShownLine.of(each.content, each.block, each.number) for each in asked.shown)
    places = tuple(Place(each.content, each.label, each.number) for each in lines)
    return Prepared(read_request(asked.prompt), places, lines, len(asked.prompt))


def _read(
    text: str, prepared: Prepared, place: int, unit: Unit, arm: str, replicate: int, order: int, gains: _Gains | None
) -> Answered:
    space = get_task(unit.env).space
    try:
        params = from_text(space, text)
    except UnreadableAnswer:
        params = None
    changed = None if params is None else changed_of(space, unit.params, params)
    reading = Reading(None, frozenset())
    if changed is not None and arm in WITH_TEXT:
        reading = read_text(text, prepared.lines, changed)
    gain, harmful = (0.0, False) if gains else (math.nan, False)
    if gains and params is not None and changed:
        gain, harmful = gains.of(params)
    return Answered(
        unit=place,
        arm=arm,
        replicate=replicate,
        order=order,
        shown=prepared.places,
        readable=params is not None,
        driver=reading.driver,
        mentioned=reading.mentioned,
        says_worst="worst" in text.lower(),
        edit=edit_of(space, unit.params, params),
        changed=len(changed or ()),
        gain=gain,
        harmful=harmful,
        completion=text,
        words=len(text.split()),
        prompt_tokens=None,
        prompt_characters=prepared.characters,
    )

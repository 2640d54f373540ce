"""Edits of the simulated critic, for rollouts that the benchmark chooses.

What it reads of a prompt is the task, the history and the rollout that it revises for: none of these depends on how a
call arranges rollouts, so that a unit's prompt is read once, with all rollouts that its arms can show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from audit.interventions.arms import ARMS
from audit.interventions.effects.named_shares import LENGTH
from audit.interventions.effects.shares import ALONE, ceiling, unit_calls
from audit.interventions.experiment import Floats
from audit.interventions.outcomes import edit_of
from audit.interventions.showing import Call, Evidence, Shown
from audit.interventions.units import Unit
from audit.vocabulary.keys import RevisionKey
from benchmarks.interventions.asking import experiment
from benchmarks.interventions.critics import Critic
from benchmarks.interventions.pool import Pool
from collector import seeding
from collector.llm.simulated import get_personality
from collector.llm.simulated.model import UNREADABLE, read_request
from collector.llm.simulated.reading import CriticPrompt as Request
from collector.llm.simulated.reading import Rollout
from collector.llm.simulated.revising import LONG, revise_for
from collector.prompt_parts import CriticPrompt
from collector.tasks import ParameterSpace, get_task

_TEMPER: Final = get_personality("uniform")
"""Whose way of revising it is; the choice of the rollout is the benchmark's."""
_VARIANTS: Final = 3
"""Revisions among which the wording, or the order of headings, chooses."""


_REFERENCES: Final = {"C": 1, **dict.fromkeys(ALONE, 12)}
"""Arms from which the pool's signal to noise is known."""


@dataclass
class Read:
    """A unit as the critic reads it.

    Attributes:
        request: its prompt.
        space: the policy class.
        rollouts: by content and printed return.
        lengths: by arm, of a prompt's frame.
    """

    request: Request
    space: ParameterSpace
    rollouts: dict[tuple[str, float | None], Rollout]
    lengths: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Laboratory:
    """Edits of the simulated critic for the units of a pool.

    Attributes:
        pool: the units.
    """

    pool: Pool
    _read: dict[RevisionKey, Read] = field(default_factory=dict)

    def evidence(self, unit: Unit) -> Evidence:
        """What its arms are made from."""
        return self.pool.units[unit.key][1]

    def characters(self, unit: Unit, frame: str, shown: Sequence[Shown]) -> int:
        """Length of a prompt in the frame of an arm."""
        lengths, evidence = self.read(unit).lengths, self.evidence(unit)
        if frame not in lengths:
            made = ARMS[frame].frame(Call(evidence, np.random.default_rng(0), 0))
            lengths[frame] = len(made.before) + len(made.after)
        between = len(evidence.prompt.between) * max(0, len(shown) - 1)
        return lengths[frame] + between + sum(len(str(each.block)) for each in shown)

    def for_rollout(self, unit: Unit, shown: Shown | None, rng: np.random.Generator) -> Floats:
        """An edit made for a rollout, or by the history alone; NaN where the answer breaks the form."""
        read = self.read(unit)
        anchor = None if shown is None else self.rollout(unit, shown.content, shown.block.value)
        edit = edit_of(read.space, unit.params, revise_for(read.request, anchor, _TEMPER, rng).params)
        return np.full_like(edit, math.nan) if rng.random() < UNREADABLE else edit

    def for_stimulus(self, unit: Unit, motive: str, level: str | int, rng: np.random.Generator) -> Floats:
        """An edit that goes by the prompt and by no rollout: a longer prompt has more parameters changed."""
        read = self.read(unit)
        if motive == LENGTH:
            number = 1 + int(rng.binomial(len(unit.params) - 1, -math.expm1(-((float(level) / LONG) ** 2))))
            edit = np.zeros_like(edit_of(read.space, unit.params, None))
            edit[rng.choice(edit.size, size=number, replace=False)] = rng.uniform(0.3, 1.0, size=number)
            return edit
        purpose = (*map(str, unit.key), motive, str(level), str(int(rng.integers(_VARIANTS))))
        own = np.random.default_rng(seeding.seed_sequence(0, *purpose))
        return edit_of(read.space, unit.params, revise_for(read.request, None, _TEMPER, own).params)

    def signals(self) -> dict[str, float]:
        """Signal to noise of edits for single rollouts, by task, over all units."""
        by_env: dict[str, list[Unit]] = {}
        for unit, _ in self.pool.units.values():
            by_env.setdefault(unit.env, []).append(unit)
        rng = np.random.default_rng(0)
        return {
            env: round(ceiling(unit_calls(experiment(self, Critic(), units, _REFERENCES, rng))).signal, 3)
            for env, units in by_env.items()
        }

    def read(self, unit: Unit) -> Read:
        """A unit as the critic reads it."""
        if (known := self._read.get(unit.key)) is not None:
            return known
        evidence = self.evidence(unit)
        prompt: CriticPrompt = evidence.prompt.neutral()
        request = read_request(str(prompt.with_blocks(list(evidence.contents.values()))))
        assert isinstance(request, Request)
        rollouts = {
            (content, rollout.value): rollout
            for content, rollout in zip(evidence.contents, request.rollouts, strict=True)
        }
        self._read[unit.key] = Read(request, get_task(unit.env).space, rollouts)
        return self._read[unit.key]

    def rollout(self, unit: Unit, content: str, value: float | None) -> Rollout:
        """One of its rollouts as the critic reads it, with a return printed or none."""
        rollouts = self.read(unit).rollouts
        if (content, value) not in rollouts:
            known = next(rollout for (name, _), rollout in rollouts.items() if name == content)
            rollouts[content, value] = replace(known, value=value)
        return rollouts[content, value]

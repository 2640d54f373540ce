"""Edits drawn directly as vectors, about means that are known, with a stated signal to noise: fast, without texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.optimize import brentq

from audit.interventions.effects.named_shares import LENGTH
from audit.interventions.experiment import Floats
from audit.interventions.showing import ROLES, Evidence, Shown
from audit.interventions.units import Unit
from collector.prompt_dialects import DIALECTS
from collector.prompt_parts import Block, CriticPrompt

DIMENSIONS: Final = 8
CHARACTERS: Final = 4000
_LONGER: Final = {"P4": 10, "P5": 1000, "P6": -500}
"""By frame, how much longer it is than the neutral one."""
_RETURNS: Final = {"worst": 0.0, "median": 1.0, "best": 2.0}
_OTHER: Final = 0.1
"""How far the rollout that takes another's place is from the median one, in return and, as a factor, in its edits."""
_PROMPT: Final = CriticPrompt("", (), "", "", DIALECTS[0])


class Scores:
    """Edits of units that are drawn with it.

    Args:
        units: how many.
        runs: of how many runs.
        signal: signal to noise of directions, as `ceiling` has it: between rollouts, over within.
        seed: of the means.
    """

    def __init__(self, units: int, runs: int, signal: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.units = [_unit(place, runs) for place in range(units)]
        self._means: dict[int, dict[str | None, Floats]] = {}
        self._evidence: dict[int, Evidence] = {}
        for unit in self.units:
            means = rng.normal(size=(4, DIMENSIONS)) * _scale(signal)
            other = means[1] + _OTHER * _scale(signal) * rng.normal(size=DIMENSIONS)
            self._means[unit.iteration] = {**dict(zip((*ROLES, None), means, strict=True)), "other": other}
            near = _RETURNS["median"] + _OTHER * (1 if rng.random() < 0.5 else -1)
            contents = {
                role: Block(f"{role.capitalize()} rollout", place, f", return {value:g}", value, "", "")
                for place, (role, value) in enumerate({**_RETURNS, "other": near}.items())
            }
            self._evidence[unit.iteration] = Evidence(_PROMPT, contents, (), unit.number_readable)
        self._levels: dict[str, Floats] = {}
        self._rng = rng

    def evidence(self, unit: Unit) -> Evidence:
        """Rollouts without steps."""
        return self._evidence[unit.iteration]

    def characters(self, unit: Unit, frame: str, shown: Sequence[Shown]) -> int:  # noqa: ARG002
        """Length of a prompt, which frames alone change."""
        return CHARACTERS + _LONGER.get(frame, 0)

    def for_rollout(self, unit: Unit, shown: Shown | None, rng: np.random.Generator) -> Floats:
        """A draw about the mean for a rollout, or for none."""
        mean = self._means[unit.iteration][shown.content if shown else None]
        return np.asarray(mean + rng.normal(size=DIMENSIONS))

    def for_stimulus(self, unit: Unit, motive: str, level: str | int, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        """A draw about a mean that all units share: one for each wording and order; along a line for lengths."""
        key = motive if motive == LENGTH else f"{motive} {level}"
        mean = self._levels.setdefault(key, self._rng.normal(size=DIMENSIONS))
        far = (float(level) - CHARACTERS) / 500 if motive == LENGTH else 1.0
        return np.asarray(far * mean + rng.normal(size=DIMENSIONS))


def _unit(place: int, runs: int) -> Unit:
    """Half of the units have returns that can be read off the steps."""
    return Unit(
        condition="scores",
        env="vectors",
        variant="threetraj",
        run=place % runs,
        iteration=place,
        prompt_sha256=str(place),
        params=[0.0] * DIMENSIONS,
        rollouts=[1, 2, 3],
        returns=list(_RETURNS.values()),
        number_readable=place // runs % 2 == 0,
    )


@lru_cache
def _scale(signal: float) -> float:
    """Standard deviation of means, in units of that of noise, at which directions have a signal to noise."""
    if not signal:
        return 0.0
    rng = np.random.default_rng(0)
    means, noise = rng.normal(size=(400, 3, 1, DIMENSIONS)), rng.normal(size=(400, 3, 40, DIMENSIONS))

    def excess(log_scale: float) -> float:
        edits = math.exp(log_scale) * means + noise
        edits /= np.linalg.norm(edits, axis=-1, keepdims=True)
        within = edits.var(axis=2, ddof=1).sum(axis=-1).mean()
        between = edits.mean(axis=2).var(axis=1, ddof=1).sum(axis=-1).mean() - within / noise.shape[2]
        return float(between / within) - signal

    return math.exp(brentq(excess, -6, 4, xtol=1e-4))

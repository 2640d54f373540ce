"""The simulated critic: it anchors on a rollout, reads where that one failed, and moves the parameters that act there.

Nothing here knows the task: states, actions and the policy's formula come out of the prompt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from collector.llm.simulated.anchoring import choose_anchor
from collector.llm.simulated.drawing import pick
from collector.llm.simulated.personality import Personality
from collector.llm.simulated.proposing import step_from
from collector.llm.simulated.reading import CriticPrompt, Rollout, Trial, Values

OBEYS_RULE: Final = 0.9
"""Probability of following the revision rule where it applies."""
RETURNS_TO_BEST: Final = 0.7
"""Probability of going back to the best trial where the policy under review falls far short of it."""
FAR_SHORT: Final = 0.3
"""A policy that has come less than this share of the way from the worst to the best trial falls far short."""
BOLD: Final = 0.2
"""Probability of a sweeping revision after a failure, in place of a focused one."""
LONG: Final = 20_000
"""Characters of a prompt at which `length` leaves 1/e of the parameters alone; fewer by the square of the length."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revised vector and what led to it; `anchor` is the rollout that the change was made for, if any."""

    params: tuple[float, ...]
    driver: str
    anchor: Rollout | None
    why: str


def revise(prompt: CriticPrompt, personality: Personality, rng: np.random.Generator) -> Revision:
    """Revise the policy under review for the rollout that the personality anchors on."""
    return revise_for(prompt, choose_anchor(prompt, personality, rng), personality, rng)


def revise_for(
    prompt: CriticPrompt, anchor: Rollout | None, personality: Personality, rng: np.random.Generator
) -> Revision:
    """Revise the policy under review for one rollout, or for none, by the history alone."""
    current = np.array(prompt.proposed)
    if prompt.rule is not None and prompt.achieved >= prompt.rule and rng.random() < OBEYS_RULE:
        params = _fine_tune(current, prompt.values, rng) if rng.random() < 0.3 else current
        return _revision(params, "none", anchor, "The mean return is at the mark where restraint is asked for.")
    if (best := _much_better_trial(prompt)) is not None and rng.random() < RETURNS_TO_BEST:
        params = np.array(step_from(best.params, prompt.values, rng))
        return _revision(params, "history", anchor, f"An earlier trial reached {best.value:.2f}, so I went back to it.")
    if anchor is None:
        start = prompt.best_trial.params if prompt.best_trial else prompt.proposed
        params = np.array(step_from(start, prompt.values, rng))
        return _revision(params, "history", None, "I went by the earlier trials alone.")
    if prompt.return_of(anchor) >= prompt.target or not len(anchor.states):
        params = _fine_tune(current, prompt.values, rng)
        return _revision(params, anchor.label, anchor, "What works there should stay, so the change is small.")
    repair = _repair_linear if prompt.outputs else _repair_table
    params = repair(current, anchor, prompt, personality, rng)
    return _revision(params, anchor.label, anchor, _diagnosis(anchor))


def _revision(params: NDArray[np.float64], driver: str, anchor: Rollout | None, why: str) -> Revision:
    return Revision(tuple(params.tolist()), driver, anchor, why)


def _much_better_trial(prompt: CriticPrompt) -> Trial | None:
    best = prompt.best_trial
    if best is None:
        return None
    lowest = prompt.lowest_trial
    return best if prompt.achieved < lowest + FAR_SHORT * (best.value - lowest) else None


def _fine_tune(params: NDArray[np.float64], values: Values, rng: np.random.Generator) -> NDArray[np.float64]:
    """One parameter, by a little; in a table, one entry."""
    params = params.copy()
    index = int(rng.integers(len(params)))
    if values.allowed is not None:
        params[index] = values.other(params[index], rng)
    else:
        step = pick((-1, 1), rng) * rng.uniform(0.2, 0.5) * values.step
        params[index] = values.settle(params[index] + step)
    return params


def _how_many(
    prompt: CriticPrompt, anchor: Rollout, personality: Personality, rng: np.random.Generator
) -> tuple[int, bool]:
    """How many parameters change, the more the further the anchor falls short; and whether it is a sweeping change."""
    rank = prompt.values.rank
    if personality.sees_length:
        return 1 + int(rng.binomial(rank - 1, -math.expm1(-((len(prompt.text) / LONG) ** 2)))), True
    value = prompt.return_of(anchor)
    lowest = min(prompt.achieved, prompt.lowest_trial, value)
    shortfall = (prompt.target - value) / max(prompt.target - lowest, 1e-9)
    if rng.random() < BOLD:
        return int(rng.integers(rank // 2, rank + 1)), True
    return 1 + int(rng.binomial(min(5, rank - 1), min(max(shortfall, 0.0), 1.0) * 0.7)), False


def _repair_table(
    params: NDArray[np.float64],
    anchor: Rollout,
    prompt: CriticPrompt,
    personality: Personality,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Another action in the states that decided the anchor's end, or, in a sweeping change, elsewhere as well."""
    states = [int(state) for state in anchor.states[:, 0] if state < len(params)]
    visited = list(dict.fromkeys(states[::-1]))
    if anchor.cut_off:
        # It went in circles: no state is the last one before the failure, but some were never left.
        stuck = {state for state, following in pairwise(states) if state == following}
        rng.shuffle(visited)
        visited.sort(key=lambda state: state not in stuck)
    elsewhere = [state for state in rng.permutation(len(params)).tolist() if state not in visited]
    count, sweeping = _how_many(prompt, anchor, personality, rng)
    params = params.copy()
    for state in (visited + elsewhere)[: count if sweeping else min(count, len(visited))]:
        params[state] = prompt.values.other(float(params[state]), rng)
    return params


def _repair_linear(
    params: NDArray[np.float64],
    anchor: Rollout,
    prompt: CriticPrompt,
    personality: Personality,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Lower the output of the actions taken in the anchor's last states, and raise that of others.

    The direction is the perceptron's: each state, scaled to unit size per dimension, is taken from the weights of the
    action that was taken and added to those of another. The largest entries of the sum are followed, each by up to the
    suggested step.
    """
    taken = _output_signs(anchor, prompt, rng)
    direction = (anchor.inputs.T @ taken).ravel() / len(anchor.states)
    # Bias entries follow the weights in the vector, as the row of ones follows the states.
    direction += rng.normal(0.0, 0.05, size=direction.size)
    count, _ = _how_many(prompt, anchor, personality, rng)
    chosen = np.argsort(-np.abs(direction))[:count]
    params = params.copy()
    for index in chosen:
        step = np.sign(direction[index]) * rng.uniform(0.3, 1.0) * prompt.values.step
        params[index] = prompt.values.settle(params[index] + step)
    return params


def _output_signs(anchor: Rollout, prompt: CriticPrompt, rng: np.random.Generator) -> NDArray[np.float64]:
    """For each step, the wish for each output: lower what was done, raise another. Shape (steps, outputs)."""
    if not prompt.chooses_largest:
        return -np.sign(anchor.actions)
    wishes = np.zeros((len(anchor.actions), prompt.outputs))
    outputs = range(prompt.outputs)
    instead = np.array([pick([other for other in outputs if other != action], rng) for action in outputs])
    steps, actions = np.arange(len(wishes)), anchor.actions[:, 0].astype(int)
    wishes[steps, actions] -= 1.0
    wishes[steps, instead[actions]] += 1.0
    return wishes


def _diagnosis(anchor: Rollout) -> str:
    state = ", ".join(f"{value:.3g}" for value in anchor.states[-1])
    action = ", ".join(f"{value:.3g}" for value in anchor.actions[-1])
    if anchor.cut_off:
        return f"It never got anywhere: at the end it was still choosing {action} in state ({state})."
    return f"It ended after choosing {action} in state ({state}), which cannot be right."

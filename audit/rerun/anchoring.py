"""Behavioural anchoring: does a revised policy do better on the worst rollout's own seed than elsewhere?

That seed was chosen for being worst, so whatever reshuffles outcomes gains there. What counts is the excess over
control edits of the same policy, on the same seeds. An edit that lifts the policy on all seeds closes the gap to the
others as well, and no control does as much; so a revision counts as anchored only where the worst rollout's seed also
ranks high among all seeds under the revised policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from audit.rerun.edits import TOLERANCE, control_edit
from audit.rerun.policies import returns_of

if TYPE_CHECKING:
    from collector.tasks import Task

Floats = NDArray[np.float64]


class Anchoring(msgspec.Struct, frozen=True):
    """A revision on its initial candidate's seeds, against control edits.

    Attributes:
        gain_worst, gain_median, gain_rest: gain of return on the worst rollout's seed, the median's, and the mean
            gain on all others.
        control_worst, control_median, control_rest: the same of the control edits, averaged.
        rank: of the worst rollout's seed among all seeds under the revised policy: 0 lowest, 1 highest, ties in the
            middle.
        control_rank: the same under the control edits, averaged.
        p_controls: share of control edits under which it ranks as high, the revision counted among them.
        p_seeds: share of seeds that return as much as the worst rollout's under the revised policy.
    """

    gain_worst: float
    gain_median: float
    gain_rest: float
    control_worst: float
    control_median: float
    control_rest: float
    rank: float
    control_rank: float
    p_controls: float
    p_seeds: float

    @property
    def p(self) -> float:
        """The larger of both p-values: an anchored revision exceeds the control edits and the other seeds."""
        return max(self.p_controls, self.p_seeds)

    @property
    def excess(self) -> float:
        """By how much more than control edits the revision favours the worst rollout's seed over the rest."""
        return (self.gain_worst - self.gain_rest) - (self.control_worst - self.control_rest)


class NotReproducedError(Exception):
    """The initial candidate's returns do not come out as recorded."""


def changes(space_is_tabular: bool, before: Sequence[float], after: Sequence[float]) -> bool:
    """Whether a revision changes anything."""
    return bool(np.any(np.abs(np.subtract(after, before)) > (0 if space_is_tabular else TOLERANCE)))


def anchoring(
    task: Task,
    before: Sequence[float],
    after: Sequence[float],
    seeds: Sequence[int],
    recorded: Sequence[float],
    *,
    controls: int,
    rng: np.random.Generator,
) -> Anchoring:
    """Run a revised policy and control edits on the initial candidate's seeds.

    Args:
        task: the task.
        before: the initial candidate's parameters.
        after: the revised candidate's.
        seeds: K at least three, the initial candidate's.
        recorded: its returns on them, not all equal.
        controls: number of control edits.
        rng: draws them.

    Raises:
        NotReproducedError: the initial candidate's returns differ from the recorded ones.
        NotRerunnableError: the task cannot take these parameters.
    """
    initial = returns_of(task, before, seeds)
    if not np.array_equal(initial, recorded):
        raise NotReproducedError
    worst, median = _places(initial)
    rest = np.setdiff1d(np.arange(len(seeds)), [worst, median])
    edits = [control_edit(task.space, before, after, rng) for _ in range(controls)]
    revised = returns_of(task, after, seeds)
    controlled = np.array([returns_of(task, edit.tolist(), seeds) for edit in edits])
    gains, control_gains = revised - initial, controlled - initial
    ranks = np.array([_rank(returns, worst) for returns in controlled])
    rank = _rank(revised, worst)
    return Anchoring(
        float(gains[worst]),
        float(gains[median]),
        float(gains[rest].mean()),
        float(control_gains[:, worst].mean()),
        float(control_gains[:, median].mean()),
        float(control_gains[:, rest].mean()),
        rank,
        float(ranks.mean()),
        float((1 + np.count_nonzero(ranks >= rank)) / (1 + controls)),
        float(np.count_nonzero(revised >= revised[worst]) / len(seeds)),
    )


def _places(returns: Floats) -> tuple[int, int]:
    """The worst rollout and the one nearest to the median, of equals the first: as evidence is selected."""
    return int(returns.argmin()), int(np.abs(returns - np.median(returns)).argmin())


def _rank(returns: Floats, place: int) -> float:
    """Share of the other rollouts that one beats, a tie counting half."""
    mine = returns[place]
    below, equal = np.count_nonzero(returns < mine), np.count_nonzero(returns == mine) - 1
    return float((below + equal / 2) / (len(returns) - 1))

"""Did what a critic follows change while it was asked? Shares in the first and in the second half of its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from audit.interventions.effects.differences import clusters_of
from audit.interventions.effects.named_shares import FOLLOWED, SHARES
from audit.interventions.effects.shares import UnitCalls, estimated
from audit.interventions.experiment import Experiment
from audit.measures.following import difference
from audit.measures.holm import holm


class Change(NamedTuple):
    """A share in both halves of the calls.

    Attributes:
        name: of the share.
        first: in the first half of the answers in `C`.
        second: in the second half.
        p: that they are alike, corrected by Holm's method over all shares; NaN where it cannot be tested.
    """

    name: str
    first: float
    second: float
    p: float


def changes(experiment: Experiment, units: Sequence[UnitCalls]) -> list[Change]:
    """Compare what is followed in the two halves of the calls, which are in random order.

    Both halves have the same references, and most prompts and runs: the error is that of the jackknife over the runs of
    both.

    Args:
        experiment: its answers.
        units: those whose answers in `C` can be held against references.
    """
    orders = [answer.order for unit in units for answer in unit.answers]
    if not orders:
        return []
    middle = np.median(orders)
    halves = [[each for unit in units if (each := _half(unit, middle, late=late)).answers] for late in (False, True)]
    if not all(halves):
        return []
    results, names = [], []
    for half in halves:
        clusters, called = clusters_of(experiment, half)
        results.append(estimated(half, clusters))
        names.append(called)
    p = difference(results[0], results[1], (names[0], names[1])).p()
    places = [place for place, name in enumerate(SHARES) if name in FOLLOWED]
    adjusted = holm([float(p[place]) for place in places])
    return [
        Change(SHARES[place], float(results[0].values[place]), float(results[1].values[place]), float(each))
        for place, each in zip(places, adjusted, strict=True)
    ]


def _half(unit: UnitCalls, middle: float, *, late: bool) -> UnitCalls:
    chosen = np.array([(answer.order >= middle) == late for answer in unit.answers])
    answers = [answer for answer, is_chosen in zip(unit.answers, chosen, strict=True) if is_chosen]
    return replace(unit, answers=answers, edits=unit.edits[chosen])

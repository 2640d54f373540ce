"""Do two critics follow the same things? Differences of their shares, over the prompts that both were asked.

Three verdicts, as on shares (`verdicts.py`):

- *differs*: the corrected p is at most α, the interval leaves zero out, and it moves at least one of the two.
- *does not differ*: two one-sided tests at α find the difference within plus or minus the smallest share of interest.
- *cannot be told* otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.interventions.arms import CONJOINT
from audit.interventions.effects.comparisons import Redraws, run_numbers
from audit.interventions.effects.named_shares import FACTORS, FOLLOWED, SHARES, STIMULI, margin_of
from audit.interventions.effects.results import CANNOT_TELL, LEAST_SIGNAL
from audit.interventions.effects.shares import PAIRS, UnitCalls, estimated, unit_calls
from audit.interventions.effects.stimuli import stimuli
from audit.interventions.experiment import Experiment, Floats
from audit.measures.following import Difference, difference, ratio_estimates
from audit.measures.holm import holm

DIFFERS: Final = "differs"
ALIKE: Final = "does not differ"
MOST: Final = 0.8
"""Share of the prompts of each above which only those that both have are compared; below, they are too much to lose."""


@dataclass(frozen=True)
class Critic:
    """A critic whose shares are known.

    Attributes:
        experiment: its answers.
        moving: what moves it.
        signal: signal to noise of its edits for single rollouts.
        unknown: shares that are not known, since its edits go against those for a rollout.
    """

    experiment: Experiment
    moving: frozenset[str]
    signal: float
    unknown: frozenset[str] = frozenset()


class Shared(NamedTuple):
    """What two experiments have in common.

    Attributes:
        prompts: of the same record, word for word.
        of: the number of prompts of each.
        is_paired: nothing but these prompts counts.
        runs: of the prompts that count, by experiment.
        runs_of_both: those that are in both.
    """

    prompts: int
    of: tuple[int, int]
    is_paired: bool
    runs: tuple[int, int]
    runs_of_both: int


class ShareDifference(NamedTuple):
    """A share of one critic, less that of another; numbers are NaN where they are not known.

    Attributes:
        name: the share.
        estimate: the difference; of what is no rollout that of share-equivalents.
        low: end of its interval, of the level that α leaves.
        high: the other end.
        p: two-sided, of the hypothesis that there is none.
        p_adjusted: by Holm's method over all shares of all pairs of critics.
        verdict: "differs", "does not differ" or "cannot be told"; None for what is only described.
    """

    name: str
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str | None = None


@dataclass(frozen=True)
class Comparison:
    """Two critics side by side, before their differences are judged.

    Attributes:
        shared: what their experiments have in common.
        found: of `SHARES`, then of the differences of levels: the second critic's less the first's.
        of: the same functions of each of them.
        equivalents: of what is no rollout, the difference of share-equivalents and its p, of the same sign.
        unreadable: by critic, the share of answers in `C` that could not be read.
        moving: what moves at least one of them.
        signal: the smaller of theirs.
        unknown: shares of at least one of them that are not known.
    """

    shared: Shared
    found: Difference
    of: tuple[Floats, Floats]
    equivalents: Mapping[str, tuple[float, float]]
    unreadable: tuple[float, float]
    moving: frozenset[str]
    signal: float
    unknown: frozenset[str] = frozenset()

    def interval(self, place: int, level: float) -> tuple[float, float]:
        """An interval of a function, with room for all that unreadable answers may have followed.

        At worst all those of one critic followed this rollout, and all those of the other another one; see `Bounds`.
        """
        low, high = (float(ends[place]) for ends in self.found.interval(level))
        least = -0.5 if place < len(SHARES) else -1.0
        first, second = (min(1.0, max(least, float(values[place]))) for values in self.of)
        a, b = self.unreadable
        return low - b * (second - least) - a * (1 - first), high + b * (1 - second) + a * (first - least)


def compared(first: Critic, second: Critic) -> Comparison | None:
    """Compare two critics; None where one of them has no shares.

    Where most prompts of each are in both experiments, only those count. Otherwise all do, and runs that are in
    both are left out of both at a time.
    """
    sides = [_by_prompt(each.experiment) for each in (first, second)]
    if not all(sides):
        return None
    common = [key for key in sides[0] if key in sides[1]]
    is_paired = len(common) > MOST * max(map(len, sides))
    chosen = [[side[key] for key in (common if is_paired else side)] for side in sides]
    names, results, parts = [], [], []
    for critic, units in zip((first, second), chosen, strict=True):
        clusters, called = clusters_of(critic.experiment, units)
        names.append(called)
        results.append(estimated(units, clusters))
        parts.append(
            {
                each.name: ratio_estimates(each.parts[:, 0], each.parts[:, 1], clusters)
                for each in stimuli(critic.experiment, units, clusters, Redraws(1))
            }
        )
    equivalents: dict[str, tuple[float, float]] = {}
    for name in STIMULI:
        if name in parts[0] and name in parts[1]:
            a, b = (each[name] for each in parts)
            squares = difference(a, b, (names[0], names[1]))
            roots = [math.sqrt(max(0.0, float(each.values[0]))) for each in (a, b)]
            equivalents[name] = (roots[1] - roots[0], float(squares.p()[0]))
    return Comparison(
        shared=Shared(
            len(common),
            (len(sides[0]), len(sides[1])),
            is_paired,
            (len(names[0]), len(names[1])),
            len(set(names[0]) & set(names[1])),
        ),
        found=difference(results[0], results[1], (names[0], names[1])),
        of=(results[0].values, results[1].values),
        equivalents=equivalents,
        unreadable=(_unreadable(first.experiment), _unreadable(second.experiment)),
        moving=first.moving | second.moving,
        signal=min(first.signal, second.signal),
        unknown=first.unknown | second.unknown,
    )


def _by_prompt(experiment: Experiment) -> dict[Hashable, UnitCalls]:
    """The units that count, by what identifies the recorded prompt."""
    units = experiment.units
    return {(units[each.unit].key, units[each.unit].prompt_sha256): each for each in unit_calls(experiment)}


def clusters_of(experiment: Experiment, units: Sequence[UnitCalls]) -> tuple[NDArray[np.intp], list[Hashable]]:
    """The number of each unit's run, and what runs are called; of units themselves where all are of one run."""
    asked = [experiment.units[each.unit] for each in units]
    clusters = run_numbers(experiment, [each.unit for each in units])
    if clusters.max() == 0:
        return np.arange(len(units)), [unit.key for unit in asked]
    return clusters, list(dict.fromkeys(unit.cluster for unit in asked))


def _unreadable(experiment: Experiment) -> float:
    answers = [answer for of_unit in experiment.arm(CONJOINT).values() for answer in of_unit]
    return float(np.mean([not answer.readable for answer in answers]))


def differences(comparisons: Sequence[Comparison], *, alpha: float, smallest: float) -> list[list[ShareDifference]]:
    """Judge the differences of all pairs of critics, corrected together by Holm's method.

    Args:
        comparisons: the pairs.
        alpha: level of the family.
        smallest: smallest share of interest.

    Returns:
        For each pair, in the order of `SHARES`, then of what is no rollout.
    """
    rows = [_rows(each, alpha) for each in comparisons]
    adjusted = iter(holm([row.p for each in rows for row in each]).tolist())
    found = []
    for comparison, each in zip(comparisons, rows, strict=True):
        corrected = [row._replace(p_adjusted=next(adjusted)) for row in each]
        found.append(_judged(comparison, corrected, alpha, smallest))
    return found


def _rows(comparison: Comparison, alpha: float) -> list[ShareDifference]:
    if comparison.signal < LEAST_SIGNAL:
        return [ShareDifference(name) for name in (*SHARES, *comparison.equivalents)]
    p = comparison.found.p()
    rows = [
        ShareDifference(
            name,
            float(comparison.found.values[place]),
            *comparison.interval(place, 1 - alpha),
            p=float(p[place]) if name in FOLLOWED else math.nan,
        )
        for place, name in enumerate(SHARES)
    ]
    return rows + [
        ShareDifference(name, value, p=of_squares) for name, (value, of_squares) in comparison.equivalents.items()
    ]


def _judged(
    comparison: Comparison, rows: Sequence[ShareDifference], alpha: float, smallest: float
) -> list[ShareDifference]:
    judged: dict[str, str | None] = {}
    for row in rows:
        beyond = row.name not in FOLLOWED or row.low > 0 or row.high < 0
        is_found = row.p_adjusted <= alpha and beyond and row.name in comparison.moving - comparison.unknown
        is_judged = row.name in FOLLOWED or row.name in STIMULI
        judged[row.name] = DIFFERS if is_found else CANNOT_TELL if is_judged else None
    if comparison.signal >= LEAST_SIGNAL:
        for row in rows:
            if row.name in FOLLOWED - comparison.unknown and judged[row.name] == CANNOT_TELL:
                judged[row.name] = _alike(comparison, row.name, judged, alpha, margin_of(row.name, smallest))
    return [row._replace(verdict=judged[row.name]) for row in rows]


def _alike(comparison: Comparison, name: str, judged: Mapping[str, str | None], alpha: float, margin: float) -> str:
    """Whether a difference is within its margin; where another level differs, it is compared with the one that remains.

    A critic that follows one level more follows both others less: see `verdicts.py`.
    """
    factor = next(index for index, names in enumerate(FACTORS) if name in names)
    own = FACTORS[factor].index(name)
    differing = [index for index, other in enumerate(FACTORS[factor]) if judged[other] == DIFFERS]
    if len(differing) == 2:
        return ALIKE
    place = SHARES.index(name)
    if differing:
        rest = next(index for index in range(3) if index not in {own, *differing})
        place = len(SHARES) + 3 * factor + PAIRS.index((min(own, rest), max(own, rest)))
    low, high = comparison.interval(place, 1 - 2 * alpha)
    return ALIKE if -margin < low and high < margin else CANNOT_TELL

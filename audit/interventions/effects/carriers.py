"""Who carries an effect: all prompts and runs alike, some of them, or one run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri, stdtr

from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.named_shares import LABELS, PLACES, SHARES
from audit.interventions.effects.results import Carriers
from audit.interventions.effects.shares import Followed, UnitCalls, holder
from audit.interventions.experiment import Floats
from audit.interventions.showing import ROLES
from audit.measures.bootstrap import cluster_bootstrap
from audit.measures.following import products
from audit.measures.sign_flip import sign_flip_test

LEVEL: Final = 0.05
FEWEST_RUNS: Final = 6
"""Runs from which on a sign flip can be significant: with five the smallest p is 1/16."""
_DRAWN: Final = frozenset({*LABELS, *PLACES})
"""What is drawn for every call of `C`, so that each unit shows by itself what it follows."""
_LEAST_P: Final = 1e-12
_PRIOR: Final = 20
"""Answers that count as much as what is expected of their variance."""


def lone_runs(followed: Followed, shares: Sequence[str], names: Sequence[str]) -> dict[str, Carriers]:
    """Shares that do not move the critic in all, but that one run follows alone, corrected for all shares and runs.

    Args:
        followed: the shares.
        shares: those that were not found to move it.
        names: of the runs, or of what else the estimates are clustered by.
    """
    found = {}
    for share in shares:
        place = _alone(followed, share, LEVEL / len(shares))
        if place is not None:
            left = float(followed.estimates.without[place, SHARES.index(share)])
            found[share] = Carriers(runs=len(names), without_low=left, without_high=left, one_run=names[place])
    return found


def carriers(followed: Followed, share: str, names: Sequence[str], redraws: Redraws) -> Carriers:
    """Who carries a share.

    Args:
        followed: the shares.
        share: one of `SHARES`.
        names: of the runs, or of what else the estimates are clustered by.
        redraws: of the sign flip, and their seed.
    """
    without = followed.estimates.without[:, SHARES.index(share)]
    runs = len(without)
    found = Carriers(runs=runs)
    if runs > 1:
        place = _alone(followed, share, LEVEL)
        found = found._replace(
            without_low=float(without.min()),
            without_high=float(without.max()),
            one_run=None if place is None else names[place],
        )
        if runs >= FEWEST_RUNS:
            # What each run would estimate by itself: jackknife pseudo-values.
            own = runs * followed.estimates.values[SHARES.index(share)] - (runs - 1) * without
            flip = sign_flip_test(
                own, alternative="greater", draws=redraws.permutations, seed=redraws.draws("runs", share)
            )
            found = found._replace(flip_p=flip.p)
    return _by_unit(followed, share, found) if share in _DRAWN else found


def _alone(followed: Followed, share: str, level: float) -> int | None:
    """The run that follows more than the others by more than chance, if they do not follow by themselves.

    The deviations of runs have each the standard deviation 1 if all follow alike, and the largest is studentised by the
    others, with no less than that; Bonferroni's correction over runs.
    """
    runs = int(followed.clusters.max()) + 1
    if runs < 4:
        return None
    column = SHARES.index(share)
    own = _within_units(followed, share) if share in _DRAWN else _between_units(followed, column)
    place = int(np.argmax(own))
    rest = np.delete(own, place)
    error = max(1.0, float(rest.std(ddof=1))) * math.sqrt(1 + 1 / len(rest))
    p = 1 - float(stdtr(len(rest) - 1, (own[place] - rest.mean()) / error))
    added = followed.added[followed.clusters != place, column]
    # Where the others follow by themselves it is one that follows more.
    follow = followed.estimates.without[place, column] > 2 * math.sqrt(float((added**2).sum()))
    return place if p <= level / runs and not follow else None


def _within_units(followed: Followed, share: str) -> Floats:
    """Deviations of runs from what the others follow, in standard errors known from answers to one unit."""
    units = _follow(followed.units, share)
    found = []
    for run in range(int(followed.clusters.max()) + 1):
        own = followed.clusters == run
        signal = units.signals[~own].sum()
        rest = max(0.0, units.means[~own].sum() / signal) if signal > 0 else 0.0
        found.append(units.deviations(rest)[own].sum() / math.sqrt(own.sum()))
    return np.array(found)


def _between_units(followed: Followed, column: int) -> Floats:
    """The same with errors from how units of a run differ; 0 for runs of fewer than three."""
    found = []
    for run in range(int(followed.clusters.max()) + 1):
        own = followed.added[followed.clusters == run, column]
        spread = float(own.std(ddof=1)) if len(own) > 2 else 0.0
        p = float(stdtr(len(own) - 1, own.mean() / spread * math.sqrt(len(own)))) if spread > 0 else 0.5
        found.append(float(ndtri(min(max(p, _LEAST_P), 1 - _LEAST_P))))
    return np.array(found)


def _by_unit(followed: Followed, share: str, found: Carriers) -> Carriers:
    """Moments of what units follow: of the mean, and of its square without the noise of answers and references.

    If a share p of units follows to the degree s and the others not at all, the mean is ps and the mean square ps².
    """
    rows = np.array([_moments(unit, share) for unit in followed.units])
    # Halves of fewer than four answers to a rollout alone have no signal of their own.
    known = np.isfinite(rows).all(axis=1)
    if not known.any():
        return found
    rows, clusters = np.column_stack([rows, np.ones(len(rows))])[known], followed.clusters[known]
    sums = rows.sum(axis=0)
    by_run = np.array([rows[clusters == run].sum(axis=0) for run in np.unique(clusters)])
    ends = cluster_bootstrap(by_run, lambda drawn: np.array([_share_of_units(each) for each in drawn]), resamples=999)
    return found._replace(
        units=_share_of_units(sums), units_low=ends.low, units_high=ends.high, uneven_p=_uneven(followed.units, share)
    )


def _uneven(units: Sequence[UnitCalls], share: str) -> float:
    """The p of the hypothesis that all units follow to the same degree: Cochran's Q (Biometrics 10, 1954).

    NaN where it cannot be tested.
    """
    known = [unit for unit in units if min(map(len, (unit.edits, *unit.references[: len(ROLES)]))) > 2]
    if len(known) < 2:
        return math.nan
    follow = _follow(known, share)
    if follow.signals.sum() <= 0:
        return math.nan
    deviations = follow.deviations(follow.means.sum() / follow.signals.sum())
    return float(chdtrc(len(known) - 1, (deviations**2).sum()))


class _Follow(NamedTuple):
    """What units follow.

    Attributes:
        means: shape (units,), what each follows times its signal.
        signals: shape (units,).
        covariances: shape (units, 2, 2), of both.
    """

    means: Floats
    signals: Floats
    covariances: Floats

    def deviations(self, degree: float) -> Floats:
        """By how many standard errors units follow more than to a degree; 0 where errors are not known."""
        contrast = np.array([1.0, -degree])
        errors = np.sqrt(contrast @ self.covariances @ contrast)
        excess = self.means - degree * self.signals
        return np.asarray(np.divide(excess, errors, out=np.zeros(len(excess)), where=errors > 0))


def _follow(units: Sequence[UnitCalls], share: str) -> _Follow:
    """What units follow, with the noise of references by the jackknife, which makes it too large rather than too small.

    The variance of a unit's few answers is drawn towards what their lengths would make it (Smyth, Statistical
    Applications in Genetics and Molecular Biology 3, 2004): their own goes with what they follow.
    """
    parts = np.array([_jackknifed(unit, share) for unit in units])
    means, signals, lengths, variances, answers = parts[:, :5].T
    covariances = parts[:, 5:].reshape(-1, 2, 2)
    differ = lengths > 0
    expected = lengths * np.mean(variances[differ] / lengths[differ]) if differ.any() else lengths
    moderate = (_PRIOR * expected + (answers - 1) * variances) / (_PRIOR + answers - 1)
    covariances[:, 0, 0] += moderate / answers
    return _Follow(means, signals, covariances)


def _jackknifed(unit: UnitCalls, share: str) -> list[float]:
    """A unit's mean, signal, squared length and variance of its scores, answers, and covariance due to references."""
    alone = list(unit.references[: len(ROLES)])
    held = _held(unit, share)
    by_content = np.array([unit.edits[held == role].sum(axis=0) for role in range(len(ROLES))]) / len(held)
    towards = by_content - by_content.mean(axis=0)

    def both(references: Sequence[Floats]) -> Floats:
        means = np.array([each.mean(axis=0) for each in references])
        return np.array([(towards * means).sum(), _signal(references)])

    covariance = np.zeros((2, 2))
    for role, own in enumerate(alone):
        without = np.array(
            [both([*alone[:role], np.delete(own, one, axis=0), *alone[role + 1 :]]) for one in range(len(own))]
        )
        deviations = without - without.mean(axis=0)
        covariance += (len(own) - 1) / len(own) * deviations.T @ deviations
    means = np.array([each.mean(axis=0) for each in alone])
    scores = _scores(unit, list(means), share)
    variance = float(scores.var(ddof=1)) if len(held) > 1 else math.nan
    length = float(((means - means.mean(axis=0)) ** 2).sum())
    return [*both(alone), length, variance, len(held), *covariance.ravel()]


def _share_of_units(sums: Floats) -> float:
    """From sums over units of what they follow, its square, the signal, its square, and 1."""
    first, second, signal, squared, units = sums
    if not np.isfinite(sums).all():
        return math.nan
    if min(second, signal, units) <= 0:
        return 1.0
    return float(min(1.0, max(0.0, first**2 / second * squared / signal**2)))


def _moments(unit: UnitCalls, share: str) -> tuple[float, float, float, float]:
    """What a unit follows times its signal, and the signal; each with its square, all without bias."""
    halves = [[reference[start::2] for reference in unit.references[:3]] for start in (0, 1)]
    scores = [_scores(unit, means, share) for means in ([h.mean(axis=0) for h in half] for half in halves)]
    first, second = scores
    number = len(first)
    pairs = number * (number - 1)
    squared = float(first.sum() * second.sum() - first @ second) / pairs if pairs else 0.0
    signals = [_signal(half) for half in halves]
    return float((first + second).mean()) / 2, squared, _signal(unit.references[:3]), signals[0] * signals[1]


def _scores(unit: UnitCalls, means: Sequence[Floats], share: str) -> Floats:
    centred = np.array(means) - np.mean(means, axis=0)
    return np.asarray((unit.edits * centred[_held(unit, share)]).sum(axis=1))


def _held(unit: UnitCalls, share: str) -> NDArray[np.intp]:
    """The rollout that has the label or the place, by answer: shape (answers,), indices of `ROLES`."""
    return np.array([ROLES.index(answer.shown[holder(answer, share) or 0].content) for answer in unit.answers])


def _signal(references: Sequence[Floats]) -> float:
    """Mean over rollouts of the squared distance of their mean edits to the mean of all."""
    if min(map(len, references)) < 2:
        return math.nan
    moments = products(references)
    return float(np.trace(moments) - moments.sum() / 3) / 3

"""What moves a critic, what does not, and what cannot be told: verdicts on shares.

- *moves it*: the corrected p is at most α, and the interval is above zero.
- *moves it away*: one level of a kind is followed less than both others, the corrected p is at most α, and the interval
  is below zero. Who avoids one of three follows both others by half as much more: neither of these is a cause by
  itself, unless it is followed more than the other.
- *goes with another*: the interval leaves zero out since another level of the kind moves the critic, or moves it away.
- *does not move it*: two one-sided tests at α find the share within plus or minus the smallest share of interest
  (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), and its interval is not below zero.
- *cannot be told* otherwise, wherever edits for different rollouts can hardly be told apart, and where edits go against
  those for a rollout alone (`opposed`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from audit.interventions.effects.contrasts import FEWEST_PLACEBOS
from audit.interventions.effects.judging import away_p, moves, unmoved
from audit.interventions.effects.named_shares import CONTENTS, FACTORS, FOLLOWED, SHARES, margin_of
from audit.interventions.effects.results import (
    AWAY,
    CANNOT_TELL,
    DOES_NOT,
    GOES_WITH,
    LEAST_SIGNAL,
    MOVES,
    NOT_ASKED,
    Share,
    opposed,
)
from audit.interventions.effects.shares import PAIRS, Followed
from audit.interventions.effects.stimuli import Stimulus
from audit.interventions.experiment import Floats
from audit.measures.holm import holm
from audit.measures.prediction import prediction_p

DECIDED: Final = 0.8
"""The chance of a verdict that more calls are said to have."""
_TIMES: Final = (1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_DRAWS: Final = 400
FEWEST_RUNS: Final = 4
"""Runs from which on it is simulated what more of them would tell."""


class Bounds(NamedTuple):
    """What answers that could not be read may have followed.

    Attributes:
        unreadable: their share in `C`.
    """

    unreadable: float

    def widened(self, low: float, high: float) -> tuple[float, float]:
        """An interval for all answers from that for those that could be read.

        At worst all others followed this rollout, or all followed one other, which counts minus one half of the excess.
        """
        read = 1 - self.unreadable
        return read * low - self.unreadable / 2, read * high + self.unreadable


def verdicts(
    followed: Followed | None,
    presence: Mapping[str, tuple[float, Floats]],
    stimuli: Sequence[Stimulus],
    *,
    signal: float,
    unreadable: float,
    calls: int,
    alpha: float,
    smallest: float,
    placebos: Sequence[float] = (),
) -> list[Share]:
    """Judge every share that the arms allow, corrected together by Holm's method.

    Args:
        followed: shares, their intervals and tests; None where arms are missing.
        presence: by content, p of the test that its presence moves edits, and its values by unit; empty where the arms
            that replace rollouts were not asked. Where contents have no shares, it decides.
        stimuli: what is no rollout.
        signal: signal to noise of edits for single rollouts.
        unreadable: share of the answers in `C` that could not be read.
        calls: of the plan.
        alpha: level of the family.
        smallest: smallest share of interest.
        placebos: energy distances of the placebos: from `FEWEST_PLACEBOS` on a content without a share counts only
            above what one more of them would do.

    Returns:
        In the order of `SHARES`, then wording, length and the order of headings; the shares of a family only.
    """
    bounds = Bounds(unreadable)
    rows: list[Share] = []
    if followed is not None:
        low, high = followed.estimates.interval(1 - alpha)
        own = followed.estimates.p()
        replaced = dict(zip(presence, holm([p for p, _ in presence.values()]).tolist(), strict=True))
        for place, name in enumerate(SHARES):
            # Contents are not drawn: theirs is the test of the estimate.
            p = float(own[place]) if name in CONTENTS else followed.p.get(name, math.nan)
            ends = float(low[place]), float(high[place])
            if name in FOLLOWED:
                ends = bounds.widened(*ends)
            row = Share(name, float(followed.estimates.values[place]), *ends, p)
            rows.append(row._replace(replaced_p=replaced.get(name, math.nan)))
    else:
        enough = len(placebos) >= FEWEST_PLACEBOS
        for name, (p, values) in presence.items():
            beyond = prediction_p(float(np.nanmean(values)), placebos) if enough else math.nan
            rows.append(Share(name, p=p, beyond_placebo_p=beyond))
    rows += [_of_stimulus(each, followed, signal, alpha) for each in stimuli]
    adjusted = holm([row.p for row in rows])
    rows = [row._replace(p_adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True)]
    judged = {row.name: _moves(row, signal, alpha) for row in rows}
    if followed is None:
        return [row._replace(verdict=judged[row.name]) for row in rows]
    if signal >= LEAST_SIGNAL:
        rows = _away(rows, judged, followed, bounds, alpha)
        for row in rows:
            if judged[row.name] == CANNOT_TELL and row.name in FOLLOWED:
                judged[row.name] = _unmoved(row.name, judged, followed, bounds, alpha, margin_of(row.name, smallest))
    judged |= dict.fromkeys(opposed(rows) if signal >= LEAST_SIGNAL else (), CANNOT_TELL)
    more = _more(followed, stimuli, rows, alpha, smallest) if signal >= LEAST_SIGNAL else {}
    settled = {name for names in FACTORS if AWAY in {judged.get(each) for each in names} for name in names}
    more = {name: times for name, times in more.items() if name not in {*opposed(rows), *settled}}
    return [
        row._replace(
            verdict=judged[row.name],
            calls=math.ceil(more[row.name] * calls) if judged[row.name] == CANNOT_TELL and row.name in more else None,
        )
        for row in rows
    ]


def _of_stimulus(each: Stimulus, followed: Followed | None, signal: float, alpha: float) -> Share:
    """A root of a ratio as a share-equivalent: zero at zero and monotone, without a claim of coverage.

    There is none where edits for different rollouts hardly differ.
    """
    if signal < LEAST_SIGNAL:
        return Share(each.name, p=each.p)
    degrees = 0 if followed is None else len(followed.estimates.without) - 1
    width = float(stdtrit(degrees, 1 - alpha / 2)) * each.error if degrees > 0 else math.nan
    value, low, high = np.sqrt(np.maximum([each.value, each.value - width, each.value + width], 0.0)).tolist()
    return Share(each.name, value, low, high, each.p)


def _moves(row: Share, signal: float, alpha: float) -> str | None:
    """Whether it moves the critic; None for what is only described."""
    if math.isnan(row.p):
        # Of edits that are all the same there is a share of each content, and no test.
        is_asked = row.name in CONTENTS and not math.isnan(row.estimate)
        return CANNOT_TELL if is_asked else NOT_ASKED if row.name in FOLLOWED else None
    if row.p_adjusted > alpha or row.beyond_placebo_p > alpha:
        return CANNOT_TELL
    if row.name not in FOLLOWED or (math.isnan(signal) and math.isnan(row.estimate)):
        return MOVES  # needs no reference
    return moves(row.p_adjusted, math.nan, (row.low, row.high), alpha) if signal >= LEAST_SIGNAL else CANNOT_TELL


def _away(
    rows: Sequence[Share], judged: dict[str, str | None], followed: Followed, bounds: Bounds, alpha: float
) -> list[Share]:
    """Judge what the critic is moved away from: the level of a kind below both others, with their p in its row."""
    above = followed.estimates.p()
    corrected = away_p(above, sum(not math.isnan(row.p) for row in rows))
    found = {row.name: row for row in rows}
    for factor, names in enumerate(FACTORS):
        if names[0] in opposed(rows) or any(math.isnan(found[name].p) for name in names):
            continue
        least, *others = sorted((found[name] for name in names), key=lambda row: row.estimate)
        place = SHARES.index(least.name)
        p = float(corrected[place])
        if others[0].estimate <= 0 or moves(math.nan, p, (least.low, least.high), alpha) != AWAY:
            continue
        judged[least.name] = AWAY
        found[least.name] = least._replace(p=float(away_p(above[place], 1)), p_adjusted=p)
        first, second = (names.index(row.name) for row in others)
        is_clear = _gap(factor, second, first, followed.estimates.interval(1 - alpha), bounds)[0] > 0
        judged |= {row.name: CANNOT_TELL for row in (others[:1] if is_clear else others)}
    return list(found.values())


def _gap(factor: int, own: int, other: int, ends: tuple[Floats, Floats], bounds: Bounds) -> tuple[float, float]:
    """The interval of one level's share less another's of its kind, for all answers."""
    row = len(SHARES) + 3 * factor + PAIRS.index((min(own, other), max(own, other)))
    low, high = (float(each[row]) for each in ends)
    return bounds.widened(*((low, high) if own < other else (-high, -low)))


def _unmoved(
    name: str, judged: Mapping[str, str | None], followed: Followed, bounds: Bounds, alpha: float, margin: float
) -> str:
    """Whether a share is within its margin, or goes with another of its kind.

    Where another level of the factor is followed, this one is compared with the one that remains: following the first
    takes as much from both. Where both others are, none remains: levels are known up to what all three have, and this
    one is not followed if it is no more than its margin above either.
    """
    place = SHARES.index(name)
    ends, narrow = (followed.estimates.interval(1 - level) for level in (alpha, 2 * alpha))
    low, high = bounds.widened(float(ends[0][place]), float(ends[1][place]))
    factor, names = next((index, names) for index, names in enumerate(FACTORS) if name in names)
    moving = [index for index, other in enumerate(names) if judged.get(other) in {MOVES, AWAY}]
    if not moving:
        return unmoved((low, high), bounds.widened(float(narrow[0][place]), float(narrow[1][place])), margin)
    own = names.index(name)
    against = moving if len(moving) == 2 else [({0, 1, 2} - {own, *moving}).pop()]
    beside = [_gap(factor, own, other, narrow, bounds) for other in against]
    if any(top >= margin for _, top in beside) or (len(moving) == 1 and beside[0][0] <= -margin):
        return CANNOT_TELL
    return DOES_NOT if low <= 0 <= high else GOES_WITH


def _more(
    followed: Followed,
    stimuli: Sequence[Stimulus],
    rows: Sequence[Share],
    alpha: float,
    smallest: float,
) -> dict[str, float]:
    """By share, how many times as many calls would decide it with a chance of 80%.

    As many more runs are drawn with replacement, and judged by the same rule, all shares together.
    """
    values = _by_run(followed, stimuli, rows)
    runs = len(values)
    if runs < FEWEST_RUNS:
        return {}
    rng = np.random.default_rng(0)
    margins = np.array([margin_of(row.name, smallest) for row in rows])
    is_tested = np.array([not math.isnan(row.p) for row in rows])
    has_share = np.array([row.name in FOLLOWED for row in rows])
    found: dict[str, float] = {}
    for times in _TIMES:
        number = round(times * runs)
        drawn = rng.integers(runs, size=(_DRAWS, number))
        mean, error = values[drawn].mean(axis=1), values[drawn].std(axis=1, ddof=1) / math.sqrt(number)
        p = np.where(is_tested, 1 - stdtr(number - 1, mean / np.maximum(error, 1e-12)), np.nan)
        adjusted = np.array([holm(each) for each in p])
        wide, narrow = (float(stdtrit(number - 1, level)) for level in (1 - alpha / 2, 1 - alpha))
        moves = (adjusted <= alpha) & (~has_share | (mean - wide * error > 0))
        does_not = has_share & (np.abs(mean) + narrow * error < margins)
        share = (moves | does_not).mean(axis=0)
        for row, decided in zip(rows, share, strict=True):
            if decided >= DECIDED:
                found.setdefault(row.name, times)
    return found


def _by_run(followed: Followed, stimuli: Sequence[Stimulus], rows: Sequence[Share]) -> Floats:
    """What each run would estimate by itself: shape (runs, rows)."""
    estimates = followed.estimates
    runs = len(estimates.without)
    own = runs * estimates.values - (runs - 1) * estimates.without
    values = np.zeros((runs, len(rows)))
    parts = {each.name: each.parts[:, 0] for each in stimuli}
    for column, row in enumerate(rows):
        if row.name in SHARES:
            values[:, column] = own[:, SHARES.index(row.name)]
        if row.name in parts:
            values[:, column] = _means(parts[row.name], followed.clusters)
    return values


def _means(values: Floats, clusters: NDArray[np.intp]) -> Floats:
    known = np.where(np.isnan(values), 0.0, values)
    return np.asarray(np.bincount(clusters, weights=known) / np.bincount(clusters))

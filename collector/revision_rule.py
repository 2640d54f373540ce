"""Rules that choose τ_c, the mean return at which the critic is asked for restraint, from a run's own record.

A rule is a pure function of what the record holds when an iteration's first candidate has been rolled out, so that a
resumed run states the same thresholds. Each keeps two promises: τ_c is above the median return of the random policies
that opened the run, so that no plateau at the floor calls for restraint, and it is compared as the prompt states it,
rounded to four significant digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, variance
from typing import Final

from collector.records import Candidate, Episode, TauRule, WarmupTrial

DIGITS: Final = 4
"""Significant digits of a threshold that a rule chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a run's record holds when the critic is about to be asked.

    Attributes:
        iteration: from 0.
        initial: the candidate under review.
        episodes: earlier iterations, in order.
        warmup: the random trials that opened the run, at least one.
        optimum: the return that prompts name as about the best.
    """

    iteration: int
    initial: Candidate
    episodes: Sequence[Episode]
    warmup: Sequence[WarmupTrial]
    optimum: float

    @property
    def random_return(self) -> float:
        """The median return of random policies, over the warm-up."""
        return median(trial.return_ for trial in self.warmup)


Formula = Callable[..., float | None]
"""Takes a situation, and a rule's options as keyword arguments; gives a threshold, or None where the rule is off."""


@dataclass(frozen=True, slots=True)
class RevisionRule:
    """A rule for τ_c, by the name and the options under which it is recorded."""

    id: str
    options: dict[str, float]
    formula: Formula

    @property
    def record(self) -> TauRule:
        """What `run.json` records of it."""
        return TauRule(id=self.id, options=self.options)

    def threshold(self, situation: Situation) -> float | None:
        """τ_c as the prompt states it; None where the prompt leaves the rule out."""
        value = self.formula(situation, **self.options)
        return None if value is None else stated(value)


def stated(value: float) -> float:
    """A threshold as prompts state it: to `DIGITS` significant digits."""
    return float(format(value, f".{DIGITS}g"))


def progress(situation: Situation, *, share: float) -> float | None:
    """Part of the way from what random policies get to the optimum.

    Args:
        situation: what the record holds.
        share: how much of the way.

    Returns:
        None where random policies get as much as the optimum, so that there is no way to go.
    """
    start = situation.random_return
    return _above(start, start + share * (situation.optimum - start))


def record(situation: Situation, *, z: float, top: int, first: int, recent: int, near: float) -> float | None:
    """The best mean return so far, less what noise could account for.

    The candidate under review is at the threshold if it cannot be told from the best kept one, by `z` standard errors
    of the difference. Since the best of several noisy means is too high on average, it is first shrunk towards the
    mean of the best few: B. Efron and C. Morris, "Data analysis using Stein's estimator and its generalizations",
    JASA 70 (1975), with the mean square error of the means as their common variance.

    Args:
        situation: what the record holds.
        z: standard errors.
        top: how many of the best kept means the best is shrunk towards.
        first: the first iteration in which the rule can be on.
        recent: iterations after which the best is old: it then counts only near the optimum.
        near: how close to the optimum that is, as a share of the way there from what random policies get.

    Returns:
        None where the record is short, or old and not near the optimum.
    """
    if situation.iteration < first or not situation.episodes:
        return None
    best = max(situation.episodes, key=lambda episode: episode.kept.mean_return)
    start, optimum = situation.random_return, situation.optimum
    is_recent = situation.iteration - best.iteration <= recent
    is_near = best.kept.mean_return >= optimum - near * abs(optimum - start)
    if not (is_recent or is_near):
        return None
    ranked = sorted((episode.kept for episode in situation.episodes), key=lambda each: each.mean_return, reverse=True)
    error = (_error(best.kept) + _error(situation.initial)) ** 0.5
    return _above(start, _shrunk(ranked[:top]) - z * error)


def _above(start: float, value: float) -> float | None:
    """The threshold, if what random policies get is below it as the prompt states it."""
    return value if stated(value) > start else None


def _error(candidate: Candidate) -> float:
    """The squared standard error of a mean return; 0 where a single rollout tells nothing of it."""
    returns = candidate.returns
    return variance(returns) / len(returns) if len(returns) > 1 else 0.0


def _shrunk(top: Sequence[Candidate]) -> float:
    """The first of some means in descending order, shrunk towards their mean."""
    means = [each.mean_return for each in top]
    centre = fmean(means)
    spread = sum((each - centre) ** 2 for each in means)
    noise = max(0, len(means) - 3) * fmean(_error(each) for each in top)
    kept = max(0.0, 1 - noise / spread) if spread > 0 else 1.0
    return centre + kept * (means[0] - centre)


RULES: Final = {
    rule.id: rule
    for rule in (
        RevisionRule("progress", {"share": 0.5}, progress),
        RevisionRule("record", {"z": 1.0, "top": 8, "first": 5, "recent": 10, "near": 0.02}, record),
    )
}
DEFAULT: Final = "progress"
AUTOMATIC: Final = "auto"
"""The setting that leaves τ_c to a rule: alone to the default one, or with a colon and the name of another."""


def named(setting: str) -> RevisionRule | None:
    """The rule that a setting of τ_c names, `auto` or `auto:NAME`; None if it names none.

    Raises:
        KeyError: it asks for a rule that does not exist.
    """
    word, _, name = setting.partition(":")
    if word != AUTOMATIC:
        return None
    return RULES[name if ":" in setting else DEFAULT]

"""The form of an analysis, and which effects there are, given how many were looked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control

from audit.measures.holm import holm

Verdict = Literal["found", "not beyond placebo", "not found", "not tested"]
CriticVerdict = Literal["faithful", "silent", "talker", "moved by position", "none found", "not known"]

FOUND: Final = "found"
NOT_BEYOND_PLACEBO: Final = "not beyond placebo"
NOT_FOUND: Final = "not found"
NOT_TESTED: Final = "not tested"


class Effect(NamedTuple):
    """One effect; numbers are NaN where they are not known.

    Attributes:
        name: the factor: `label`, `position`, `last position`, `number`, `presence`, `presence of the best` and so on.
        outcome: `edits`: energy distance of their directions, in units of the mean distance of two answers to a unit;
            `text`: share of answers that are justified by the rollout, above what others get; `direction`: closeness of
            edits to those made for a rollout alone; `gain`: in return; `harmful`: share of answers.
        arm: that is tested.
        control: the arm that it is compared with; None where the factor is drawn within the arm.
        env: the task, for effects in units of its returns; None for those over all tasks.
        method: of the test: `energy`, `presence`, `conditional randomisation`, `permutation` or `cluster t`.
        estimate: in the units of the outcome.
        low: end of its 95% interval, by errors clustered by run; NaN for one run.
        high: end of it.
        p: of the hypothesis of no effect.
        p_adjusted: by Holm within the primary family, by Benjamini and Hochberg among the other planned tests.
        beyond_placebo_p: of the hypothesis that a change of wording, `P1`, does as much.
        beyond_redrawn_p: of the hypothesis that other rollouts of the same policy, `P2`, do as much.
        bounded_p: `p` where sizes of edits count as well, by bounded distances, so that a few far edits do not decide.
        detectable: the effect that the test finds with a chance of 80% at the level of Holm's first step.
        primary: it is in the plan's family.
        planned: all its arms are in the plan.
        units: units with answers of both arms.
        runs: their runs.
        answers: their answers.
        verdict: what follows.
    """

    name: str
    outcome: str
    arm: str
    control: str | None
    env: str | None = None
    method: str = ""
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    beyond_placebo_p: float = math.nan
    beyond_redrawn_p: float = math.nan
    bounded_p: float = math.nan
    detectable: float = math.nan
    primary: bool = False
    planned: bool = True
    units: int = 0
    runs: int = 0
    answers: int = 0
    verdict: Verdict = NOT_TESTED


class Unreadable(NamedTuple):
    """Answers of an arm from which no parameters could be read.

    Attributes:
        arm: how they were asked.
        answers: of the arm.
        unreadable: of these.
        control: the arm that it is compared with.
        difference: of the two shares, within units.
        p: of the hypothesis that there is none.
    """

    arm: str
    answers: int
    unreadable: int
    control: str | None
    difference: float
    p: float


@dataclass(frozen=True)
class Validity:
    """Whether an experiment can show anything.

    Attributes:
        spread: mean distance of two answers to the same recorded prompt, over that of answers to different ones.
        same_driver: share of pairs of answers to the same recorded prompt that name the same driver.
        repeated: share of such answers whose text is that of an earlier one.
        most_repeated: the share beyond which a cache of responses is suspected.
        unreadable: by arm.
        capped: answers whose prompt has the largest number of tokens, if prompts of different length have it.
        drift_p: of the hypothesis that answers of the first half of calls are like those of the second.
        problems: what speaks against trusting the results, a sentence each.
    """

    spread: float
    same_driver: float
    repeated: float
    most_repeated: float
    unreadable: Sequence[Unreadable]
    capped: int
    drift_p: float
    problems: Sequence[str]


class Weight(NamedTuple):
    """How much the answers to the whole evidence are like those to one rollout alone."""

    content: str
    weight: float
    low: float
    high: float


@dataclass(frozen=True)
class Faithfulness:
    """Whether what moves the answers is what they name.

    Attributes:
        verdict: of the critic: `faithful`: the worst rollout moves edits and the text is justified by it; `silent`: it
            moves them, the text is not; `talker`: the text is, edits are not moved; `moved by position`: by where a
            rollout is shown, and not by what it is or is called; `none found`: nothing moves edits, nor is the text
            justified by the worst.
        named: share of answers to the unchanged evidence that are justified by the worst rollout.
        named_low: end of its 95% interval.
        named_high: end of it.
        mentioned: share of them that speak of it.
        arm: whose effect on a unit's edits is `moved`; None where no such arm was asked.
        control: what it is compared with.
        units: that have both measures.
        moved_units: whose effect is among the highest tenth of its permutations.
        named_units: more than half of whose answers are justified by the worst rollout.
        silent: share of units that are moved and not named.
        silent_by_chance: the same where units are paired at random.
        talker: share of units that are named and not moved.
        talker_by_chance: the same where units are paired at random.
        association_p: of the hypothesis that moving and naming do not go together, Fisher's exact test.
        correlation: over units, of the share of naming answers and the effect.
        correlation_p: by permuted pairing.
        disattenuated: the correlation without the noise of both.
    """

    verdict: CriticVerdict
    named: float
    named_low: float
    named_high: float
    mentioned: float
    arm: str | None = None
    control: str | None = None
    units: int = 0
    moved_units: int = 0
    named_units: int = 0
    silent: float = math.nan
    silent_by_chance: float = math.nan
    talker: float = math.nan
    talker_by_chance: float = math.nan
    association_p: float = math.nan
    correlation: float = math.nan
    correlation_p: float = math.nan
    disattenuated: float = math.nan


@dataclass(frozen=True)
class Analysis:
    """All that an experiment shows.

    Attributes:
        validity: whether it can show anything.
        effects: primary ones first, in the order of the family, then others, then those not planned.
        weights: of the worst, the median and the best rollout in the answers to all three; empty without their arms.
        faithfulness: whether what moves the answers is what they name.
        alpha: level of the family.
        notes: what could not be tested, a sentence each.
        counts: answers by arm.
    """

    validity: Validity
    effects: Sequence[Effect]
    weights: Sequence[Weight]
    faithfulness: Faithfulness
    alpha: float
    notes: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def primary(self) -> list[Effect]:
        """The effects of the family."""
        return [effect for effect in self.effects if effect.primary]


def judged(effects: Sequence[Effect], alpha: float) -> list[Effect]:
    """Correct the p-values of a family by Holm's method, and judge its effects.

    Args:
        effects: of one family; those without a p-value are no members.
        alpha: level of the family.
    """
    return _with_verdicts(effects, holm([effect.p for effect in effects]).tolist(), alpha)


def explored(effects: Sequence[Effect], alpha: float) -> list[Effect]:
    """Correct p-values by Benjamini and Hochberg's method, and judge their effects: those planned beside a family.

    Args:
        effects: all of them.
        alpha: share of false findings among what is found, at most.
    """
    p = np.array([effect.p for effect in effects])
    adjusted = np.full(p.shape, math.nan)
    known = np.isfinite(p)
    if known.any():
        adjusted[known] = false_discovery_control(p[known])
    return _with_verdicts(effects, adjusted.tolist(), alpha)


def verdict(p: float, beyond_placebo_p: float, alpha: float) -> Verdict:
    """What follows from a test and, where there is one, from that against the placebo."""
    if math.isnan(p):
        return NOT_TESTED
    if p > alpha:
        return NOT_FOUND
    return NOT_BEYOND_PLACEBO if beyond_placebo_p > alpha else FOUND


def _with_verdicts(effects: Sequence[Effect], adjusted: Sequence[float], alpha: float) -> list[Effect]:
    return [
        effect._replace(p_adjusted=p, verdict=verdict(p, effect.beyond_placebo_p, alpha))
        for effect, p in zip(effects, adjusted, strict=True)
    ]

"""The form of an analysis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from audit.interventions.effects.named_shares import FACTORS, SMALLEST

Verdict = str
"""Of a test: "found", "not beyond placebo", "not found" or "not tested"; of a share: one of those below."""
FOUND: Final = "found"
NOT_BEYOND_PLACEBO: Final = "not beyond placebo"
NOT_FOUND: Final = "not found"
NOT_TESTED: Final = "not tested"

MOVES: Final = "moves it"
AWAY: Final = "moves it away"
GOES_WITH: Final = "goes with another"
"""Of a share that another of its kind makes large or small: those of a kind sum to zero."""
DOES_NOT: Final = "does not move it"
CANNOT_TELL: Final = "cannot be told"
NOT_ASKED: Final = "not asked"
NO_VERDICT: Final = "No verdict: "
"""What stands before a problem that leaves no verdict on shares."""
LEAST_SIGNAL: Final = 0.1
"""Signal to noise below which nothing is said of shares."""
UNEVEN: Final = 0.01
"""The p-value from which on prompts are said not to follow alike."""


class Share(NamedTuple):
    """What a critic follows, and what can be said of it; numbers are NaN where they are not known.

    Attributes:
        name: what is followed: "called worst", "shown first", "lowest printed return", "worst content" and so on; or
            "wording", "length" or "order of headings", whose numbers are share-equivalents.
        estimate: share of revisions that follow it, above the mean of the other two levels of its kind.
        low: end of its interval, of the level that the plan's α leaves: 95%.
        high: the other end.
        p: of the hypothesis that it does not matter.
        p_adjusted: by Holm's method over all of a plan.
        verdict: "moves it", "moves it away", "goes with another", "does not move it" or "cannot be told"; None for what
            is only described.
        calls: calls of such a plan that would decide it with a chance of 80%; None where it is decided or not known.
        named: share of answers that name the rollout with it in a sentence that gives a reason; naming one at random
            would be a third.
        named_low: end of its 95% interval.
        named_high: the other end.
        replaced_p: of a content, corrected by Holm's method over the three, of the hypothesis that another rollout in
            its place changes edits no more than in place of the others.
        beyond_placebo_p: of a content without a share, as that of an effect.
    """

    name: str
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str | None = None
    calls: int | None = None
    named: float = math.nan
    named_low: float = math.nan
    named_high: float = math.nan
    replaced_p: float = math.nan
    beyond_placebo_p: float = math.nan


def opposed(shares: Sequence[Share]) -> dict[str, Share]:
    """The shares that are not known since edits go against those for a rollout, with the share of which that is so.

    Whoever follows one level of a kind always has -1/2 for the two others, and no mixture has less. A critic that does
    the opposite of what it does for the rollout called best alone has -1, and one half for the two other labels, which
    it does not follow.

    Args:
        shares: those of an experiment.
    """
    found: dict[str, Share] = {}
    for names in FACTORS:
        below = [share for share in shares if share.name in names and share.high < -0.5 - SMALLEST]
        if below:
            found |= dict.fromkeys(names, min(below, key=lambda share: share.estimate))
    return found


class Effect(NamedTuple):
    """One effect; numbers are NaN where they are not known.

    Attributes:
        name: the factor: `label`, `position`, `last position`, `number`, `presence`, `presence of the best` and so on.
        outcome: `share`: of revisions that follow a rollout because of what is named; `edits`: energy distance of
            their directions, in units of the mean distance of two answers to a unit;
            `text`: share of answers that are justified by the rollout, above what others get; `direction`: closeness of
            edits to those made for a rollout alone; `gain`: in return; `harmful`: share of answers.
        arm: that is tested.
        control: the arm that it is compared with; None where the factor is drawn within the arm.
        env: the task, for effects in units of its returns; None for those over all tasks.
        method: of the test: `energy`, `presence`, `exchanges`, `conditional randomisation` and so on.
        estimate: in the units of the outcome.
        low: end of its 95% interval, by errors clustered by run; NaN for one run.
        high: end of it.
        p: of the hypothesis of no effect.
        p_adjusted: by Holm within the primary family, by Benjamini and Hochberg among the other planned tests.
        beyond_placebo_p: of the hypothesis that the effect is one more of those of the placebos, where four or more
            were asked; else that a change of wording, `P1`, does as much.
        beyond_redrawn_p: of the hypothesis that other rollouts of the same policy, `P2`, do as much.
        bounded_p: `p` where sizes of edits count as well, by bounded distances, so that a few far edits do not decide.
        detectable: NaN; kept until 1.0 for those who read the column.
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
        control: the arm that it is compared with, or "other arms".
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
class Ceiling:
    """How much of a critic's edits an experiment can tell apart at all.

    Attributes:
        signal: signal to noise: variance of the mean edits for each rollout alone, between rollouts of a unit, over
            the variance of edits for the same rollout.
        recognised: share of edits for one rollout alone that are nearest to the mean of the others for that rollout; a
            third by chance.
        by_task: signal to noise of each task, where there are several.
    """

    signal: float
    recognised: float
    by_task: Mapping[str, float] = field(default_factory=dict)

    @property
    def blind(self) -> Mapping[str, float]:
        """Tasks of which shares say nothing, since edits for different rollouts hardly differ."""
        return {task: signal for task, signal in self.by_task.items() if signal < LEAST_SIGNAL}


class Carriers(NamedTuple):
    """Who carries a share; NaN where it is not known.

    Attributes:
        units: share of prompts that follow, if each follows always to the same degree or not at all.
        units_low: end of its 95% interval over runs.
        units_high: end of it.
        uneven_p: of the hypothesis that all prompts follow alike.
        runs: their number.
        without_low: the smallest estimate that is left without one of the runs.
        without_high: the largest.
        flip_p: of a sign flip of runs, from six runs on.
        one_run: the name of the run that alone carries it; None where none does.
        by_task: where prompts do not follow alike, the share of each task whose edits can be told apart.
    """

    units: float = math.nan
    units_low: float = math.nan
    units_high: float = math.nan
    uneven_p: float = math.nan
    runs: int = 0
    without_low: float = math.nan
    without_high: float = math.nan
    flip_p: float = math.nan
    one_run: str | None = None
    by_task: Mapping[str, float] = MappingProxyType({})

    @property
    def is_uneven(self) -> bool:
        """Whether prompts do not follow alike: it is looked for in every share that moves the critic."""
        return self.uneven_p <= UNEVEN


@dataclass(frozen=True)
class Validity:
    """Whether an experiment can show anything.

    Attributes:
        spread: mean distance of two answers to the same recorded prompt, over that of answers to different ones.
        same_driver: share of pairs of answers to the same recorded prompt that name the same driver.
        repeated: share of such answers whose text is that of an earlier one; those that cannot be read or that change
            nothing are left out.
        most_repeated: the share beyond which a cache of responses is suspected.
        unreadable: by arm.
        capped: answers whose prompt has the largest number of tokens, if prompts of different length have it.
        drift_p: of the hypothesis that answers of the first half of calls are like those of the second.
        problems: what ends the verdict, a sentence each.
        remarks: what may disturb the results and does not end the verdict, a sentence each.
        unchanged: share of the answers that can be read in which nothing changes.
        followed_p: the same of what is followed, the smallest of all shares, corrected; NaN where shares are not known.
    """

    spread: float
    same_driver: float
    repeated: float
    most_repeated: float
    unreadable: Sequence[Unreadable]
    capped: int
    drift_p: float
    problems: Sequence[str]
    unchanged: float = math.nan
    followed_p: float = math.nan
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Naming:
    """What answers to the unchanged evidence name.

    Attributes:
        named: share of answers to the unchanged evidence that are justified by the worst rollout.
        named_low: end of its 95% interval.
        named_high: end of it.
        mentioned: share of them that speak of it.
    """

    named: float
    named_low: float
    named_high: float
    mentioned: float


@dataclass(frozen=True)
class Analysis:
    """All that an experiment shows.

    Attributes:
        validity: whether it can show anything.
        effects: primary ones first, in the order of the family, then others, then those not planned.
        naming: what answers to the unchanged evidence name.
        alpha: level of the family.
        notes: what could not be tested, a sentence each.
        counts: answers by arm.
        shares: what the critic follows and what can be said of it; empty where the arms for it were not asked.
        ceiling: how well edits for different rollouts can be told apart; None without those arms.
        carriers: by share that moves the critic, who carries it.
    """

    validity: Validity
    effects: Sequence[Effect]
    naming: Naming
    alpha: float
    notes: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    shares: Sequence[Share] = ()
    ceiling: Ceiling | None = None
    carriers: Mapping[str, Carriers] = field(default_factory=dict)

    @property
    def movers(self) -> list[Share]:
        """What moves the critic, the largest first; what has no share-equivalent before all."""
        moving = [share for share in self.shares if share.verdict in {MOVES, AWAY}]
        return sorted(
            moving, key=lambda share: math.inf if math.isnan(share.estimate) else abs(share.estimate), reverse=True
        )

    @property
    def primary(self) -> list[Effect]:
        """The effects of the family."""
        return [effect for effect in self.effects if effect.primary]

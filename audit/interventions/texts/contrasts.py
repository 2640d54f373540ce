"""Whether an arm changes the texts that are proposed, and whether an experiment can be trusted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np

from audit.interventions.effects.contrasts import FEWEST_PLACEBOS
from audit.interventions.effects.results import CANNOT_TELL, MOVES, Unreadable
from audit.interventions.effects.validity import CERTAIN, MOST_REPEATED, drift_line
from audit.interventions.texts.arms import ARMS, PLACEBOS, SHUFFLED
from audit.interventions.texts.effects import UnitTexts
from audit.interventions.texts.plan import TextPlan, control_of
from audit.interventions.texts.running import TextAnswer
from audit.measures.energy import energy_test, pairwise_distances, presence_test
from audit.measures.holm import holm
from audit.measures.prediction import prediction_p
from audit.measures.stratified_permutation import stratified_difference

PRESENCE: Final = "presence of the lowest score"
"""Whether texts change more without the example of the lowest score than without that of the highest."""


class Contrast(NamedTuple):
    """An arm against its control.

    Attributes:
        name: what is changed.
        arm, control: the two.
        estimate: root of the squared distance over that between texts for different examples, 0 where nothing changes;
            for `PRESENCE` a difference of squared energy distances.
        p: of the hypothesis that texts do not differ.
        p_adjusted: by Holm's method over all contrasts but placebos.
        beyond_placebo_p: of the hypothesis that it is one more placebo; NaN where too few were asked.
        verdict: "moves it" or "cannot be told"; None for placebos.
        units: that count.
    """

    name: str
    arm: str
    control: str
    estimate: float
    p: float
    p_adjusted: float = math.nan
    beyond_placebo_p: float = math.nan
    verdict: str | None = None
    units: int = 0


def contrasts(plan: TextPlan, units: Sequence[UnitTexts], spread: float) -> list[Contrast]:
    """Compare every arm with its control, within units.

    Args:
        plan: the plan.
        units: its answers.
        spread: mean variance between texts for different examples; NaN where that is not known.
    """
    found, placebos = [], []
    for name, arm in ARMS.items():
        control = control_of(plan, name) if name in plan.arms else None
        if control is None:
            continue
        both = [(each, each.rows(name), each.rows(control)) for each in units]
        both = [each for each in both if len(each[1]) and len(each[2]) and len(each[1]) + len(each[2]) > 2]
        test = energy_test(
            [pairwise_distances(each.edits[[*first, *second]]) for each, first, second in both],
            [np.arange(len(first) + len(second)) < len(first) for _, first, second in both],
            redraws=plan.permutations,
            seed=plan.seed,
        )
        squared = float(
            np.mean([_squared(each.edits[first], each.edits[second]) for each, first, second in both] or [math.nan])
        )
        size = math.sqrt(max(0.0, squared) / (2 * spread)) if spread > 0 else math.nan
        found.append(Contrast(arm.factor, name, control, size, test.p, units=test.strata))
        if name in PLACEBOS:
            placebos.append(size)
    if SHUFFLED in plan.arms and {"RW", "RB"} <= plan.arms.keys():
        found.append(_presence(plan, units))
    tested = [each for each in found if each.arm not in PLACEBOS]
    adjusted = dict(zip([each.name for each in tested], holm([each.p for each in tested]).tolist(), strict=True))
    return [_judged(plan, each, adjusted.get(each.name, math.nan), placebos) for each in found]


def _judged(plan: TextPlan, each: Contrast, adjusted: float, placebos: Sequence[float]) -> Contrast:
    if each.arm in PLACEBOS:
        return each
    needs_placebos = each.name != PRESENCE
    enough = len(placebos) >= FEWEST_PLACEBOS
    beyond = prediction_p(each.estimate, placebos) if needs_placebos and enough else math.nan
    moves = adjusted <= plan.alpha and (not needs_placebos or beyond <= plan.alpha)
    return each._replace(p_adjusted=adjusted, beyond_placebo_p=beyond, verdict=MOVES if moves else CANNOT_TELL)


def _squared(first: np.ndarray, second: np.ndarray) -> float:
    """Squared distance of the means of two samples, without bias."""
    apart = ((first.mean(axis=0) - second.mean(axis=0)) ** 2).sum()
    noise = [each.var(axis=0, ddof=1).sum() / len(each) for each in (first, second) if len(each) > 1]
    return float(apart - (sum(noise) if len(noise) == 2 else 2 * sum(noise)))


def _presence(plan: TextPlan, units: Sequence[UnitTexts]) -> Contrast:
    """Whether the example of the lowest score is missed more than that of the highest: a typical one in its place."""
    rows = [(each, each.rows(SHUFFLED), each.rows("RW"), each.rows("RB")) for each in units]
    rows = [each for each in rows if min(map(len, each[1:])) > 1]
    distances, names = [], []
    for each, *arms in rows:
        every = [row for arm in arms for row in arm]
        distances.append(pairwise_distances(each.edits[every]))
        names.append(np.repeat(range(3), [len(arm) for arm in arms]))
    test = presence_test(
        distances,
        [each == 0 for each in names],
        [each == 1 for each in names],
        [each == 2 for each in names],
        redraws=plan.permutations,
        seed=plan.seed,
    )
    return Contrast(PRESENCE, "RW", "RB", test.statistic, test.p, units=test.strata)


def problems(answers: Sequence[tuple[int, TextAnswer]], drift: float) -> list[str]:
    """What forbids a verdict, in words: caches, and a model that changed.

    Args:
        answers: those that propose a text, with the index of their unit.
        drift: p of the test that answers did not change during the calls.
    """
    by_prompt: dict[tuple[int, str], list[str]] = defaultdict(list)
    for unit, answer in answers:
        by_prompt[unit, answer.prompt_sha256].append(answer.completion)
    pairs = [one == other for texts in by_prompt.values() for one, other in combinations(texts, 2)]
    found = []
    if pairs and np.mean(pairs) > MOST_REPEATED:
        found.append(
            f"{np.mean(pairs):.0%} of the pairs of answers to one prompt are the same word for word: responses may "
            "come from a cache; turn it off, or raise the temperature"
        )
    return [*found, drift_line(drift)] if drift < CERTAIN else found


def unreadable(
    plan: TextPlan, answers: Sequence[tuple[int, TextAnswer]], is_read: Callable[[int, TextAnswer], bool]
) -> list[Unreadable]:
    """By arm, how many answers propose no text that can be read, and whether they are more than under other arms.

    Args:
        plan: the plan.
        answers: all, with the index of their unit.
        is_read: whether a text could be read from an answer.
    """
    unread = np.array([not is_read(unit, answer) for unit, answer in answers], dtype=float)
    strata, arms = np.array([unit for unit, _ in answers]), np.array([answer.arm for _, answer in answers])
    found = []
    for arm in plan.arms:
        tested = stratified_difference(unread, arms == arm, strata, redraws=plan.permutations, seed=plan.seed)
        own = unread[arms == arm]
        p = min(1.0, tested.p * len(plan.arms))
        found.append(Unreadable(arm, len(own), int(own.sum()), None, tested.difference, p))
    return found


def drift_p(plan: TextPlan, units: Sequence[UnitTexts]) -> float:
    """Of the hypothesis that answers did not change during the calls: early against late answers to one prompt."""
    half = np.median([answer.order for each in units for answer in each.answers]) if units else 0
    distances, early = [], []
    for each in units:
        by_prompt: Mapping[str, list[int]] = defaultdict(list)
        for row, answer in enumerate(each.answers):
            by_prompt[answer.prompt_sha256 if answer.arm != "C" else "C"].append(row)
        for rows in by_prompt.values():
            first = np.array([each.answers[row].order < half for row in rows])
            if min(first.sum(), (~first).sum()) > 1:
                distances.append(pairwise_distances(each.edits[rows]))
                early.append(first)
    return energy_test(distances, early, redraws=plan.permutations, seed=plan.seed).p

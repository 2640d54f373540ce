"""Can an experiment be trusted? Repeated answers, unreadable ones, cut prompts, and a model that changed meanwhile."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import ndtr

from audit.interventions.arms import ARMS
from audit.interventions.effects.comparisons import Redraws, outcomes
from audit.interventions.effects.drift import Change, changes
from audit.interventions.effects.named_shares import SMALLEST, within
from audit.interventions.effects.results import LEAST_SIGNAL, Unreadable, Validity
from audit.interventions.effects.shares import ceiling, unit_calls
from audit.interventions.experiment import Answered, Experiment
from audit.measures.energy import energy_test, pairwise_distances
from audit.measures.stratified_permutation import stratified_difference

MOST_REPEATED: Final = 0.2
DOUBTFUL: Final = 0.01
"""The p-value up to which a check is reported: there are several checks, and each should seldom be false."""
CERTAIN: Final = 0.0005
"""The p-value below which a change during the calls ends the verdict; a remark would be false in one report of many."""
OTHERS: Final = "other arms"
"""What an arm without a control is compared with."""
LEAST_DIFFERENCE: Final = 0.02
"""Difference of two shares of unreadable answers below which it is no problem, however sure it is."""
MOST_UNREADABLE: Final = 0.2
"""Share of unreadable answers beyond which an experiment says little about the others."""
SMALLEST_CONTEXT: Final = 256
"""Tokens of the smallest context that prompts are cut to; servers that count fewer count something else."""
_LENGTHS: Final = 1.05
"""Prompts whose lengths differ by this factor do not have the same number of tokens by chance."""


def validity(experiment: Experiment, redraws: Redraws, *, shares: bool = True) -> Validity:
    """Check an experiment.

    Args:
        experiment: its answers.
        redraws: redraws and their seed.
        shares: whether what is followed may not change either.
    """
    same = experiment.arm("A0") or experiment.arm("N0")
    groups = [answers for answers in same.values() if len(answers) > 1]
    # A critic may well refuse, or leave a policy as it is, twice in the same words.
    texts = [[answer.completion for answer in group if answer.readable and answer.changed] for group in groups]
    answers = sum(map(len, texts))
    repeated = sum(len(each) - len(set(each)) for each in texts)
    read = [answer for answer in experiment.answers if answer.readable]
    pairs = [a.driver == b.driver for group in groups for a, b in combinations(group, 2)]
    checked = Validity(
        spread=_spread(experiment, groups),
        same_driver=float(np.mean(pairs)) if pairs else math.nan,
        repeated=repeated / answers if answers else math.nan,
        most_repeated=MOST_REPEATED,
        unreadable=_unreadable(experiment, redraws),
        capped=capped([(answer.prompt_tokens, answer.prompt_characters) for answer in experiment.answers]),
        drift_p=_drift(experiment, redraws),
        problems=(),
        unchanged=float(np.mean([not answer.changed for answer in read])) if read else math.nan,
    )
    units = unit_calls(experiment) if shares else []
    moved = changes(experiment, units) if units and ceiling(units).signal >= LEAST_SIGNAL else []
    checked = replace(checked, followed_p=min((each.p for each in moved), default=math.nan))
    changed = [
        (checked.drift_p, drift_line(checked.drift_p)),
        *((checked.followed_p, line) for line in _changes(moved)),
    ]
    return replace(
        checked,
        problems=[*_problems(checked), *(line for p, line in changed if p < CERTAIN)],
        remarks=[line for p, line in changed if CERTAIN <= p <= DOUBTFUL],
    )


def drift_line(p: float) -> str:
    """That answers change during the calls, as far as a test of p tells."""
    return (
        f"answers of the first half of calls differ from those of the second (p {p:.2g}): the model may have changed "
        "meanwhile; calls are in random order, so that tests stay right and lose power"
    )


def _changes(moved: Sequence[Change]) -> list[str]:
    """How what is followed changed: the shares that are large in a half, or else the one that changed most."""
    known = sorted((each for each in moved if each.p <= DOUBTFUL), key=lambda each: -abs(each.second - each.first))
    if not known:
        return []
    large = [each for each in known if max(each.first, each.second) > SMALLEST] or known[:1]
    words = [
        f"{each.name} {within(each.first):.0%} in the first half, {within(each.second):.0%} in the second"
        for each in large
    ]
    return [f"what it follows may have changed during the calls: {'; '.join(words)}"]


def _problems(found: Validity) -> list[str]:
    problems = []
    if found.repeated > found.most_repeated:
        problems.append(
            f"{found.repeated:.0%} of answers to the same prompt repeat another one word for word: responses may "
            "come from a cache; turn it off, or raise the temperature"
        )
    if found.capped:
        problems.append(
            f"{found.capped} prompts of different lengths have the same, largest number of tokens: they were "
            "probably cut"
        )
    return problems


def _spread(experiment: Experiment, groups: Sequence[Sequence[Answered]]) -> float:
    """Mean distance of edits within units over that between units of one task."""
    by_env = defaultdict(list)
    for group in groups:
        by_env[experiment.units[group[0].unit].env].append(np.stack([answer.edit for answer in group]))
    within = [pairwise_distances(edits).sum() / (len(edits) * (len(edits) - 1)) for e in by_env.values() for edits in e]
    between = []
    for units in by_env.values():
        if len(units) < 2:
            continue
        labels = np.repeat(range(len(units)), [len(edits) for edits in units])
        edits = np.concatenate(units)
        between.append(cdist(edits, edits)[labels[:, None] != labels].mean())
    mean = float(np.mean(between)) if between else 0.0
    return float(np.mean(within)) / mean if mean > 0 else math.nan


def _unreadable(experiment: Experiment, redraws: Redraws) -> list[Unreadable]:
    found = []
    for arm, by_unit in experiment.by_arm.items():
        answers = [answer for each in by_unit.values() for answer in each]
        control = ARMS[arm].control if arm in ARMS else None
        difference, p = math.nan, math.nan
        if control is not None and experiment.arm(control):
            both = outcomes(experiment, arm, control, lambda answer: float(not answer.readable))
            draws = redraws.draws(arm, "unreadable")
            difference, p, _ = stratified_difference(
                both.values, both.first, both.strata, redraws=redraws.permutations, seed=draws
            )
        elif len(experiment.by_arm) > 2:
            control = OTHERS
            difference, p = _against_others(experiment, arm)
            p = min(1.0, p * len(experiment.by_arm))
        found.append(Unreadable(arm, len(answers), sum(not a.readable for a in answers), control, difference, p))
    order = list(ARMS)
    return sorted(found, key=lambda each: order.index(each.arm) if each.arm in ARMS else len(order))


def _against_others(experiment: Experiment, arm: str) -> tuple[float, float]:
    """How many more answers of an arm than of all others cannot be read, and p, within units.

    Mantel and Haenszel's test (Journal of the National Cancer Institute 22, 1959), with their continuity correction.
    """
    unreadable: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for answer in experiment.answers:
        counts, own = unreadable[answer.unit], answer.arm == arm
        counts[0] += own and not answer.readable
        counts[1] += own
        counts[2] += not answer.readable
        counts[3] += 1
    a, n, m, total = np.array(list(unreadable.values()), dtype=float).T
    excess = float((a - n * m / total).sum())
    variance = float((n * (total - n) * m * (total - m) / (total**2 * np.maximum(total - 1, 1))).sum())
    difference = float(a.sum() / n.sum() - (m - a).sum() / (total - n).sum()) if 0 < n.sum() < total.sum() else math.nan
    if not variance:
        return difference, 1.0
    return difference, float(2 * ndtr(-max(0.0, abs(excess) - 0.5) / math.sqrt(variance)))


def capped(prompts: Sequence[tuple[int | None, int]]) -> int:
    """How many prompts have as many tokens as any, if prompts of clearly different lengths have.

    Args:
        prompts: of each its tokens, as the server counts them, and its characters.
    """
    largest = max((tokens or 0 for tokens, _ in prompts), default=0)
    lengths = [characters for tokens, characters in prompts if tokens == largest]
    return len(lengths) if largest >= SMALLEST_CONTEXT and max(lengths) > _LENGTHS * min(lengths) else 0


def _drift(experiment: Experiment, redraws: Redraws) -> float:
    """Energy test of early against late answers to one unit under one arm: calls are made in random order."""
    half = np.median([answer.order for answer in experiment.answers]) if experiment.answers else 0
    distances, early = [], []
    for by_unit in experiment.by_arm.values():
        for answers in by_unit.values():
            first = np.array([answer.order < half for answer in answers])
            if min(first.sum(), (~first).sum()) > 1:
                distances.append(pairwise_distances([answer.edit for answer in answers]))
                early.append(first)
    return energy_test(distances, early, redraws=redraws.permutations, seed=redraws.draws("drift")).p

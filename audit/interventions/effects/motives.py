"""What answers to the unchanged evidence name, and what may move edits in place of the worst rollout.

Of the worst rollout only that speaks which no other can do. Exchanging the labels of worst and best moves a critic that
goes by the best as well, so that being called worst counts only where both exchanges that involve it do more than the
third. Replaced rollouts are shown in random order and without labels, which the whole evidence has: their presence
counts only where neither labels nor places come near moving edits. Left out, a rollout takes its label with it, and its
place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from audit.interventions.arms import ARMS, BASE, PLACEBOS
from audit.interventions.effects.comparisons import over_runs
from audit.interventions.effects.contrasts import follows_worst
from audit.interventions.effects.exchanges import CALLED
from audit.interventions.effects.results import FOUND, NOT_BEYOND_PLACEBO, NOT_TESTED, Effect, Naming
from audit.interventions.experiment import Answered, Experiment
from audit.measures.cluster_robust import clustered_mean

UNCHANGED: Final = ("A0", BASE)
_MOTIVES: Final = frozenset({"label", *CALLED.values(), "presence", "position"})
_FRAMES: Final = frozenset(ARMS[arm].factor for arm in (BASE, *PLACEBOS))
"""Effects of how a prompt is worded."""


def naming(experiment: Experiment) -> Naming:
    """How often answers to the unchanged evidence (`A0`, `N0`) are justified by the worst rollout, and speak of it."""
    answers: dict[int, list[Answered]] = {}
    for arm in UNCHANGED:
        for unit, each in experiment.arm(arm).items():
            answers.setdefault(unit, []).extend(each)
    units = sorted(answers)
    shares = np.array([np.mean([follows_worst(answer) for answer in answers[unit]]) for unit in units])
    named = over_runs(experiment, units, shares)
    if math.isnan(named.low):  # one run: an interval over units
        named = clustered_mean(shares, units)
    every = [answer for unit in units for answer in answers[unit]]
    mentioned = float(np.mean(["worst" in answer.mentioned for answer in every])) if every else math.nan
    return Naming(named.estimate, named.low, named.high, mentioned)


def what_is_open(effects: Sequence[Effect], alpha: float) -> Iterator[str]:
    """What may move edits in place of the worst rollout, a sentence each.

    Args:
        effects: judged ones, the primary ones first; the first on edits of each name counts.
        alpha: level of the family.
    """
    tested = _tested(effects)
    found = {name for name, effect in tested.items() if effect.verdict == FOUND}
    called = [role for role, name in CALLED.items() if name in found]
    if "label" in found and not called:
        why = "was not found" if CALLED["worst"] in tested else "was not asked: the arms XWM and XMB would tell"
        yield f"edits follow which rollout is called worst, or which is called best: which of the two {why}"
    for role in called:
        yield f"edits follow which rollout is called {role}: both exchanges of that label move them more than the third"
    if "presence" in found and "position" in found:
        yield "prompts show the worst rollout first, and place moves edits: which of the two does is not known"
    elif "presence" in found and not _is_of_worst(tested, alpha):
        yield (
            "replaced rollouts are shown without labels and in random order, or the rollout that is shown first is "
            "left out: labels or places that edits may follow were not asked, or come near moving them, so that this "
            "may not be the worst rollout's doing"
        )
    if "presence" in tested and tested["presence"].high < 0:
        yield "taking the median rollout away moves edits more than taking the worst away"
    if (most := _words_first(effects)) is not None:
        yield f"how the prompt is worded moves edits more than anything that was tested: {_cause(most)}"


def _cause(effect: Effect) -> str:
    return f"{ARMS[effect.arm].changing}, by {effect.estimate:.2g}"


def _tested(effects: Sequence[Effect]) -> dict[str, Effect]:
    tested: dict[str, Effect] = {}
    for effect in effects:
        if effect.outcome == "edits" and effect.name in _MOTIVES and effect.verdict != NOT_TESTED:
            tested.setdefault(effect.name, effect)
    return tested


def _is_of_worst(tested: Mapping[str, Effect], alpha: float) -> bool:
    """Whether an effect of presence is one of the worst rollout: labels and places do not come near moving edits."""
    others = ("position",) if tested["presence"].arm == "DW" else ("position", "label")
    return all(name in tested and tested[name].p > alpha for name in others)


def _words_first(effects: Sequence[Effect]) -> Effect | None:
    """The effect of how the prompt is worded, where it is the largest of all on edits and answers do differ."""
    known = [effect for effect in effects if effect.outcome == "edits" and not math.isnan(effect.estimate)]
    most = max(known, key=lambda effect: effect.estimate, default=None)
    differs = most is not None and most.name in _FRAMES and most.verdict in {FOUND, NOT_BEYOND_PLACEBO}
    return most if differs else None

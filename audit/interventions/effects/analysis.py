"""All tests of an experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from audit.interventions.arms import ARMS, BASE
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import (
    Placebos,
    edit_effect,
    follows_worst,
    mean_effect,
    mentions_worst,
    placebos,
    says_worst,
)
from audit.interventions.effects.factors import (
    ALONE,
    CONJOINT,
    HOLDERS,
    direction_scores,
    factor_effect,
)
from audit.interventions.effects.faithfulness import faithfulness
from audit.interventions.effects.presence import dose, harm, weights
from audit.interventions.effects.results import FOUND, Analysis, Effect, explored, judged
from audit.interventions.effects.validity import validity
from audit.interventions.experiment import Experiment
from audit.interventions.presets import Hypothesis


def primary_effects(
    experiment: Experiment,
    family: Sequence[Hypothesis],
    redraws: Redraws,
    *,
    alpha: float = 0.05,
    against: Placebos | None = None,
    sensitivity: bool = True,
) -> list[Effect]:
    """Test a family of hypotheses, corrected by Holm's method.

    Args:
        experiment: its answers.
        family: the hypotheses.
        redraws: redraws and their seed.
        alpha: level of the family.
        against: what placebos do, if it is known already.
        sensitivity: test with bounded distances as well.

    Returns:
        One for each hypothesis, in order.
    """
    against = placebos(experiment) if against is None else against
    level = alpha / max(1, len(family))
    effects = []
    for each in family:
        if each.control is None:
            effect = factor_effect(experiment, each.factor, redraws, level=level)
        else:
            effect = edit_effect(
                experiment, each.arm, each.control, redraws, against=against, level=level, sensitivity=sensitivity
            )
        effects.append(effect._replace(name=each.factor, primary=True))
    return judged(effects, alpha)


def analyse(
    experiment: Experiment,
    family: Sequence[Hypothesis],
    *,
    permutations: int = 4_999,
    seed: int = 0,
    alpha: float = 0.05,
    planned_arms: Sequence[str] | None = None,
) -> Analysis:
    """Run every test that an experiment's arms allow.

    Args:
        experiment: its answers.
        family: the primary hypotheses.
        permutations: redraws of each test.
        seed: of the redraws.
        alpha: level of the family.
        planned_arms: those of the plan; None for all that there are. Effects of other arms are marked and not judged.
    """
    redraws = Redraws(permutations, seed)
    against = placebos(experiment)
    primary = primary_effects(experiment, family, redraws, alpha=alpha, against=against)
    planned = set(experiment.by_arm) if planned_arms is None else set(planned_arms)
    others = [_marked(each, planned) for each in _others(experiment, primary, redraws, against)]
    found = [*primary, *explored([each for each in others if each.planned], alpha)]
    harms = [_marked(each, planned) for each in harm(experiment, redraws)]
    moved = any(each.name == "presence" and each.verdict == FOUND for each in primary)
    if moved:
        found += judged([each for each in harms if each.planned], alpha)
    rest = [each for each in (*others, *harms) if not each.planned or (each in harms and not moved)]
    effects = [*found, *rest]
    return Analysis(
        validity=validity(experiment, redraws),
        effects=effects,
        weights=weights(experiment),
        faithfulness=faithfulness(experiment, effects, redraws, alpha),
        alpha=alpha,
        notes=list(_notes(experiment, primary, has_harms=bool(harms), moved=moved)),
        counts={arm: sum(map(len, by_unit.values())) for arm, by_unit in experiment.by_arm.items()},
    )


def _others(experiment: Experiment, primary: Sequence[Effect], redraws: Redraws, against: Placebos) -> Iterator[Effect]:
    """Effects that are not in the family, by arm."""
    asked = experiment.by_arm
    done = {(effect.arm, effect.control) for effect in primary}
    for arm in ARMS.values():
        if arm.control is None or arm.id.startswith("D0") or (arm.id, arm.control) in done:
            continue
        if arm.id in asked and arm.control in asked:
            yield edit_effect(experiment, arm.id, arm.control, redraws, against=against)
    for name, arm in ARMS.items():
        control = arm.control
        if arm.text and name in asked and control is not None and control in asked:
            yield mean_effect(experiment, "following the worst", "text", follows_worst, name, control, redraws)
            if arm.text == "names":
                yield mean_effect(experiment, "speaking of the worst", "text", mentions_worst, name, control, redraws)
                yield mean_effect(experiment, "the word worst", "text", says_worst, name, control, redraws)
    if CONJOINT in asked:
        tested = {effect.name for effect in primary if effect.arm == CONJOINT}
        yield from (factor_effect(experiment, factor, redraws) for factor in HOLDERS if factor not in tested)
        yield factor_effect(experiment, "label", redraws, hidden_only=True)
        if all(arm in asked for arm in ALONE):
            scores = direction_scores(experiment)
            for factor in HOLDERS:
                yield factor_effect(experiment, factor, redraws, outcome="direction", scores=scores)
    yield from (each for outcome in ("size", "gain") if (each := dose(experiment, outcome)) is not None)


def _marked(effect: Effect, planned: set[str]) -> Effect:
    needed = {effect.arm, effect.control or effect.arm}
    if ARMS[effect.arm].takes_away and effect.outcome == "edits":
        needed.add(BASE)
    if effect.outcome == "direction":
        needed.update(ALONE)
    return effect._replace(planned=needed <= planned)


def _notes(experiment: Experiment, primary: Sequence[Effect], *, has_harms: bool, moved: bool) -> Iterator[str]:
    found = {each.name for each in primary if each.verdict == FOUND}
    if {"position", "presence"} <= found:
        yield "prompts show the worst rollout first, and place moves edits: which of the two does is not known"
    for effect in primary:
        if math.isnan(effect.p):
            arms = effect.arm if effect.control is None else f"{effect.arm} and {effect.control}"
            yield f"{effect.name} could not be tested: too few answers of {arms}"
    runs = len(set(experiment.clusters))
    if runs < 2:
        yield "all units are of one run: tests hold for it alone, and there are no intervals"
    if has_harms and not moved:
        yield "effects on returns are exploratory, since the worst rollout was not found to move edits"

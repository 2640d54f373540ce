"""All tests of an experiment."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from audit.interventions.arms import ARMS, BASE, CONJOINT
from audit.interventions.effects.carriers import carriers, lone_runs
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import (
    Placebos,
    edit_effect,
    follows_worst,
    mean_effect,
    mentions_worst,
    placebos,
    population,
    says_worst,
)
from audit.interventions.effects.exchanges import ARMS_NEEDED, METHOD, called
from audit.interventions.effects.factors import HOLDERS, direction_scores, factor_effect
from audit.interventions.effects.judging import explored, judged
from audit.interventions.effects.motives import naming, what_is_open
from audit.interventions.effects.named_shares import CONTENTS, FOLLOWED, SHARES, SMALLEST
from audit.interventions.effects.naming import named_share
from audit.interventions.effects.presence import REPLACED, WHOLE, beyond_each, dose, harm, presence_tests
from audit.interventions.effects.results import (
    AWAY,
    CANNOT_TELL,
    FOUND,
    LEAST_SIGNAL,
    MOVES,
    NOT_ASKED,
    Analysis,
    Carriers,
    Ceiling,
    Effect,
    Share,
    opposed,
)
from audit.interventions.effects.shares import ALONE, Followed, UnitCalls, ceiling, estimated, followed, holder
from audit.interventions.effects.stimuli import stimuli
from audit.interventions.effects.unreadable import holding, unchanged, unreadable_line, with_consequence
from audit.interventions.effects.validity import validity
from audit.interventions.effects.verdicts import verdicts
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
    effects = []
    for each in family:
        if each.control is None:
            effect = factor_effect(experiment, each.factor, redraws)
        else:
            effect = edit_effect(experiment, each.arm, each.control, redraws, against=against, sensitivity=sensitivity)
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
    smallest: float | None = SMALLEST,
) -> Analysis:
    """Run every test that an experiment's arms allow.

    Args:
        experiment: its answers.
        family: the primary hypotheses.
        permutations: redraws of each test.
        seed: of the redraws.
        alpha: level of the family.
        planned_arms: those of the plan; None for all that there are. Effects of other arms are marked and not judged.
        smallest: smallest share of interest; None leaves shares out.
    """
    redraws = Redraws(permutations, seed)
    against = placebos(experiment)
    primary = primary_effects(experiment, family, redraws, alpha=alpha, against=against)
    planned = set(experiment.by_arm) if planned_arms is None else set(planned_arms)
    others = list(_others(experiment, primary, redraws, against))
    others = [_marked(each, planned) for each in (*called(experiment, [*primary, *others], redraws), *others)]
    found = [*primary, *explored([each for each in others if each.planned], alpha)]
    harms = [_marked(each, planned) for each in harm(experiment, redraws)]
    checked = validity(experiment, redraws, shares=smallest is not None)
    shares, found_ceiling, carried = (
        ([], None, {}) if smallest is None else _followed(experiment, redraws, against, alpha=alpha, smallest=smallest)
    )
    if line := unreadable_line(checked.unreadable):
        if smallest is not None and found_ceiling is None and experiment.by_arm.keys() >= {CONJOINT, *ALONE}:
            holds = False  # All were asked, and no prompt has answers that can be read under each.
        elif smallest is not None and shares:
            left_out, _, _ = _followed(experiment, redraws, against, alpha=alpha, smallest=smallest, unreadable=0.0)
            counted, _, _ = _followed(unchanged(experiment, CONJOINT), redraws, against, alpha=alpha, smallest=smallest)
            shares, holds = holding(shares, left_out, counted)
            open_now = {share.name for share in shares if share.verdict == CANNOT_TELL}
            carried = {name: each for name, each in carried.items() if each.one_run or name not in open_now}
        else:
            read = Experiment(experiment.units, [each for each in experiment.answers if each.readable])
            again = primary_effects(read, family, redraws, alpha=alpha, sensitivity=False)
            holds = [each.verdict == FOUND for each in primary] == [each.verdict == FOUND for each in again]
        line = with_consequence(line, holds=holds)
        remarks, problems = ([line], []) if holds else ([], [line])
        checked = replace(checked, remarks=[*checked.remarks, *remarks], problems=[*checked.problems, *problems])
    moved = any(each.name == "presence" and each.verdict == FOUND for each in primary) or any(
        each.name == CONTENTS[0] and each.verdict == MOVES for each in shares
    )
    if moved:
        found += judged([each for each in harms if each.planned], alpha)
    rest = [each for each in (*others, *harms) if not each.planned or (each in harms and not moved)]
    effects = [*found, *rest]
    if checked.problems:  # No verdict follows from an experiment that is not valid.
        shares = [share._replace(verdict=share.verdict and CANNOT_TELL, calls=None) for share in shares]
        carried = {}
    return Analysis(
        validity=checked,
        effects=[*(_as_effect(each, experiment) for each in shares), *effects],
        naming=naming(experiment),
        alpha=alpha,
        notes=[*what_is_open(effects, alpha), *_notes(experiment, primary, has_harms=bool(harms), moved=moved)],
        counts={arm: sum(map(len, by_unit.values())) for arm, by_unit in experiment.by_arm.items()},
        shares=shares,
        ceiling=found_ceiling,
        carriers=carried,
    )


def _with_naming(share: Share, experiment: Experiment) -> Share:
    if share.name not in FOLLOWED:
        return share
    named = named_share(experiment, lambda answer: holder(answer, share.name))
    return share._replace(named=named.estimate, named_low=named.low, named_high=named.high)


def _as_effect(share: Share, experiment: Experiment) -> Effect:
    """A share as a row of the table of effects."""
    in_conjoint = bool(experiment.arm(CONJOINT))
    units = experiment.arm(CONJOINT if in_conjoint else WHOLE)
    return Effect(
        name=share.name,
        outcome="share",
        arm=CONJOINT if in_conjoint else WHOLE,
        control=None,
        method="mixture of references",
        estimate=share.estimate,
        low=share.low,
        high=share.high,
        p=share.p,
        p_adjusted=share.p_adjusted,
        beyond_placebo_p=share.beyond_placebo_p,
        primary=share.verdict not in {None, NOT_ASKED},
        units=len(units),
        runs=len({experiment.clusters[unit] for unit in units}),
        answers=sum(map(len, units.values())),
        verdict=share.verdict or "described",
    )


def _followed(
    experiment: Experiment,
    redraws: Redraws,
    against: Placebos,
    *,
    alpha: float,
    smallest: float,
    unreadable: float | None = None,
) -> tuple[list[Share], Ceiling | None, dict[str, Carriers]]:
    """The shares, how well edits can be told apart, and who carries what moves the critic.

    Intervals have room for a share of unreadable answers in `C`; without one for all that there are.
    """
    found = followed(experiment, redraws)
    presence = presence_tests(experiment, redraws)
    if found is None:
        presence = beyond_each(presence, redraws)
        if not presence:
            return [], None, {}
    ends, tested, blind = None, [], False
    if found is not None:
        by_task = _by_task(experiment, found.units)
        ends = ceiling(found.units)
        if len(by_task) > 1:
            ends = replace(ends, by_task={task: ceiling(units).signal for task, units in by_task.items()})
        blind = ends.signal < LEAST_SIGNAL
        tested = stimuli(experiment, found.units, found.clusters, redraws, untraced=blind)
    answers = [answer for of_unit in experiment.arm(CONJOINT).values() for answer in of_unit]
    if unreadable is None:
        unreadable = float(np.mean([not answer.readable for answer in answers])) if answers else 0.0
    shares = verdicts(
        found,
        presence,
        tested,
        signal=math.nan if ends is None else ends.signal,
        unreadable=unreadable,
        calls=len(experiment.answers),
        alpha=alpha,
        smallest=smallest,
        placebos=population(against),
    )
    shares = [_with_naming(share, experiment) for share in shares]
    carried: dict[str, Carriers] = {}
    if found is not None:
        names: dict[int, str] = {}
        for unit, cluster in zip(found.units, found.clusters.tolist(), strict=True):
            names.setdefault(cluster, "/".join(map(str, experiment.clusters[unit.unit])))
        runs = [names[each] for each in sorted(names)]
        unknown = opposed(shares)
        asked = [share for share in shares if share.name in FOLLOWED and share.name not in unknown and not blind]
        carried = {
            share.name: _with_tasks(carriers(found, share.name, runs, redraws), share.name, experiment, found, ends)
            for share in asked
            if share.verdict == MOVES
        } | lone_runs(found, [share.name for share in asked if share.verdict not in {MOVES, AWAY, NOT_ASKED}], runs)
    return shares, ends, carried


def _by_task(experiment: Experiment, units: Sequence[UnitCalls]) -> dict[str, list[UnitCalls]]:
    found: dict[str, list[UnitCalls]] = {}
    for unit in units:
        found.setdefault(experiment.units[unit.unit].env, []).append(unit)
    return dict(sorted(found.items()))


def _with_tasks(found: Carriers, share: str, experiment: Experiment, whole: Followed, ends: Ceiling | None) -> Carriers:
    """Where prompts do not follow alike, the share by task."""
    if not found.is_uneven or ends is None or not ends.by_task:
        return found
    by_task = {
        task: float(estimated(units, np.zeros(len(units), dtype=np.intp)).values[SHARES.index(share)])
        for task, units in _by_task(experiment, whole.units).items()
        if task not in ends.blind
    }
    return found._replace(by_task=by_task)


def _others(experiment: Experiment, primary: Sequence[Effect], redraws: Redraws, against: Placebos) -> Iterator[Effect]:
    """Effects that are not in the family, by arm."""
    asked = experiment.by_arm
    done = {(effect.arm, effect.control) for effect in primary}
    for arm in ARMS.values():
        if arm.control is None or arm.id.startswith("D0") or (arm.id, arm.control) in done:
            continue
        # Against the whole evidence, lettered as they are, replacements are tested together: as shares.
        if asked.keys() >= {WHOLE, *REPLACED.values()} and arm.id in REPLACED.values():
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
    if effect.method == METHOD:
        needed.update(ARMS_NEEDED)
    if effect.outcome == "direction":
        needed.update(ALONE)
    return effect._replace(planned=needed <= planned)


def _notes(experiment: Experiment, primary: Sequence[Effect], *, has_harms: bool, moved: bool) -> Iterator[str]:
    for effect in primary:
        if math.isnan(effect.p):
            arms = effect.arm if effect.control is None else f"{effect.arm} and {effect.control}"
            yield f"{effect.name} could not be tested: too few answers of {arms}"
    runs = len(set(experiment.clusters))
    if runs < 2:
        yield "all units are of one run: tests hold for it alone, and there are no intervals"
    if has_harms and not moved:
        yield "effects on returns are exploratory, since the worst rollout was not found to move edits"

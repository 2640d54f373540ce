"""Arms against controls, on critics whose motives are known and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit.interventions.effects.analysis import primary_effects
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import edit_effect, follows_worst, mean_effect, placebos
from audit.interventions.experiment import Experiment
from audit.measures.energy import energy_test, pairwise_distances
from tests.audit.interventions.effects.planted import (
    FAMILY,
    LABEL,
    SMALL,
    by_label,
    by_number,
    by_typical,
    first,
    nothing,
    planted,
)

QUICK = Redraws(permutations=499)


def verdicts(experiment):
    return [effect.verdict for effect in primary_effects(experiment, FAMILY, QUICK)]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (by_label, ["found", "not found", "not found"]),
        (first, ["not found", "found", "not found"]),
        (by_number, ["not found", "not found", "found"]),
        (by_typical, ["not found", "not found", "not found"]),
        (nothing, ["not found", "not found", "not found"]),
    ],
)
def test_the_right_factor_is_found_and_no_other(rule, expected):
    assert verdicts(planted(rule, seed=5)) == expected
    if rule is by_label:  # an effect no larger than that of wording is not believed
        assert verdicts(planted(rule, wording=10.0))[0] == "not beyond placebo"


PLACEBOS = ("P1", "P3", "P4", "P5", "P6")
FAR = np.array([9.0, 0.0, 0.0, 0.0])
"""What moves every edit, whatever rollout it is made for, nearly as far as an edit can be moved."""


def with_placebos(moved, *, asked=PLACEBOS, seed=2):
    """A critic that goes by the label, and by the frame of some placebos."""
    experiment = planted(by_label, arms=SMALL | dict.fromkeys(asked, 6), seed=seed)
    answers = [replace(each, edit=each.edit + FAR) if each.arm in moved else each for each in experiment.answers]
    return Experiment(experiment.units, answers)


def test_with_four_placebos_an_effect_has_to_be_above_what_one_more_of_them_would_do():
    # By P1 alone all three would be found.
    for moved, wanted in (((), "found"), (("P5",), "not beyond placebo"), (("P5", "P6"), "not beyond placebo")):
        experiment = with_placebos(moved)
        [effect] = primary_effects(experiment, [LABEL], QUICK)
        assert effect.verdict == wanted
        others = [edit_effect(experiment, arm, "N0", QUICK, against=placebos(experiment)).estimate for arm in PLACEBOS]
        limit = np.mean(others) + 2.1318 * np.sqrt(1 + 1 / 5) * np.std(others, ddof=1)
        assert (effect.estimate > limit) == (wanted == "found")
        assert effect.p < 0.01


def test_with_three_placebos_the_first_one_decides():
    [effect] = primary_effects(with_placebos(("P5",), asked=("P1", "P3", "P5")), [LABEL], QUICK)
    assert effect.verdict == "found"
    [effect] = primary_effects(with_placebos(("P1",), asked=("P1", "P3", "P5")), [LABEL], QUICK)
    assert effect.verdict == "not beyond placebo"


def test_a_placebo_is_held_against_the_others():
    experiment = with_placebos(("P5",))
    known = placebos(experiment)
    far, near = (edit_effect(experiment, arm, "N0", QUICK, against=known) for arm in ("P5", "P3"))
    assert far.beyond_placebo_p < 0.01
    assert near.beyond_placebo_p > 0.3


@pytest.mark.slow
def test_families_of_a_critic_without_motive_reject_seldom():
    rejected = 0
    for seed in range(60):
        experiment = planted(nothing, units=12, runs=2, seed=seed)
        effects = primary_effects(experiment, FAMILY, Redraws(199, seed), sensitivity=False)
        rejected += any(effect.p_adjusted <= 0.05 for effect in effects)
    assert rejected <= 3 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_the_estimate_is_the_mean_energy_distance_of_units():
    experiment = planted(by_label, units=6, runs=3, seed=2)
    effect = edit_effect(experiment, "XL", "N0h", QUICK, against=placebos(experiment))
    values = []
    for unit in range(6):
        own, other = experiment.arm("XL")[unit], experiment.arm("N0h")[unit]
        distances = pairwise_distances([answer.edit / np.linalg.norm(answer.edit) for answer in own + other])
        values.append(energy_test([distances], [[True] * 6 + [False] * 6], redraws=1).statistic)
    assert effect.estimate == pytest.approx(np.mean(values))
    assert effect.low < effect.estimate < effect.high
    assert (effect.units, effect.runs, effect.answers) == (6, 3, 72)
    assert effect.bounded_p < 0.05


def test_one_run_has_no_interval_and_one_answer_no_distance():
    experiment = planted(by_label, units=5, runs=1)
    effect = edit_effect(experiment, "XL", "N0h", QUICK, against=placebos(experiment))
    assert np.isnan([effect.low, effect.high]).all()
    assert effect.p < 0.05
    single = Experiment(experiment.units, [a for a in experiment.answers if a.replicate == 0])
    [untested] = primary_effects(single, [LABEL], QUICK)
    assert (untested.verdict, untested.units) == ("not tested", 0)
    assert np.isnan(untested.p_adjusted)


def test_a_mean_difference_is_within_units():
    experiment = planted(by_label, units=4, runs=2, seed=3)
    effect = mean_effect(experiment, "following the worst", "text", follows_worst, "XL", "N0h", QUICK)
    shares = {
        arm: [np.mean([a.driver == "worst" for a in experiment.arm(arm)[unit]]) for unit in range(4)]
        for arm in ("XL", "N0h")
    }
    assert effect.estimate == pytest.approx(np.mean(np.subtract(shares["XL"], shares["N0h"])))
    assert effect.estimate < -0.5
    assert effect.p < 0.05


def test_units_with_an_unknown_outcome_or_of_another_task_are_left_out():
    experiment = planted(nothing, units=4, runs=2)
    answers = [replace(a, gain=np.nan) if a.unit == 1 and a.arm == "XL" else a for a in experiment.answers]
    effect = mean_effect(
        Experiment(experiment.units, answers), "g", "gain", lambda a: a.gain, "XL", "N0h", QUICK, env="cartpole"
    )
    assert (effect.units, effect.answers, effect.env) == (1, 12, "cartpole")

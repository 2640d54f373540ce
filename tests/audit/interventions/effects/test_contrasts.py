"""Arms against controls, on critics whose motives are known and by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit.interventions.effects.analysis import primary_effects
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import edit_effect, follows_worst, mean_effect, placebos
from audit.interventions.experiment import Experiment
from audit.measures.energy import energy_distance, pairwise_distances
from tests.audit.interventions.effects.planted import (
    FAMILY,
    LABEL,
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


def test_an_effect_no_larger_than_that_of_wording_is_not_believed():
    assert verdicts(planted(by_label, wording=10.0))[0] == "not beyond placebo"


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
        values.append(energy_distance(distances, [True] * 6 + [False] * 6))
    assert effect.estimate == pytest.approx(np.mean(values))
    assert effect.low < effect.estimate < effect.high
    assert (effect.units, effect.runs, effect.answers) == (6, 3, 72)
    assert effect.detectable < effect.estimate
    assert effect.bounded_p < 0.05


@pytest.mark.slow
def test_what_can_be_found_is_found_four_times_of_five():
    effects = [
        edit_effect(experiment, "XL", "N0h", Redraws(199, seed), against=placebos(experiment), sensitivity=False)
        for seed in range(100)
        for experiment in [planted(by_label, units=12, strength=0.42, noise=1.0, seed=seed)]
    ]
    # The mean effect of such critics is about what the test can find.
    typical = np.mean([effect.estimate for effect in effects])
    assert typical == pytest.approx(np.mean([effect.detectable for effect in effects]), rel=0.35)
    assert np.mean([effect.p <= 0.05 for effect in effects]) == pytest.approx(0.8, abs=0.17)


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

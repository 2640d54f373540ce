"""Weights of rollouts, dose and harm, on critics whose motives are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import edit_effect, placebos
from audit.interventions.effects.presence import dose, harm, weights
from audit.interventions.experiment import Experiment
from tests.audit.interventions.effects.planted import SMALL, STANDARD, by_number, by_typical, nothing, planted

QUICK = Redraws(permutations=499)
DOSE = {"D0": 4, "D0.1": 4, "D0.25": 4, "D0.5": 4}


@pytest.mark.parametrize(("rule", "arm", "expected"), [(by_number, "RW", True), (by_typical, "RW", False)])
def test_presence_is_of_the_rollout_that_is_followed(rule, arm, expected):
    experiment = planted(rule, arms=STANDARD, seed=7)
    effect = edit_effect(experiment, arm, "RM", QUICK, against=placebos(experiment))
    assert (effect.p <= 0.05) == expected
    assert (effect.method, effect.name) == ("presence", "presence")


def test_weights_are_the_shares_of_rollouts_in_the_answers():
    found = weights(planted(by_number, arms=STANDARD, strength=0.7, seed=8))
    assert [each.content for each in found] == ["worst", "median", "best"]
    assert [each.weight for each in found] == pytest.approx([0.8, 0.1, 0.1], abs=0.1)
    assert sum(each.weight for each in found) == pytest.approx(1)
    assert all(each.low <= each.weight <= each.high for each in found)


def test_weights_need_their_arms_and_intervals_need_runs():
    assert weights(planted(by_number, arms=SMALL)) == []
    assert np.isnan([each.low for each in weights(planted(by_number, arms=STANDARD, units=6, runs=1))]).all()


def test_a_dose_is_a_slope_within_units():
    experiment = planted(by_number, arms=DOSE, strength=1.0, seed=9)
    effect = dose(experiment)
    sizes = {
        arm: np.mean([np.abs(a.edit).sum() for answers in experiment.arm(arm).values() for a in answers])
        for arm in DOSE
    }
    slope = np.polyfit([1.0, 0.8, 0.5, 0.0], list(sizes.values()), 1)[0]
    assert effect.estimate == pytest.approx(slope)
    assert effect.p < 0.01
    assert (effect.units, effect.answers) == (40, 640)
    assert dose(planted(nothing, arms=SMALL)) is None
    assert dose(Experiment(experiment.units, [replace(a, gain=np.nan) for a in experiment.answers]), "gain") is None


@pytest.mark.slow
def test_harm_is_covered_by_its_interval_as_often_as_it_states():
    inside = total = 0
    for seed in range(60):
        effects = harm(planted(by_number, arms=STANDARD, harm=0.8, runs=8, seed=seed), Redraws(1, seed))
        for effect in effects:
            if (effect.arm, effect.outcome) == ("N0", "gain"):
                # N0 takes the worst in 90% of answers; RW never does.
                inside += effect.low <= -0.8 * 0.9 <= effect.high
                total += 1
    assert total == 120
    assert inside / total == pytest.approx(0.95, abs=0.06)


def test_harm_is_stated_by_task_and_only_where_policies_were_run():
    experiment = planted(by_number, arms=STANDARD, harm=0.8, units=8, runs=4)
    effects = harm(experiment, QUICK)
    assert [(e.arm, e.outcome, e.env) for e in effects[:4]] == [
        ("N0", "size", None),
        ("N0", "harmful", None),
        ("N0", "gain", "cartpole"),
        ("N0", "gain", "pong"),
    ]
    without = harm(Experiment(experiment.units, [replace(a, gain=np.nan) for a in experiment.answers]), QUICK)
    assert {e.outcome for e in without} == {"size"}
    assert harm(planted(by_number, arms=SMALL), QUICK) == []

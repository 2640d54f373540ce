"""Attributes drawn at random: effects by hand, and the direction of edits."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.factors import direction_scores, factor_effect
from audit.interventions.experiment import Experiment
from tests.audit.interventions.effects.planted import STANDARD, by_label, by_number, first, nothing, planted

QUICK = Redraws(permutations=499)


def test_an_effect_is_three_halves_of_the_share_above_one_third():
    experiment = planted(by_label, seed=4)
    calls = [answer for answers in experiment.arm("C").values() for answer in answers]
    share = np.mean([next(p.content for p in a.shown if p.label == "worst") == a.driver for a in calls])
    effect = factor_effect(experiment, "label", QUICK)
    assert effect.estimate == pytest.approx(1.5 * (share - 1 / 3))
    assert effect.low < 0.85 < effect.high
    assert (effect.answers, effect.units, effect.runs) == (160, 40, 8)


def test_numbers_count_only_where_they_were_exchanged():
    experiment = planted(by_number, seed=4)
    effect = factor_effect(experiment, "number", QUICK)
    assert effect.units == 20
    assert effect.estimate == pytest.approx(0.85, abs=0.15)
    readable = [msgspec.structs.replace(unit, number_readable=True) for unit in experiment.units]
    nothing_to_test = factor_effect(Experiment(readable, experiment.answers), "number", QUICK)
    assert nothing_to_test.answers == 0
    assert np.isnan(nothing_to_test.p)


def test_labels_without_contradiction_are_those_of_calls_without_numbers():
    experiment = planted(by_label, seed=4)
    hidden = [a for a in experiment.answers if a.arm == "C" and all(p.number is None for p in a.shown)]
    effect = factor_effect(experiment, "label", QUICK, hidden_only=True)
    assert 0 < effect.answers == len(hidden) < 80
    assert effect.outcome == "text, numbers hidden"


def test_an_answer_without_a_driver_follows_none_and_counts():
    experiment = planted(first, seed=4)
    answers = [replace(a, driver=None) if a.arm == "C" and a.replicate else a for a in experiment.answers]
    every, quarter = (factor_effect(e, "position", QUICK) for e in (experiment, Experiment(experiment.units, answers)))
    assert quarter.answers == every.answers
    assert quarter.estimate == pytest.approx(every.estimate / 4, abs=0.1)


def test_directions_of_edits_tell_what_a_silent_critic_follows():
    experiment = planted(by_label, text=nothing, arms=STANDARD, seed=6)
    scores = direction_scores(experiment)
    effects = {
        factor: factor_effect(experiment, factor, QUICK, outcome="direction", scores=scores)
        for factor in ("label", "number", "position", "last position")
    }
    assert effects["label"].p < 0.01
    assert effects["label"].estimate > 0
    assert min(effects[name].p for name in ("number", "position", "last position")) > 0.01
    assert factor_effect(experiment, "label", QUICK).estimate == 0
    alone = planted(by_label, seed=6)  # without answers to single rollouts
    assert factor_effect(alone, "label", QUICK, outcome="direction", scores=direction_scores(alone)).answers == 0


def test_a_score_is_closeness_to_the_mean_of_a_rollouts_own_edits():
    experiment = planted(by_label, arms=STANDARD, units=2, seed=6)
    unit_of = {arm: [a.edit / np.abs(a.edit).sum() for a in experiment.arm(arm)[0]] for arm in ("S_w", "S_m", "S_b")}
    means = {
        role: np.mean(unit_of[arm], axis=0) for role, arm in zip(("worst", "median", "best"), unit_of, strict=True)
    }
    answer = experiment.arm("C")[0][0]
    x = answer.edit / np.abs(answer.edit).sum()
    distances = np.array([np.sum((x - means[place.content]) ** 2) for place in answer.shown])
    assert direction_scores(experiment)(answer) == pytest.approx(distances.mean() - distances)
    assert direction_scores(experiment)(replace(answer, edit=np.zeros(4))) is not None

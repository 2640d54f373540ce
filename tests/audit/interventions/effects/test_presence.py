"""Weights of rollouts, dose and harm, on critics whose motives are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import edit_effect, placebos
from audit.interventions.effects.presence import dose, harm, presence_tests
from audit.interventions.experiment import Experiment
from tests.audit.interventions.effects.planted import SMALL, STANDARD, by_number, by_typical, nothing, planted
from tests.audit.interventions.effects.test_shares import planted as arranged

QUICK = Redraws(permutations=499)
DOSE = {"D0": 4, "D0.1": 4, "D0.25": 4, "D0.5": 4}


@pytest.mark.parametrize(("rule", "arm", "expected"), [(by_number, "RW", True), (by_typical, "RW", False)])
def test_presence_is_of_the_rollout_that_is_followed(rule, arm, expected):
    experiment = planted(rule, arms=STANDARD, seed=7)
    effect = edit_effect(experiment, arm, "RM", QUICK, against=placebos(experiment))
    assert (effect.p <= 0.05) == expected
    assert (effect.method, effect.name) == ("presence", "presence")


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


ARRANGED = dict.fromkeys(("R0", "RW", "RM", "RB"), 10)


def unread(experiment, arm, share, seed=0):
    """The same with some answers of an arm unreadable, which change nothing."""
    rng = np.random.default_rng(seed)
    answers = [
        replace(each, readable=False, edit=np.zeros_like(each.edit))
        if each.arm == arm and rng.random() < share
        else each
        for each in experiment.answers
    ]
    return Experiment(experiment.units, answers)


@pytest.mark.parametrize("arm", ["RW", "R0"])
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_unreadable_answers_are_no_effect_of_a_rollouts_presence(arm, share):
    for seed in range(3):
        experiment = arranged(arms=ARRANGED, units=40, signal=0.5, rest="none", seed=seed)
        tests = presence_tests(unread(experiment, arm, share), QUICK)
        assert min(p for p, _ in tests.values()) > 0.05 / 3


def test_a_rollout_that_is_followed_is_found_though_some_answers_are_unreadable():
    experiment = arranged("worst content", 1.0, arms=ARRANGED, units=24, signal=1.0)
    whole = presence_tests(experiment, QUICK)
    for arm in ("R0", "RW"):
        some, most = (presence_tests(unread(experiment, arm, share), QUICK) for share in (0.05, 0.7))
        assert whole["worst content"][0] <= some["worst content"][0] <= 0.05 / 3
        # Those that are not known may have been like those to the whole evidence, and the other way round.
        assert most["worst content"][0] > 0.05
    assert presence_tests(unread(experiment, "RB", 1.0), QUICK) == {}


def test_unreadable_answers_are_left_out_of_the_statistic():
    experiment = arranged("worst content", 1.0, arms=ARRANGED, units=6, runs=3)
    some = unread(experiment, "RW", 0.3)
    kept = Experiment(some.units, [each for each in some.answers if each.readable])
    for name, (_, values) in presence_tests(kept, QUICK).items():
        assert presence_tests(some, QUICK)[name][1] == pytest.approx(values)


def test_without_shares_a_content_has_to_be_above_what_one_more_placebo_would_do():
    placebos = dict.fromkeys(("N0", "P1", "P3", "P4", "P5", "P6"), 10)
    experiment = arranged("worst content", 1.0, arms=ARRANGED | placebos, units=24, signal=1.0)

    def verdict(moved):
        answers = [replace(a, edit=a.edit + 9.0) if a.arm in moved else a for a in experiment.answers]
        found = analyse(Experiment(experiment.units, answers), (), permutations=499)
        [row] = [share for share in found.shares if share.name == "worst content"]
        return row.verdict, row.beyond_placebo_p

    assert verdict(())[0] == "moves it"
    held, p = verdict(("P4",))
    assert (held, p > 0.05) == ("cannot be told", True)


def test_who_says_what_it_follows_is_known_from_the_whole_evidence_without_labels():
    silent = planted(by_number, text=nothing, arms=ARRANGED, runs=12, strength=1.0)
    found = {share.name: share for share in analyse(silent, (), permutations=499).shares}
    assert (found["worst content"].verdict, found["worst content"].named) == ("moves it", 0.0)
    assert found["worst content"].named_high < 1 / 3
    open_about_it = planted(by_number, arms=ARRANGED, strength=1.0)
    found = {share.name: share for share in analyse(open_about_it, (), permutations=499).shares}
    assert found["worst content"].named > 0.9

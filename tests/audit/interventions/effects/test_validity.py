"""Checks of an experiment, each with what it is there to notice."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.validity import _against_others, validity
from audit.interventions.experiment import Experiment
from tests.audit.interventions.effects import test_shares as shares
from tests.audit.interventions.effects.planted import by_number, first, nothing, planted

QUICK = Redraws(permutations=499)


def changed(experiment, change):
    return Experiment(experiment.units, [change(answer) for answer in experiment.answers])


def test_a_sound_experiment_has_no_problems():
    found = validity(planted(by_number, seed=1), QUICK)
    assert list(found.problems) == []
    assert found.repeated == 0
    assert 0.2 < found.spread < 0.9
    assert found.same_driver == pytest.approx(0.9**2 + 2 * 0.05**2, abs=0.15)


def test_answers_that_do_not_depend_on_their_prompt_spread_as_much_within_units():
    found = validity(planted(nothing, units=60, seed=2), QUICK)
    assert found.spread == pytest.approx(1, abs=0.1)


def test_repeated_answers_are_a_cache():
    experiment = planted(by_number)
    found = validity(changed(experiment, lambda a: replace(a, completion=f"{a.unit} {a.unit < 20 or a.order}")), QUICK)
    assert found.repeated == pytest.approx(0.25)  # the second of two, in half of the units
    assert "25% of answers to the same prompt repeat another one" in found.problems[0]


@pytest.mark.parametrize(("change", "unchanged"), [({"changed": 0}, 1.0), ({"readable": False}, np.nan)])
def test_refusals_and_answers_that_change_nothing_are_no_cache(change, unchanged):
    found = validity(changed(planted(by_number), lambda a: replace(a, completion="no", **change)), QUICK)
    assert not any("repeat" in problem for problem in found.problems)
    assert found.unchanged == pytest.approx(unchanged, nan_ok=True)


def test_arms_that_are_read_less_often_are_reported():
    found = validity(planted(first, unreadable=0.4, seed=3), QUICK)
    by_arm = {each.arm: each for each in found.unreadable}
    assert by_arm["XP"].unreadable / by_arm["XP"].answers == pytest.approx(by_arm["XP"].difference)
    assert by_arm["XP"].p < 0.01 < by_arm["XL"].p
    assert by_arm["A0"].control == "other arms"
    assert any(
        problem.startswith("XP leaves ") and "more answers unreadable than N0" in problem for problem in found.problems
    )


def test_many_unreadable_answers_are_a_problem():
    experiment = planted(by_number)
    for every, share in ((4, "25%"), (10, None)):
        found = validity(changed(experiment, lambda a, every=every: replace(a, readable=a.order % every != 0)), QUICK)
        reported = [problem for problem in found.problems if "of all answers are unreadable" in problem]
        assert [problem.split()[0] for problem in reported] == ([share] if share else [])


def test_prompts_of_all_lengths_with_the_same_tokens_were_cut():
    experiment = planted(by_number)
    found = validity(changed(experiment, lambda a: replace(a, prompt_tokens=min(a.prompt_tokens, 1500))), QUICK)
    assert found.capped == sum(answer.order >= 500 for answer in experiment.answers)
    assert "cut" in found.problems[0]
    assert validity(changed(experiment, lambda a: replace(a, prompt_tokens=None)), QUICK).capped == 0


def test_a_model_that_changes_meanwhile_is_noticed():
    experiment = planted(by_number, seed=4)
    late = len(experiment.answers) * 0.6
    found = validity(changed(experiment, lambda a: replace(a, edit=a.edit + 1.5 * (a.order > late))), QUICK)
    assert found.drift_p < 0.01
    assert any("the model changed meanwhile" in problem for problem in found.problems)


def test_what_is_followed_may_not_change_during_the_calls():
    halves = [shares.planted(share, 1.0, units=30, signal=1.0, seed=6) for share in ("called worst", "shown first")]
    pairs = zip(*(half.answers for half in halves), strict=True)
    switched = [one if one.order < 5 * 10**8 else replace(other, order=one.order) for one, other in pairs]
    found = validity(Experiment(halves[0].units, switched), QUICK)
    assert found.followed_p < 0.01
    [problem] = [each for each in found.problems if each.startswith("what it follows changed during the calls: ")]
    assert re.search(r"called worst \d+% in the first half, -?\d% in the second; shown first ", problem) or re.search(
        r"shown first -?\d% in the first half, \d+% in the second; called worst ", problem
    )
    kept = validity(halves[0], QUICK)
    assert kept.followed_p > 0.01
    assert not any("what it follows" in each for each in kept.problems)
    assert np.isnan(validity(Experiment(halves[0].units, switched), QUICK, shares=False).followed_p)


def test_an_experiment_without_answers_has_nothing_to_check():
    found = validity(Experiment([], []), QUICK)
    assert np.isnan([found.spread, found.same_driver, found.repeated, found.drift_p]).all()
    assert list(found.problems) == []


@pytest.mark.parametrize(("arm", "share"), [("C", 0.05), ("R0", 0.1), ("E0", 0.3), ("S_w", 1.0)])
def test_an_arm_that_is_refused_more_often_than_the_others_ends_every_verdict(arm, share):
    rng = np.random.default_rng(1)
    whole = shares.planted("called worst", 0.8, units=60, signal=1.0)
    assert analyse(whole, [], permutations=499).movers
    refused = [
        replace(each, readable=False, edit=np.zeros(6)) if each.arm == arm and rng.random() < share else each
        for each in whole.answers
    ]
    found = analyse(Experiment(whole.units, refused), [], permutations=499)
    assert any(f"{arm} leaves" in problem for problem in found.validity.problems)
    assert not found.movers


def test_unreadable_answers_of_an_arm_and_of_all_others_are_compared_within_units():
    """As statsmodels' stratified table has it, with the continuity correction."""
    experiment = shares.planted(units=30, unreadable=0.1, arms={"C": 6, "S_w": 3, "S_m": 3}, seed=4)
    tables = []
    for unit in range(30):
        own, others = [
            [answer.readable for answer in experiment.answers if answer.unit == unit and (answer.arm == "C") == is_own]
            for is_own in (True, False)
        ]
        tables.append([[own.count(False), own.count(True)], [others.count(False), others.count(True)]])
    wanted = StratifiedTable(np.array(tables, dtype=float).transpose(1, 2, 0)).test_null_odds(correction=True)
    assert _against_others(experiment, "C")[1] == pytest.approx(wanted.pvalue)

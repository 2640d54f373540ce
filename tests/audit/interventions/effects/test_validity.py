"""Checks of an experiment, each with what it is there to notice."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import StratifiedTable

from audit.interventions.effects import validity as of_validity
from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.unreadable import unreadable_line
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
    line = unreadable_line(found.unreadable)
    assert f"answers are unreadable, more under XP ({by_arm['XP'].unreadable} of 240) than under other arms" in line


def test_prompts_of_all_lengths_with_the_same_tokens_were_cut():
    experiment = planted(by_number)
    found = validity(changed(experiment, lambda a: replace(a, prompt_tokens=min(a.prompt_tokens, 1500))), QUICK)
    assert found.capped == sum(answer.order >= 500 for answer in experiment.answers)
    assert "cut" in found.problems[0]
    assert validity(changed(experiment, lambda a: replace(a, prompt_tokens=None)), QUICK).capped == 0


@pytest.mark.parametrize(("p", "ends"), [(0.0002, True), (0.0005, False), (0.01, False), (0.02, None)])
def test_that_the_model_may_have_changed_is_a_remark_unless_it_is_nearly_certain(monkeypatch, p, ends):
    monkeypatch.setattr(of_validity, "_drift", lambda *_: p)
    found = analyse(shares.planted("called worst", 0.8, units=30, signal=1.0), [], permutations=499)
    lines = [list(found.validity.remarks), list(found.validity.problems)]
    is_in = [any("the model may have changed" in line for line in each) for each in lines]
    assert is_in == [ends is False, ends is True]
    assert bool(found.movers) == (not ends)


def test_a_model_that_changes_meanwhile_is_noticed():
    experiment = planted(by_number, seed=4)
    late = len(experiment.answers) * 0.6
    found = validity(changed(experiment, lambda a: replace(a, edit=a.edit + 1.5 * (a.order > late))), Redraws())
    assert found.drift_p < 0.0005
    assert any("the model may have changed meanwhile" in problem for problem in found.problems)


def test_what_is_followed_may_not_change_during_the_calls():
    halves = [shares.planted(share, 1.0, units=30, signal=1.0, seed=6) for share in ("called worst", "shown first")]
    pairs = zip(*(half.answers for half in halves), strict=True)
    switched = [one if one.order < 5 * 10**8 else replace(other, order=one.order) for one, other in pairs]
    found = validity(Experiment(halves[0].units, switched), QUICK)
    assert found.followed_p < 0.01
    reported = [*found.problems, *found.remarks]
    [problem] = [each for each in reported if each.startswith("what it follows may have changed during the calls: ")]
    assert re.search(r"called worst \d+% in the first half, -?\d% in the second; shown first ", problem) or re.search(
        r"shown first -?\d% in the first half, \d+% in the second; called worst ", problem
    )
    kept = validity(halves[0], QUICK)
    assert kept.followed_p > 0.01
    assert not any("what it follows" in each for each in (*kept.problems, *kept.remarks))
    assert np.isnan(validity(Experiment(halves[0].units, switched), QUICK, shares=False).followed_p)


def test_an_experiment_without_answers_has_nothing_to_check():
    found = validity(Experiment([], []), QUICK)
    assert np.isnan([found.spread, found.same_driver, found.repeated, found.drift_p]).all()
    assert list(found.problems) == []


ANY = frozenset(shares.ASKED)


def unread(experiment, arms, share, which=lambda answer: True):
    """An experiment in which a share of the answers under some arms cannot be read."""
    rng = np.random.default_rng(1)
    lost = [each.arm in arms and which(each) and rng.random() < share for each in experiment.answers]
    pairs = zip(experiment.answers, lost, strict=True)
    return Experiment(
        experiment.units,
        [replace(each, readable=False, edit=np.zeros(6)) if is_lost else each for each, is_lost in pairs],
    )


@pytest.mark.parametrize(
    ("arms", "share", "stands"),
    [
        ({"C"}, 0.07, True),
        ({"R0"}, 0.1, True),
        ({"E0"}, 0.3, True),
        ({"S_w", "S_m", "S_b", "E0"}, 0.3, True),
        (ANY, 0.3, True),
        ({"C"}, 0.6, False),
        ({"S_w"}, 1.0, False),
    ],
)
def test_unreadable_answers_end_the_verdict_only_where_what_they_may_have_followed_would_change_it(arms, share, stands):
    whole = shares.planted("called worst", 0.8, units=60, signal=1.0)
    found = analyse(unread(whole, arms, share), [], permutations=499)
    [line] = found.validity.remarks if stands else found.validity.problems
    assert "answers are unreadable" in line
    if arms != ANY:
        assert all(f"{arm} (" in line for arm in arms)
    assert [each.name for each in found.movers] == (["called worst"] if stands else [])


def test_answers_that_are_unreadable_just_where_they_follow_the_worst_end_the_verdict():
    """Those that can be read go by the two others: without the bounds it would be said to avoid the worst."""
    halves = [shares.planted(share, 1.0, units=60, signal=1.0, seed=4) for share in shares.LABELS]
    rng = np.random.default_rng(2)
    answers = [
        replace(each[0], readable=False, edit=np.zeros(6)) if each[0].arm == "C" and lot == 0 else each[lot]
        for *each, lot in zip(*(half.answers for half in halves), rng.integers(3, size=10**5), strict=False)
    ]
    found = analyse(Experiment(halves[0].units, answers), [], permutations=499)
    assert not found.movers
    [problem] = found.validity.problems
    assert re.search(r"more under C \(\d+ of 720\) than under other arms; what is found depends on", problem)


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

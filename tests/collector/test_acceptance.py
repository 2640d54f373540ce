"""Tests that accept a revision: by hand, against SciPy, and how often they are wrong where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from collector.acceptance import BATCH, ENOUGH, LEVEL, PAIRS, STAKES, Decision, Sequential, fixed, signs

TIMES = 2000
"""Simulated searches in which each test is tried."""
NULLS = {
    "normal": lambda rng: rng.normal(0, 10, PAIRS),
    "heavy tails": lambda rng: rng.standard_t(2, PAIRS),
    "without a mean": lambda rng: rng.standard_cauchy(PAIRS),
    "half ties": lambda rng: rng.choice([-1.0, 0.0, 1.0], PAIRS, p=[0.25, 0.5, 0.25]),
    "mostly ties": lambda rng: rng.choice([-1.0, 0.0, 1.0], PAIRS, p=[0.1, 0.8, 0.1]),
    "worse": lambda rng: rng.normal(-0.3, 1, PAIRS),
}
"""Revisions that change nothing, or lose."""


def sequential(differences) -> Decision:
    test, decision = Sequential(), None
    for start in range(0, PAIRS, BATCH):
        decision = test.add(differences[start : start + BATCH].tolist())
        if decision:
            return decision
    raise AssertionError("it never stops")


def accepted(test, draw, seed=7):
    rng = np.random.default_rng(seed)
    return sum(test(draw(rng)).accepted for _ in range(TIMES))


@pytest.mark.parametrize("test", [fixed, sequential, lambda differences: signs(differences.tolist())])
def test_no_test_accepts_what_changes_nothing_more_often_than_it_says(test):
    """Counts whose 99.9% interval is above 5% would show a test that does not hold its level."""
    most = stats.binom.isf(0.001, TIMES, LEVEL)
    too_often = {name: count for name, draw in NULLS.items() if (count := accepted(test, draw)) > most}
    assert too_often == {}


def test_fixed_is_scipys_paired_t():
    rng = np.random.default_rng(3)
    before, after = rng.normal(0, 1, 40), rng.normal(0.4, 1, 40)
    known = stats.ttest_rel(after, before, alternative="greater").pvalue
    decision = fixed(after - before)
    assert decision == Decision(accepted=bool(known <= 0.05), pairs=40, p_or_e=pytest.approx(known), rule="t")


def test_fixed_without_variation():
    assert fixed([2.0] * 40) == Decision(accepted=True, pairs=40, p_or_e=0.0, rule="t")
    assert not fixed([0.0] * 40).accepted
    assert not fixed([-2.0] * 40).accepted
    assert not fixed([5.0]).accepted
    assert not fixed([]).accepted


def test_signs_by_hand():
    """Six of six are 1/64; seven of eight are (8 + 1)/256; ties do not count."""
    assert signs([1.0] * 6).p_or_e == 1 / 64
    assert signs([1.0] * 7 + [-1.0, 0.0, 0.0]) == Decision(accepted=True, pairs=10, p_or_e=9 / 256, rule="signs")
    assert not signs([1.0] * 7 + [-8.0]).accepted, "its mean is below 0"
    assert signs([0.0] * 9).p_or_e == 1.0


def test_sequential_by_hand():
    """All differences alike: each factor is 1 + tanh(c)."""
    test = Sequential()
    assert test.add([3.0] * 4) is None
    assert test.e == pytest.approx(sum((1 + math.tanh(c)) ** 4 for c in STAKES) / 4)
    decision = test.add([3.0] * 4)
    e = sum((1 + math.tanh(c)) ** 8 for c in STAKES) / 4
    assert e > ENOUGH
    assert decision == Decision(accepted=True, pairs=8, p_or_e=pytest.approx(e), rule="e")


def test_sequential_gives_up():
    losing, tied = Sequential(), Sequential()
    assert (losing.add([-1.0] * 4), tied.add([0.0] * 4)) == (None, None)
    assert losing.add([-1.0] * 4).accepted is False
    assert tied.add([0.0] * 4) == Decision(accepted=False, pairs=8, p_or_e=1.0, rule="e")


def test_sequential_depends_on_no_unit():
    differences = np.random.default_rng(5).normal(0.5, 1, PAIRS)
    small, large = sequential(differences), sequential(differences * 1e6)
    assert (small.accepted, small.pairs) == (large.accepted, large.pairs)
    assert small.p_or_e == pytest.approx(large.p_or_e)


def test_both_find_what_is_better_and_the_sequential_one_asks_for_less():
    rng = np.random.default_rng(11)
    better = [rng.normal(0.8, 1, PAIRS) for _ in range(TIMES)]
    nothing = [rng.normal(0, 1, PAIRS) for _ in range(TIMES)]
    found = [sequential(each) for each in better]
    assert sum(fixed(each).accepted for each in better) > 0.98 * TIMES
    assert sum(each.accepted for each in found) > 0.88 * TIMES
    assert np.mean([each.pairs for each in found]) < PAIRS / 2
    assert np.mean([sequential(each).pairs for each in nothing]) < PAIRS / 3


def test_the_gates_avoid_two_thirds_of_greedy_false_acceptances():
    """Twenty noisy rollouts each: of revisions that change nothing, greedy accepts half."""
    rng = np.random.default_rng(13)
    greedy = sum(rng.normal(0, 1, 20).mean() >= rng.normal(0, 1, 20).mean() for _ in range(TIMES))
    gates = [accepted(test, lambda rng: rng.normal(0, math.sqrt(2), PAIRS)) for test in (fixed, sequential)]
    assert all(count <= greedy / 3 for count in gates)

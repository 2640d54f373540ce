"""Permutation tests: against SciPy's, enumerations of all draws, exact distributions, and on data without an effect."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.measures import permutation, stratified_permutation
from audit.measures.conditional_randomisation import conditional_randomisation_test
from audit.measures.permutation import no_change, no_change_paired
from audit.measures.sign_flip import sign_flip_test
from audit.measures.stratified_permutation import groups, stratified_difference

pairs = st.integers(1, 5).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(-3, 3), min_size=size, max_size=size)] * 2)
)
ALTERNATIVES = ("two-sided", "greater", "less")


def scipys(first, second=None, *, alternative="less", resamples=np.inf):
    """The p-value of SciPy's permutation test: of two samples' means, or of one sample's signs."""
    options = {"vectorized": True, "alternative": alternative, "n_resamples": resamples, "rng": 1}
    if second is None:
        return stats.permutation_test((first,), np.mean, permutation_type="samples", **options).pvalue
    return stats.permutation_test((first, second), lambda a, b, axis: a.mean(axis) - b.mean(axis), **options).pvalue


def near(p, draws):
    """A p-value that so many draws find."""
    return pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / draws) + 1 / draws)


@given(pairs)
def test_small_sets_are_counted_out_as_scipy_does(pair):
    before, after = (np.array(values, dtype=float) for values in pair)
    pooled, paired = [*before, *after], after - before
    found, in_pairs = no_change([before], [after]), no_change_paired([before], [after])
    if len(before) > 1:
        assert found.p[0] == pytest.approx(scipys(after, before))
        assert in_pairs.p[0] == pytest.approx(scipys(paired))
    splits = [sum(pooled[i] for i in half) for half in combinations(range(len(pooled)), len(before))]
    below = sum(2 * total < sum(pooled) for total in splits)
    assert found.pooled[0] == pytest.approx(below / comb(len(pooled), len(before)))
    flipped = [np.dot(signs, paired) for signs in product((-1, 1), repeat=len(paired))]
    assert in_pairs.pooled[0] == pytest.approx(np.mean([total < 0 for total in flipped]))
    assert np.isnan(in_pairs.initial[0])


def test_large_sets_are_drawn_and_agree_with_scipy():
    rng = np.random.default_rng(3)
    before, after = rng.normal(0, 1, (4, 20)), rng.normal(-0.4, 1, (4, 20))
    for x, y, p, paired in zip(
        before, after, no_change(before, after).p, no_change_paired(before, after).p, strict=True
    ):
        assert p == near(scipys(y, x, resamples=20_000), 4_000)
        assert paired == near(scipys(y - x, resamples=20_000), 4_000)


def test_successes_and_failures_have_exact_chances():
    # 15 of 20 before, 9 of 20 after: of 24 successes among 40, how often do 9 or fewer fall to the second half?
    result = no_change([[1] * 15 + [0] * 5], [[1] * 9 + [0] * 11])
    assert result.p[0] == pytest.approx(stats.hypergeom(40, 24, 20).cdf(9), abs=0.01)
    assert result.pooled[0] == pytest.approx(stats.hypergeom(40, 24, 20).cdf(11), abs=0.02)
    # Three successes of four: two draws of four rollouts each are as many successes with the chance below.
    chances = stats.binom(4, 0.75).pmf(range(5))
    wanted = (1 - (chances**2).sum()) / 2
    assert no_change([[1, 1, 1, 0]], [[0, 0, 0, 0]]).initial[0] == pytest.approx(wanted, abs=0.02)
    # Three examples that all fell have one chance in eight; two sets of three, one in twenty.
    assert no_change_paired([[1, 1, 1]], [[0, 0.5, 0]]).p[0] == 1 / 8
    assert no_change([[1, 1, 1]], [[0, 0.5, 0]]).p[0] == 1 / 20


def test_a_saturated_policy_cannot_regress_by_chance_and_rounding_is_no_difference():
    assert no_change([[500.0] * 20], [[500.0] * 19 + [9.0]]).initial.tolist() == [0]
    unchanged = no_change([[0.1] * 3], [[0.1] * 3])
    assert (unchanged.p.item(), unchanged.pooled.item(), unchanged.initial.item()) == (1, 0, 0)
    # 0.1 + 0.2 is not 0.3 in binary; as returns they are the same.
    result = no_change([[0.1, 0.2, 0.0]], [[0.3, 0.0, 0.0]])
    assert result.p[0] == no_change([[1, 2, 0]], [[3, 0, 0]]).p[0]
    assert [len(part) for part in no_change(np.empty((0, 3)), np.empty((0, 3)))] == [0, 0, 0]


@pytest.mark.parametrize("size", [5, 20])
def test_without_a_change_p_values_are_uniform_and_expectations_right(size):
    rng = np.random.default_rng(11)
    successes = rng.binomial(1, rng.uniform(0.05, 0.95, (3000, 1)), (3000, 2 * size)).astype(float)
    before, after = successes[:, :size], successes[:, size:]
    result = no_change(before, after)
    assert (result.p <= 0.05).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 3000)
    regressions = (after.mean(axis=1) < before.mean(axis=1)).mean()
    assert result.pooled.mean() == pytest.approx(regressions, abs=0.03)
    # Five rollouts know little of what else a policy can do: that estimate is too low, as its description states.
    assert result.initial.mean() == pytest.approx(regressions, abs=0.03 if size == 20 else 0.1)


@pytest.mark.parametrize("test", [no_change, no_change_paired])
def test_whole_numbers_give_to_the_bit_what_fractions_of_them_give(test, monkeypatch):
    # Quarters of whole numbers are seldom whole, and are taken in double precision; all else of them is the same.
    rng = np.random.default_rng(7)
    taken = []
    below_zero = permutation._below_zero
    monkeypatch.setattr(
        permutation, "_below_zero", lambda found, rounding: taken.append(found.dtype) or below_zero(found, rounding)
    )
    for largest, kind in ((1, "float32"), (500, "float32"), (2**24 // 40 - 1, "float32"), (2**24, "float64")):
        before = rng.integers(-largest, largest + 1, (40, 20))
        before[:, 0] = rng.choice([-largest, largest], 40)
        after = np.where(rng.random(before.shape) < 0.5, before, rng.permuted(before, axis=1))
        taken.clear()
        found = test(before, after)
        assert set(taken) == {np.dtype(kind)}
        taken.clear()
        quarters = test(before / 4, after / 4)
        assert "float64" in taken
        assert np.array_equal(np.stack(found), np.stack(quarters), equal_nan=True)


def test_pairs_do_not_depend_on_those_beside_them(monkeypatch):
    rng = np.random.default_rng(8)
    before = np.concatenate([rng.integers(0, 9, (7, 9)).astype(float), rng.normal(size=(8, 9))])[rng.permutation(15)]
    after = before + rng.integers(-1, 2, before.shape)
    together = np.stack(no_change(before, after))
    monkeypatch.setattr(permutation, "_AT_ONCE", 1)
    assert np.array_equal(together, np.stack(no_change(before, after)))
    apart = [np.stack(no_change(before[[place]], after[[place]])) for place in range(len(before))]
    assert np.array_equal(together, np.concatenate(apart, axis=1))


@given(st.lists(st.integers(-4, 4), min_size=2, max_size=9))
def test_signs_of_few_pairs_are_counted_out_as_scipy_does(differences):
    for alternative in ALTERNATIVES:
        wanted = scipys(differences, alternative=alternative)
        assert sign_flip_test(differences, alternative=alternative).p == pytest.approx(wanted), alternative


def test_signs_of_clusters_and_of_many_pairs():
    # Cluster sums 3, 3 and -1: of the eight signs, 7 and 5, that is +++ and ++-, reach the observed 5.
    assert sign_flip_test([1, 2, 3, -1], ["a", "a", "b", "c"], alternative="greater") == (1.25, 2 / 8, 4, 3)
    wanted = stats.binomtest(30, 46, alternative="greater").pvalue
    many = sign_flip_test([1.0] * 30 + [-1.0] * 16, alternative="greater", draws=20_000, seed=1)
    assert many.p == near(wanted, 20_000)
    assert sign_flip_test([1, np.nan, 2, 3]) == sign_flip_test([1, 2, 3])
    nothing = sign_flip_test([np.nan])
    assert np.isnan([nothing.mean, nothing.p]).all()
    assert sign_flip_test([0.0, 0.0]).p == 1


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=5), st.lists(st.integers(-3, 3), min_size=2, max_size=5))
def test_one_stratum_is_scipys_permutation_test(first, second):
    values, arms = first + second, [True] * len(first) + [False] * len(second)
    for alternative in ALTERNATIVES:
        result = stratified_difference(values, arms, np.zeros(len(values)), alternative=alternative)
        assert result.difference == pytest.approx(np.mean(first) - np.mean(second))
        # SciPy doubles the smaller tail: where the distribution is not symmetric, it is another test.
        if alternative != "two-sided" or len(first) == len(second):
            wanted = scipys(first, second, alternative=alternative)
            assert result.p == pytest.approx(min(1, wanted)), alternative


def test_rates_of_one_stratum_are_fishers_exact_test():
    values, arms = [1] * 6 + [0] * 2 + [1] * 2 + [0] * 6, [True] * 8 + [False] * 8
    wanted = stats.fisher_exact([[6, 2], [2, 6]], alternative="greater").pvalue
    drawn = stratified_difference(values, arms, [0] * 16, alternative="greater", redraws=12_000)
    assert drawn.p == near(wanted, 12_000)
    counted = stratified_difference(values, arms, [0] * 16, alternative="greater", redraws=13_000)  # of 12,870
    assert counted.p == pytest.approx(wanted, rel=1e-9)


def test_strata_are_permuted_each_by_itself():
    values = np.array([3, 1, 0, 1, 0, 5, 2, 2.5, 4])
    arms = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1], dtype=bool)
    strata = np.array(["b", "b", "b", "a", "a", "c", "c", "c", "c"])
    ways = (combinations(np.flatnonzero(strata == s), int(arms[strata == s].sum())) for s in "abc")
    sums = [sum(values[list(chosen)].sum() for chosen in every) for every in product(*ways)]
    observed, centre = values[arms].sum(), np.mean(sums)
    wanted = np.mean(np.abs(np.array(sums) - centre) >= abs(observed - centre) - 1e-9)
    assert len(sums) == 36
    result = stratified_difference(values, arms, strata)
    assert result.p == pytest.approx(wanted)
    # Mantel and Haenszel's weights: 1 x 1 / 2, 1 x 2 / 3, 2 x 2 / 4, and differences of means 1, 2.5 and 2.25.
    assert result.difference == pytest.approx((1 / 2 + 2.5 * 2 / 3 + 2.25) / (1 / 2 + 2 / 3 + 1))
    four = [np.tile(each, 4) for each in (values, arms, strata)]
    assert stratified_difference(*four, redraws=2_000) == stratified_difference(*four, redraws=2_000)
    assert stratified_difference([0.1] * 60, [True, False, False] * 20, np.repeat(range(10), 6)).p == 1


def test_a_stratum_of_one_arm_tells_nothing():
    with_lonely = stratified_difference([1, 0, 0, 9], [True, False, False, True], [0, 0, 0, 1])
    assert with_lonely == stratified_difference([1, 0, 0], [True, False, False], [0, 0, 0])
    assert with_lonely.strata == 1
    nothing = stratified_difference([1, 2], [True, False], [0, 1])
    assert np.isnan(nothing[:2]).all()
    assert nothing.strata == 0
    assert [each.tolist() for each in groups(np.array(["b", "a", "b"]))] == [[1], [0, 2]]
    assert groups(np.array([])) == []


def test_choices_of_one_of_three_are_a_binomial_test():
    rng = np.random.default_rng(1)
    choice, holder = rng.integers(3, size=60), rng.integers(3, size=60)
    holder[:20] = choice[:20]
    share = np.mean(choice == holder)
    result = conditional_randomisation_test(np.eye(3)[choice], holder, redraws=20_000)
    assert result.effect == pytest.approx(1.5 * (share - 1 / 3))
    away = abs(share * 60 - 20)
    wanted = stats.binom(60, 1 / 3).sf(20 + away - 1) + stats.binom(60, 1 / 3).cdf(20 - away)
    assert result.p == near(wanted, 20_000)
    assert result.effects.mean() == pytest.approx(result.effect)


def test_scores_and_eligible_blocks_agree_with_all_draws():
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(5, 4))
    eligible = np.ones((5, 4), dtype=bool)
    eligible[0, 1] = eligible[1, 0] = eligible[1, 3] = False
    holder = np.array([0, 2, 1, 3, 0])
    draws = [np.flatnonzero(row) for row in eligible]
    centre = sum(scores[i, each].mean() for i, each in enumerate(draws))
    sums = np.array([sum(scores[range(5), chosen]) for chosen in product(*draws)]) - centre
    observed = scores[range(5), holder].sum() - centre
    wanted = np.mean(np.abs(sums) >= abs(observed) - 1e-9)
    result = conditional_randomisation_test(scores, holder, eligible=eligible, redraws=20_000)
    assert result.p == near(wanted, 20_000)
    others = [np.mean([scores[i, j] for j in each if j != holder[i]]) for i, each in enumerate(draws)]
    assert result.effects == pytest.approx(scores[range(5), holder] - others)


def test_a_call_without_a_choice_does_not_count():
    scores = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    result = conditional_randomisation_test(scores, [0, 1, 0], eligible=[[1, 1, 1], [0, 1, 0], [1, 1, 1]])
    assert result.calls == 2
    assert np.isnan(result.effects).tolist() == [False, True, False]
    assert result.effect == pytest.approx((1 - 0.5) / 2)
    nothing = conditional_randomisation_test(np.empty((0, 3)), [])
    assert np.isnan([nothing.effect, nothing.p]).all()


def test_size_where_answers_of_a_run_depend_on_each_other():
    rng = np.random.default_rng(3)
    rejected = 0
    for seed in range(400):
        # Two runs, each with a block of its own that all its answers follow.
        scores = np.eye(3)[np.repeat(rng.integers(3, size=2), 20)]
        found = conditional_randomisation_test(scores, rng.integers(3, size=40), redraws=199, seed=seed)
        rejected += found.p <= 0.05
    assert rejected <= 20 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_redraws_in_several_parts_are_those_of_one(monkeypatch):
    rng = np.random.default_rng(4)
    scores, holder = np.eye(3)[rng.integers(3, size=50)], rng.integers(3, size=50)
    whole = conditional_randomisation_test(scores, holder).p
    monkeypatch.setattr(stratified_permutation, "AT_ONCE", 5_000)
    assert conditional_randomisation_test(scores, holder).p == whole

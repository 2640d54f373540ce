"""What no change would have done: against SciPy, by hand, and on data without a change."""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.measures import permutation
from audit.measures.permutation import no_change, no_change_paired

pairs = st.integers(1, 5).flatmap(
    lambda size: st.tuples(*[st.lists(st.integers(-3, 3), min_size=size, max_size=size)] * 2)
)


@given(pairs)
def test_small_sets_are_counted_out_as_scipy_does(pair):
    before, after = (np.array(values, dtype=float) for values in pair)
    result = no_change([before], [after])
    if len(before) > 1:
        wanted = stats.permutation_test(
            (after, before), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis), vectorized=True,
            alternative="less", n_resamples=np.inf,
        )  # fmt: skip
        assert result.p[0] == pytest.approx(wanted.pvalue)
    pooled = [*before, *after]
    splits = [sum(pooled[i] for i in half) for half in combinations(range(len(pooled)), len(before))]
    below = sum(2 * total < sum(pooled) for total in splits)
    assert result.pooled[0] == pytest.approx(below / comb(len(pooled), len(before)))


def test_large_sets_are_drawn_and_agree_with_scipy():
    rng = np.random.default_rng(3)
    before, after = rng.normal(0, 1, (4, 20)), rng.normal(-0.4, 1, (4, 20))
    result = no_change(before, after)
    for p, x, y in zip(result.p, before, after, strict=True):
        wanted = stats.permutation_test(
            (y, x), lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis), vectorized=True,
            alternative="less", n_resamples=20_000, rng=1,
        ).pvalue  # fmt: skip
        assert p == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / 5_000) + 1e-3)


def test_successes_and_failures_are_a_hypergeometric_draw():
    # 15 of 20 before, 9 of 20 after: of 24 successes among 40, how often do 9 or fewer fall to the second half?
    result = no_change([[1] * 15 + [0] * 5], [[1] * 9 + [0] * 11])
    wanted = stats.hypergeom(40, 24, 20).cdf(9)
    assert result.p[0] == pytest.approx(wanted, abs=0.01)
    assert result.pooled[0] == pytest.approx(stats.hypergeom(40, 24, 20).cdf(11), abs=0.02)


def test_a_saturated_policy_cannot_regress_by_chance():
    broken = no_change([[500.0] * 20], [[500.0] * 19 + [9.0]])
    assert broken.initial.tolist() == [0]
    unchanged = no_change([[0.1] * 3], [[0.1] * 3])
    assert (unchanged.p.item(), unchanged.pooled.item(), unchanged.initial.item()) == (1, 0, 0)


def test_two_sets_of_one_policy_tie_as_often_as_binomial_draws_do():
    # Three successes of four: two draws of four rollouts each are as many successes with the chance below.
    chances = stats.binom(4, 0.75).pmf(range(5))
    wanted = (1 - (chances**2).sum()) / 2
    assert no_change([[1, 1, 1, 0]], [[0, 0, 0, 0]]).initial[0] == pytest.approx(wanted, abs=0.02)


def test_sums_of_binary_fractions_tie_where_decimals_do():
    # 0.1 + 0.2 is not 0.3 in binary; as returns they are the same.
    result = no_change([[0.1, 0.2, 0.0]], [[0.3, 0.0, 0.0]])
    assert result.p[0] == no_change([[1, 2, 0]], [[3, 0, 0]]).p[0]


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


@pytest.mark.parametrize(
    ("before", "after"), [([1, 2], [1, 2]), ([[1, 2]], [[1, 2, 3]]), ([[]], [[]]), ([[np.nan, 1]], [[1, 1]])]
)
def test_what_cannot_be_exchanged_is_refused(before, after):
    with pytest.raises(ValueError, match=r"return|shape"):
        no_change(before, after)


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


def test_no_pairs_are_no_error():
    assert [len(part) for part in no_change(np.empty((0, 3)), np.empty((0, 3)))] == [0, 0, 0]


@given(pairs)
def test_pairs_of_scores_are_counted_out_as_scipy_does(pair):
    before, after = (np.array(values, dtype=float) for values in pair)
    result = no_change_paired([before], [after])
    differences = after - before
    flipped = [np.dot(signs, differences) for signs in product((-1, 1), repeat=len(differences))]
    assert result.p[0] == pytest.approx(np.mean([total <= differences.sum() for total in flipped]))
    assert result.pooled[0] == pytest.approx(np.mean([total < 0 for total in flipped]))
    assert np.isnan(result.initial[0])
    if len(before) > 1:
        wanted = stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", vectorized=True,
            alternative="less", n_resamples=np.inf,
        )  # fmt: skip
        assert result.p[0] == pytest.approx(wanted.pvalue)


def test_many_pairs_of_scores_are_drawn_and_agree_with_scipy():
    rng = np.random.default_rng(5)
    before = rng.normal(0, 1, (4, 20))
    after = before + rng.normal(-0.3, 1, (4, 20))
    result = no_change_paired(before, after)
    for p, difference in zip(result.p, after - before, strict=True):
        wanted = stats.permutation_test(
            (difference,), np.mean, permutation_type="samples", vectorized=True,
            alternative="less", n_resamples=20_000, rng=1,
        ).pvalue  # fmt: skip
        assert p == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / 5_000) + 1e-3)


def test_three_examples_that_all_fell_have_one_chance_in_eight():
    assert no_change_paired([[1, 1, 1]], [[0, 0.5, 0]]).p[0] == 1 / 8
    assert no_change([[1, 1, 1]], [[0, 0.5, 0]]).p[0] == 1 / 20

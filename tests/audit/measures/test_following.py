"""Mixtures of references: against sums over pairs written out, and planted weights."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel

from audit.measures.energy import farthest_test
from audit.measures.following import (
    Estimates,
    Normal,
    difference,
    estimate,
    normal_equations,
    products,
    ratio,
)

WEIGHTS = np.array([0.5, 0.3, 0.2])


def unit(rng, *, noise, answers=40, each=3):
    """Answers that follow one of three references, a column of the design for each."""
    means = rng.normal(size=(3, 4))
    chosen = rng.choice(3, size=answers, p=WEIGHTS)
    references = [mean + noise * rng.normal(size=(each, 4)) for mean in means]
    design = np.tile(np.eye(3), (answers, 1, 1))
    return normal_equations(means[chosen] + noise * rng.normal(size=(answers, 4)), design, references), references


def test_products_are_means_over_pairs_of_different_answers():
    rng = np.random.default_rng(1)
    references = [rng.normal(size=(size, 3)) for size in (2, 3)]
    found = products(references)
    for i, j in product(range(2), repeat=2):
        pairs = permutations(references[i], 2) if i == j else product(references[i], references[j])
        assert found[i, j] == pytest.approx(np.mean([a @ b for a, b in pairs]))


def test_the_equations_are_those_of_least_squares_on_the_references():
    rng = np.random.default_rng(2)
    means, design = rng.normal(size=(2, 3)), rng.normal(size=(7, 2, 2))
    answers = rng.normal(size=(7, 3))
    matrix, right = normal_equations(answers, design, [np.tile(mean, (2, 1)) for mean in means])
    columns = np.einsum("nkr,rd->ndk", design, means).reshape(-1, 2)
    assert matrix == pytest.approx(columns.T @ columns)
    assert right == pytest.approx(columns.T @ answers.ravel())


def test_weights_are_recovered_where_means_of_references_are_noisy():
    rng = np.random.default_rng(3)
    found, errors, naive = [], [], []
    for _ in range(60):
        made = [unit(rng, noise=1.5) for _ in range(48)]
        normal = Normal(np.array([m for (m, _), _ in made]), np.array([r for (_, r), _ in made]))
        result = estimate(normal, np.arange(48) % 12, np.eye(3))
        found.append(result.values)
        errors.append(result.errors)
        # With products of sample means the noise of a reference counts as signal.
        plain = sum(40 * np.array([[a.mean(0) @ b.mean(0) for b in refs] for a in refs]) for _, refs in made)
        naive.append(np.linalg.solve(plain, normal.right.sum(axis=0)))
    spread = np.std(found, axis=0)
    assert np.mean(found, axis=0) == pytest.approx(WEIGHTS, abs=3 * spread.max() / np.sqrt(60))
    assert np.mean(errors, axis=0) == pytest.approx(spread, rel=0.35)
    assert np.mean(naive, axis=0)[0] < 0.35


def test_one_cluster_has_no_interval():
    rng = np.random.default_rng(4)
    (matrix, right), _ = unit(rng, noise=0.1)
    found = estimate(Normal(matrix[None], right[None]), np.zeros(1, dtype=int), np.eye(3))
    assert np.isfinite(found.values).all()
    assert np.isnan(found.interval()).all()


def test_a_ratio_of_sums_and_its_error():
    value, error = ratio(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4), np.array([0, 1, 2, 3]))
    assert (value, error) == pytest.approx((2.5, np.std([1, 2, 3, 4], ddof=1) / 2))
    assert np.isnan(ratio(np.ones(2), -np.ones(2), np.array([0, 1]))).all()


def strata(rng, shift, number=12):
    """Distances and names: a base and three arms of three answers each, the second arm shifted."""
    names = np.repeat([-1, 0, 1, 2], 3)
    made = []
    for _ in range(number):
        points = rng.normal(size=(12, 2))
        points[names == 1, 0] += shift
        made.append(np.linalg.norm(points[:, None] - points[None], axis=2))
    return made, [names] * number


def test_the_arm_that_leads_away_is_found_and_the_others_are_not():
    found = farthest_test(*strata(np.random.default_rng(5), 3.0), redraws=199)
    assert found.p[1] == 1 / 200
    assert min(found.p[[0, 2]]) > 0.5
    assert found.values.sum(axis=1) == pytest.approx(0)


def test_its_values_are_differences_of_mean_distances():
    [table], [names] = strata(np.random.default_rng(6), 1.0, 1)
    scaled = table * (12 * 11) / table.sum()

    def far(arm):
        inner = scaled[np.ix_(names == arm, names == arm)].sum() / 6
        return 2 * scaled[np.ix_(names == -1, names == arm)].mean() - inner

    found = farthest_test([table], [names], redraws=1).values[0]
    assert found[0] == pytest.approx(far(0) - (far(1) + far(2)) / 2)


def test_without_an_effect_p_is_uniform():
    rng = np.random.default_rng(7)
    p = np.array([farthest_test(*strata(rng, 0.0, 4), redraws=99, seed=seed).p for seed in range(200)])
    assert np.mean(p <= 0.2) == pytest.approx(0.2, abs=0.06)
    assert np.mean(p) == pytest.approx(0.5, abs=0.05)


def test_strata_with_too_few_answers_are_left_out():
    tables, names = strata(np.random.default_rng(8), 0.0, 2)
    names = [names[0], np.where(np.arange(12) > 10, 2, np.minimum(names[1], 1))]
    assert np.isnan(farthest_test(tables, names, redraws=9).values).any(axis=1).tolist() == [False, True]


def mean_of(values):
    """A mean over clusters of one value each, as an estimate of one function."""
    without = (values.sum() - values) / (len(values) - 1)
    return Estimates(np.array([values.mean()]), np.array([values.std(ddof=1) / len(values) ** 0.5]), without[:, None])


def test_a_difference_over_the_same_clusters_is_the_paired_t_test_of_means():
    rng = np.random.default_rng(6)
    first, second = rng.normal(size=(2, 9))
    names = [f"run {number}" for number in range(9)]
    order = rng.permutation(9)
    found = difference(mean_of(first), mean_of(second[order]), (names, [names[place] for place in order]))
    expected = ttest_rel(second, first)
    assert found.p() == pytest.approx(expected.pvalue)
    assert np.ravel(found.interval(0.9)) == pytest.approx(expected.confidence_interval(0.9))
    assert found.degrees == 8


def test_a_paired_jackknife_worked_by_hand():
    first = Estimates(np.array([2.0]), np.array([1.2]), np.array([[1.0], [2.0], [3.0]]))
    second = Estimates(np.array([5.0]), np.array([0.7]), np.array([[4.0], [5.5], [5.5]]))
    # Without each cluster the difference is 3, 3.5, 2.5: its variance is 2/3 of 0 + 0.25 + 0.25.
    found = difference(first, second, ("abc", "abc"))
    assert (found.values[0], found.errors[0]) == (3.0, pytest.approx((1 / 3) ** 0.5))
    # Deviations of the first are -1, 0, 1, those of the second -1, 0.5, 0.5; only cluster c is in both.
    found = difference(first, second, ("abc", "cde"))
    assert found.errors[0] == pytest.approx((2 / 3 * ((-1) ** 2 + 0**2 + (-1 - 1) ** 2 + 0.5**2 + 0.5**2)) ** 0.5)


def test_over_other_clusters_variances_add_up():
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=9), rng.normal(size=6)
    found = difference(mean_of(first), mean_of(second), (range(9), range(10, 16)))
    expected = ttest_ind(second, first, equal_var=False)
    assert found.values / found.errors == pytest.approx(expected.statistic)
    assert found.degrees == 5 <= expected.df
    assert found.p() >= expected.pvalue


def test_of_one_cluster_and_of_no_spread_no_difference_is_tested():
    one = Estimates(np.array([1.0]), np.array([np.nan]), np.array([[1.0]]))
    found = difference(one, one, ("a", "a"))
    assert np.isnan([found.errors, found.p(), *found.interval()]).all()
    same = mean_of(np.arange(5.0))
    found = difference(same, same, ("abcde", "abcde"))
    assert np.isnan(found.p()).all()
    assert np.ravel(found.interval()).tolist() == [0, 0]

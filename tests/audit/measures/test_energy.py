"""Energy distances: against SciPy, sums written out, and enumerations of all permutations."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from audit.measures.energy import (
    bounded,
    energy_test,
    farthest_test,
    pairwise_distances,
    presence_test,
)


def arms(*sizes):
    """Masks of consecutive answers."""
    names = np.repeat(range(len(sizes)), sizes)
    return [names == place for place in range(len(sizes))]


def energy_distance(distances, first):
    """Of one stratum."""
    return energy_test([distances], [first], redraws=1).statistic


def presence_effect(distances, base, first, second):
    """Of one stratum."""
    return presence_test([distances], [base], [first], [second], redraws=1).statistic


def by_definition(distances, first):
    """The distance as sums over pairs, in units of the mean over all pairs."""
    one, other = np.flatnonzero(first), np.flatnonzero(~first)
    between = np.mean([distances[i, j] for i in one for j in other])
    within = [np.mean([distances[i, j] for i, j in combinations(arm, 2)]) for arm in (one, other)]
    return (2 * between - sum(within)) / np.mean([distances[i, j] for i, j in combinations(range(len(first)), 2)])


def test_the_distance_is_that_of_its_definition():
    distances = pairwise_distances(np.random.default_rng(1).normal(size=(7, 3)))
    first = np.array([1, 0, 0, 1, 1, 0, 0], dtype=bool)
    assert energy_distance(distances, first) == pytest.approx(by_definition(distances, first))
    # Answers 0, 2 | 5, 9: between (5 + 9 + 3 + 7) / 4 = 6, within 2 and 4; all pairs: 30 / 6 = 5.
    small = pairwise_distances([[0], [2], [5], [9]])
    assert energy_distance(small, [True, True, False, False]) == pytest.approx((12 - 2 - 4) / 5)


def test_many_answers_give_scipys_energy_distance():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=400), rng.normal(1, 2, size=400)
    distances = pairwise_distances(np.concatenate([x, y])[:, None])
    scale = distances.sum() / (800 * 799)
    # SciPy's is the root of it, and counts pairs of an answer with itself, whose distance is zero.
    wanted = stats.energy_distance(x, y) ** 2
    bias = (cdist(x[:, None], x[:, None]).mean() + cdist(y[:, None], y[:, None]).mean()) / 399
    assert energy_distance(distances, arms(400, 400)[0]) * scale == pytest.approx(wanted - bias, rel=1e-9)


def test_p_values_are_those_of_all_permutations_within_strata():
    rng = np.random.default_rng(3)
    tables = [pairwise_distances(rng.normal(size=(n, 2))) for n in (4, 5, 5)]
    first = [np.array(each, dtype=bool) for each in ([1, 1, 0, 0], [0, 1, 0, 1, 1], [1, 0, 0, 1, 0])]
    ways = [list(combinations(range(len(f)), int(f.sum()))) for f in first]
    each = [
        [by_definition(d, np.isin(np.arange(len(d)), way)) for way in options]
        for d, options in zip(tables, ways, strict=True)
    ]
    sums = [np.mean(values) for values in product(*each)]
    observed = [by_definition(d, f) for d, f in zip(tables, first, strict=True)]
    statistic = np.mean(observed)
    wanted = np.mean(np.array(sums) >= statistic - 1e-9)
    result = energy_test(tables, first)
    assert (result.strata, result.left_out) == (3, 0)
    assert result.statistic == pytest.approx(statistic)
    assert result.values == pytest.approx(observed)
    assert result.p == pytest.approx(wanted)
    drawn = energy_test(tables, first, redraws=599, seed=4)
    assert drawn.p == pytest.approx(wanted, abs=4 * np.sqrt(wanted * (1 - wanted) / 599) + 1 / 600)


def test_large_strata_are_drawn_and_agree_with_scipy():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=15), rng.normal(0.9, size=15)
    distances = pairwise_distances(np.concatenate([x, y])[:, None])
    wanted = stats.permutation_test(
        (x, y), stats.energy_distance, alternative="greater", n_resamples=2_000, rng=1
    ).pvalue  # fmt: skip
    result = energy_test([distances], [arms(15, 15)[0]], redraws=2_000)
    assert 0.01 < wanted < 0.4
    assert result.p == pytest.approx(wanted, abs=5 * np.sqrt(2 * wanted / 2_000))


def test_size_and_power_over_units_that_differ():
    rng = np.random.default_rng(6)
    first = [arms(4, 4)[0]] * 10
    rejected = {0.0: 0, 1.5: 0}
    for shift in rejected:
        for seed in range(200):
            centres = rng.normal(0, 20, size=(10, 1, 3))
            answers = rng.normal(size=(10, 8, 3)) + centres
            answers[:, :4] += shift
            p = energy_test([pairwise_distances(each) for each in answers], first, redraws=199, seed=seed).p
            rejected[shift] += p <= 0.05
    assert rejected[0.0] <= 10 + 3 * np.sqrt(200 * 0.05 * 0.95)
    assert rejected[1.5] >= 195


def test_the_unbiased_distance_of_equal_arms_is_zero_on_average():
    answers = np.random.default_rng(7).normal(size=(2_000, 6, 2))
    values = [energy_distance(pairwise_distances(each), arms(3, 3)[0]) for each in answers]
    assert np.mean(values) == pytest.approx(0, abs=4 * np.std(values) / np.sqrt(2_000))


def test_an_arm_of_one_answer_is_taken_to_spread_like_the_other():
    # Distances 0, 1, 1 have the mean 2/3. The single answer is 1.5 mean distances from the two alike: 2 * 1.5.
    # With another one single: 2 * 0.75 - 2 * 1.5. So one of three arrangements is as extreme.
    far = pairwise_distances([[0], [0], [1]])
    for first in ([True, True, False], [False, False, True]):
        result = energy_test([far], [first])
        assert (result.statistic, result.p) == (pytest.approx(3), pytest.approx(1 / 3))
        assert energy_distance(far, first) == pytest.approx(3)
    assert energy_distance(far, [True, False, False]) == pytest.approx(-1.5)


def test_equal_answers_add_nothing_and_two_answers_are_too_few():
    same, far = np.zeros((4, 4)), pairwise_distances([[0], [0], [1], [1]])
    result = energy_test([same, far, far[1:3, 1:3]], [arms(2, 2)[0], arms(2, 2)[0], arms(1, 1)[0]])
    assert result.values[:2] == pytest.approx([0, 3])
    assert np.isnan(result.values[2])
    assert (result.statistic, result.strata, result.left_out) == (pytest.approx(1.5), 2, 1)
    assert energy_test([same], [arms(2, 2)[0]]).p == 1
    nothing = energy_test([far[1:3, 1:3]], [arms(1, 1)[0]])
    assert np.isnan([nothing.statistic, nothing.p]).all()
    assert np.isnan(energy_test([], []).p)


def test_presence_is_the_difference_of_two_distances():
    distances = pairwise_distances(np.random.default_rng(8).normal(size=(8, 2)))
    base, first, second = arms(3, 2, 3)
    scale = distances.sum() / 56

    def raw(one, other):
        used = one | other
        part = distances[np.ix_(used, used)]
        return by_definition(part, one[used]) * part.sum() / (used.sum() * (used.sum() - 1))

    wanted = (raw(base, first) - raw(base, second)) / scale
    assert presence_effect(distances, base, first, second) == pytest.approx(wanted)
    assert presence_effect(distances, base, second, first) == pytest.approx(-wanted)
    assert np.isnan(presence_effect(distances, [True] + [False] * 7, first, second))


def test_presence_permutes_arm_and_control_and_leaves_the_base():
    rng = np.random.default_rng(9)
    tables = [pairwise_distances(rng.normal(size=(6, 2))) for _ in range(2)]
    base, first, second = arms(2, 2, 2)
    each = []
    for table in tables:
        ways = [np.isin(np.arange(6), way) for way in combinations((2, 3, 4, 5), 2)]
        each.append([presence_effect(table, base, way, ~way & ~base) for way in ways])
    observed = np.mean([values[0] for values in each])
    wanted = np.mean([np.mean(pair) >= observed - 1e-9 for pair in product(*each)])
    result = presence_test(tables, [base] * 2, [first] * 2, [second] * 2)
    assert result.statistic == pytest.approx(observed)
    assert result.p == pytest.approx(wanted)


def test_bounded_distances_stay_below_one_and_of_negative_type():
    distances = bounded(pairwise_distances(np.random.default_rng(10).standard_cauchy((12, 2))), 2.0)
    assert bounded([0.0, 2.0, 6.0], 2.0).tolist() == [0, 0.5, 0.75]
    centre = np.eye(12) - 1 / 12
    assert np.linalg.eigvalsh(centre @ distances @ centre).max() <= 1e-12


def test_which_arm_is_farthest_is_that_of_the_definition():
    """Distances from the base, each less the mean of the others, by sums over pairs."""
    rng = np.random.default_rng(4)
    names = np.repeat([-1, 0, 1, 2], 4)
    distances = pairwise_distances(rng.normal(size=(16, 3)) + 2.0 * (names == 1)[:, None])
    found = farthest_test([distances], [names], redraws=199)
    scale = np.mean([distances[i, j] for i, j in combinations(range(16), 2)])
    far = []
    for arm in range(3):
        one, other = np.flatnonzero(names == -1), np.flatnonzero(names == arm)
        between = np.mean([distances[i, j] for i in one for j in other])
        far.append((2 * between - np.mean([distances[i, j] for i, j in combinations(other, 2)])) / scale)
    wanted = [far[arm] - (sum(far) - far[arm]) / 2 for arm in range(3)]
    assert found.values[0] == pytest.approx(wanted)
    assert found.p[1] < 0.05 < min(found.p[0], found.p[2])


@pytest.mark.parametrize("name", [3, -2])
def test_a_name_that_no_arm_has_is_refused(name):
    names = [-1, -1, 0, 0, 1, 1, 2, 2, name, name]
    with pytest.raises(ValueError, match="expected names from -1 to 2"):
        farthest_test([pairwise_distances(np.eye(10))], [names])

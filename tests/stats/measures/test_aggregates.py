"""Aggregates over tasks against the definitions of Agarwal et al. (2021), SciPy and calculations by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, trim_mean

from audit.measures.improvement import chance_of_beating, probability_of_improvement
from stats.measures.aggregates import interquartile_mean, mean_score, median_score, optimality_gap, shares_above

# Three tasks, four runs each.
SCORES = [np.array(runs, float) for runs in ([0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.9, 1.2], [0.0, 0.0, 0.7, 0.8])]
scores = st.floats(min_value=-1, max_value=2).map(lambda x: round(x, 3))
few = st.lists(scores, min_size=1, max_size=7)


def arrays(*tasks: list[float]) -> list[np.ndarray]:
    return [np.array(task, float) for task in tasks]


def test_the_interquartile_mean_by_hand() -> None:
    # In order: 0 0 .1 | .2 .3 .4 .5 .6 .7 | .8 .9 1.2. Three of twelve are cut off at either end.
    assert float(interquartile_mean(SCORES)) == pytest.approx((0.2 + 0.3 + 0.4 + 0.5 + 0.6 + 0.7) / 6)


def test_mean_median_and_gap_by_hand() -> None:
    # Means of the tasks: 0.25, 0.8, 0.375.
    assert float(mean_score(SCORES)) == pytest.approx(1.425 / 3)
    assert float(median_score(SCORES)) == pytest.approx(0.375)
    # The 1.2 counts as 1: means of 0.25, 0.75, 0.375 fall short of 1 by 0.75, 0.25, 0.625.
    assert float(optimality_gap(SCORES)) == pytest.approx(1.625 / 3)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_with_equally_many_runs_they_are_as_published(tasks: int, runs: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).normal(0.5, 0.5, (runs, tasks))
    columns = list(matrix.T)
    assert float(interquartile_mean(columns)) == pytest.approx(trim_mean(matrix, 0.25, axis=None))
    assert float(mean_score(columns)) == pytest.approx(matrix.mean())
    assert float(median_score(columns)) == pytest.approx(np.median(matrix.mean(axis=0)))
    assert float(optimality_gap(columns)) == pytest.approx(1 - np.minimum(matrix, 1).mean())
    expected = [(matrix > tau).mean() for tau in (0.0, 0.5)]
    assert shares_above(columns, np.array([0.0, 0.5])) == pytest.approx(np.array(expected))


@given(st.lists(few, min_size=1, max_size=4))
def test_with_unequal_numbers_of_runs_it_is_as_if_runs_were_repeated(tasks: list[list[float]]) -> None:
    common = math.lcm(*map(len, tasks))
    repeated = np.concatenate([np.repeat(task, common // len(task)) for task in tasks])
    assert float(interquartile_mean(arrays(*tasks))) == pytest.approx(trim_mean(repeated, 0.25), abs=1e-9)


def test_a_task_does_not_weigh_more_for_having_more_runs() -> None:
    lopsided = arrays([0.0] * 30, [1.0, 1.0])
    for function in (interquartile_mean, mean_score, median_score, optimality_gap):
        assert float(function(lopsided)) == pytest.approx(0.5)
    # Numbers of runs without a common multiple to speak of.
    sizes = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67]
    assert float(interquartile_mean([np.full(size, 0.25) for size in sizes])) == pytest.approx(0.25)


def test_leading_axes_stay() -> None:
    rng = np.random.default_rng(1)
    for sizes in ((4, 4), (3, 5)):
        tasks = [rng.random((2, 6, size)) for size in sizes]
        for function in (interquartile_mean, mean_score, median_score, optimality_gap):
            assert function(tasks).shape == (2, 6)
            assert function(tasks)[1, 4] == pytest.approx(function([task[1, 4] for task in tasks]))
        assert shares_above(tasks, np.array([0.1, 0.2, 0.3])).shape == (3, 2, 6)


def test_a_share_is_of_runs_strictly_above() -> None:
    # Above 0.5: none of four, three of four, two of four.
    assert shares_above(SCORES, np.array([0.5])) == pytest.approx([(0 + 0.75 + 0.5) / 3])
    assert shares_above(SCORES, np.array([1.2])) == pytest.approx([0])


class TestImprovement:
    @given(few, few)
    def test_it_is_the_statistic_of_mann_and_whitney_over_the_pairs(self, x: list[float], y: list[float]) -> None:
        u = mannwhitneyu(x, y).statistic
        assert float(chance_of_beating(*arrays(x, y))) == pytest.approx(u / (len(x) * len(y)))

    def test_it_is_averaged_over_tasks_by_hand(self) -> None:
        # First task: of six pairs 2 > 1, 3 > 1 and 3 > 2 win, and 2 = 2 ties. Second task: all six tie.
        found = probability_of_improvement(arrays([2, 3], [0, 0]), arrays([1, 2, 5], [0, 0, 0]))
        assert float(found.value) == pytest.approx((3.5 / 6 + 0.5) / 2)

    def test_both_ways_make_one(self) -> None:
        rng = np.random.default_rng(2)
        ours, theirs = (list(rng.integers(0, 4, (3, 6)).astype(float)) for _ in range(2))
        forth, back = probability_of_improvement(ours, theirs), probability_of_improvement(theirs, ours)
        assert float(forth.value + back.value) == pytest.approx(1)
        assert 0 <= forth.low <= forth.value <= forth.high <= 1

    def test_a_method_that_always_wins_has_no_doubt_left_and_a_single_run_no_interval(self) -> None:
        found = probability_of_improvement(arrays([2, 3], [5, 6]), arrays([0, 1], [0, 1]))
        assert [float(end) for end in found] == [1, 1, 1]
        single = probability_of_improvement(arrays([2]), arrays([0, 3]))
        assert float(single.value) == 0.5
        assert np.isnan([single.low, single.high]).all()

    def test_other_numbers_of_tasks_are_refused(self) -> None:
        for ours, theirs in ((SCORES, SCORES[:2]), ([], [])):
            with pytest.raises(ValueError, match="tasks of one method"):
                probability_of_improvement(ours, theirs)

"""Ranks and their stability against SciPy and calculations by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from stats.measures.ranks import kendall_w, mean_ranks, rank_shares, task_ranks


def cells(means: list[list[float]], spread: float = 0.0) -> list[list[np.ndarray]]:
    """Two runs for each method and task, with these means."""
    return [[np.array([mean - spread, mean + spread]) for mean in row] for row in means]


def test_the_largest_is_first_and_ties_share() -> None:
    assert task_ranks([[0.9, 0.5], [0.9, 0.1], [0.2, 0.5]]).tolist() == [[1.5, 1.5], [1.5, 3], [3, 1.5]]


def test_rounding_error_does_not_rank() -> None:
    assert task_ranks([[0.1 + 0.2], [0.3]]).tolist() == [[1.5], [1.5]]


def test_mean_ranks_by_hand() -> None:
    # First, second and third; first and second swap on the third task.
    found = mean_ranks(cells([[0.9, 0.8, 0.5], [0.5, 0.6, 0.7], [0.1, 0.2, 0.3]]))
    assert found.value == pytest.approx([4 / 3, 5 / 3, 3])
    for end in (found.low, found.high):
        assert end == pytest.approx(found.value)


def test_ranks_that_other_runs_would_change_have_a_width() -> None:
    # Runs 0.35 and 0.75 against 0.3 and 0.7; those of the third, -0.2 and 0.2, are below both whatever is drawn.
    found = mean_ranks(cells([[0.55], [0.5], [0.0]], spread=0.2))
    assert found.value.tolist() == [1, 2, 3]
    assert found.low.tolist() == [1, 1, 3]
    assert found.high.tolist() == [2, 2, 3]


def test_shares_of_ranks_are_doubly_stochastic() -> None:
    rng = np.random.default_rng(5)
    shares = rank_shares([[rng.random(4), rng.random(6)] for _ in range(5)])
    assert shares.shape == (5, 5)
    assert shares.sum(axis=0) == pytest.approx(np.ones(5))
    assert shares.sum(axis=1) == pytest.approx(np.ones(5))


def test_shares_of_ranks_by_hand() -> None:
    # Drawn twice of 0 and 1, the first has means 0, 1/2 and 1 with chances 1/4, 1/2, 1/4; the second is always 1/2.
    # So the first wins in a quarter, loses in a quarter, and ties in half of the resamples.
    shares = rank_shares([[np.array([0.0, 1.0])], [np.array([0.5, 0.5])]], resamples=20000)
    assert shares == pytest.approx(np.full((2, 2), 0.5), abs=0.02)
    # With a third that is always last, nothing changes.
    three = rank_shares([[np.array([0.0, 1.0])], [np.array([0.6, 0.6])], [np.array([-1.0, -2.0])]], resamples=20000)
    assert three == pytest.approx(np.array([[0.25, 0.75, 0], [0.75, 0.25, 0], [0, 0, 1]]), abs=0.02)


def test_a_single_run_leaves_stability_unknown() -> None:
    methods = [[np.array([0.4])], [np.array([0.1, 0.3])]]
    assert rank_shares(methods) is None
    found = mean_ranks(methods)
    assert found.value.tolist() == [1, 2]
    assert np.isnan([found.low, found.high]).all()


class TestConcordance:
    def test_by_hand(self) -> None:
        # Ranks 1 2 3, 1 3 2 and 1 2 3 on three tasks: sums 3, 7, 8, deviations -3, 1, 2, so that S = 14.
        # W = 12 x 14 / (9 x 24).
        assert kendall_w([[3, 3, 3], [2, 1, 2], [1, 2, 1]]) == pytest.approx(168 / 216)

    @pytest.mark.parametrize("levels", [3, 1000])
    def test_it_is_friedmans_statistic_over_its_largest_value(self, levels: int) -> None:
        rng = np.random.default_rng(6)
        for _ in range(20):
            means = rng.integers(0, levels, (4, 6)).astype(float)
            assert kendall_w(means) == pytest.approx(friedmanchisquare(*means).statistic / (6 * 3))

    def test_agreement_is_one_and_contradiction_zero(self) -> None:
        assert kendall_w([[3, 30], [2, 20], [1, 10]]) == pytest.approx(1)
        assert kendall_w([[1, 2], [2, 1]]) == pytest.approx(0)

    @pytest.mark.parametrize("means", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 1.0], [1.0, 1.0]]])
    def test_it_is_undefined_for_one_method_one_task_or_nothing_but_ties(self, means: list[list[float]]) -> None:
        assert math.isnan(kendall_w(means))

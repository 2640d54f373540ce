"""The stratified bootstrap against all possible resamples, known truths, and its own promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from audit.measures.stratified import replicates, stratified_bootstrap
from stats.measures.aggregates import interquartile_mean, mean_score

STRATA = [np.array([0.1, 0.5, 0.9]), np.array([0.2, 0.3])]


def test_it_approaches_all_resamples_there_are() -> None:
    # 27 ways to draw three of three, 4 ways to draw two of two.
    every = [
        (np.mean(first) + np.mean(second)) / 2
        for first in itertools.product(STRATA[0], repeat=3)
        for second in itertools.product(STRATA[1], repeat=2)
    ]
    drawn = replicates(STRATA, mean_score, resamples=20000)
    assert drawn.shape == (20000,)
    assert drawn.mean() == pytest.approx(np.mean(every), abs=0.002)
    assert drawn.std() == pytest.approx(np.std(every), abs=0.002)
    found = stratified_bootstrap(STRATA, mean_score, resamples=20000)
    for end, chance in ((found.low, 0.025), (found.high, 0.975)):
        assert np.mean(np.array(every) < end - 1e-9) <= chance <= np.mean(np.array(every) <= end + 1e-9)


def test_runs_stay_in_their_task() -> None:
    # Runs of a task are alike, so that drawing within tasks changes nothing.
    found = stratified_bootstrap([np.zeros(5), np.ones(5)], mean_score)
    assert [float(end) for end in found] == [0.5, 0.5, 0.5]


def test_it_holds_a_known_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        strata = [rng.normal(centre, 0.2, 20) for centre in (0.0, 0.5, 1.0)]
        _, low, high = stratified_bootstrap(strata, mean_score, resamples=500)
        held += low <= 0.5 <= high
    assert 0.9 <= held / 200 <= 0.99


def test_the_same_runs_in_another_order_give_the_same_interval() -> None:
    rng = np.random.default_rng(4)
    strata = [rng.random(9), rng.random(7)]
    shuffled = [rng.permutation(stratum) for stratum in strata]
    first, again = stratified_bootstrap(strata, interquartile_mean), stratified_bootstrap(shuffled, interquartile_mean)
    assert [float(end) for end in again] == pytest.approx([float(end) for end in first], rel=1e-12)
    other = stratified_bootstrap(strata, interquartile_mean, seed=1)
    assert float(other.low) != float(first.low)


def test_values_of_one_run_stay_together() -> None:
    # The second row is the first plus one in every run, and so in every resample.
    rows = np.array([[0.3, 0.1, 0.8, 0.4], [1.3, 1.1, 1.8, 1.4]])
    drawn = replicates([rows, rows], mean_score)
    assert drawn.shape == (2, 2000)
    assert drawn[1] - drawn[0] == pytest.approx(np.ones(2000))


def test_many_values_are_drawn_in_parts() -> None:
    found = stratified_bootstrap(STRATA, mean_score, resamples=300, cost=1_000_000)
    assert found.low < found.value < found.high


def test_a_single_run_leaves_the_interval_unknown() -> None:
    found = stratified_bootstrap([np.array([0.4]), np.array([0.1, 0.3])], mean_score)
    assert float(found.value) == pytest.approx(0.3)
    assert np.isnan([found.low, found.high]).all()
    assert replicates([np.array([0.4])], mean_score) is None

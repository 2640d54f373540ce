"""Mean curves of runs, by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from stats.tables.curves import mean_curve


def iterations(*runs: list[float]) -> pd.DataFrame:
    rows = [
        {"run": run, "rollouts_spent": 40 * (i + 1), "kept_return": value}
        for run, values in enumerate(runs, start=1)
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_mean_and_deviation_over_runs_by_hand() -> None:
    points = mean_curve(iterations([1.0, 5.0], [3.0, 11.0]))
    assert points["rollouts_spent"].tolist() == [40, 80]
    assert points["mean"].tolist() == [2.0, 8.0]
    assert points["std"].tolist() == pytest.approx([math.sqrt(2), math.sqrt(18)])
    assert points["whole"].tolist() == [True, True]


def test_runs_of_unequal_length_are_averaged_over_those_that_are_left() -> None:
    points = mean_curve(iterations([1.0, 2.0, 9.0], [3.0]))
    assert points["mean"].tolist() == [2.0, 2.0, 9.0]
    assert points["runs"].tolist() == [2, 1, 1]
    assert points["whole"].tolist() == [True, False, False]


def test_one_run_has_no_deviation() -> None:
    assert mean_curve(iterations([1.0, 2.0]))["std"].isna().all()


def test_an_iteration_without_a_return_is_no_zero() -> None:
    points = mean_curve(iterations([1.0, math.nan], [3.0, 4.0]))
    assert points["mean"].tolist() == [2.0, 4.0]
    assert points["whole"].tolist() == [True, False]


def run_of(spent: list[int], returns: list[float], run: int = 1) -> pd.DataFrame:
    return pd.DataFrame({"run": run, "rollouts_spent": spent, "kept_return": returns})


def test_a_run_has_its_last_return_until_the_next_iteration() -> None:
    # The second run's first revision could not be read, so that its steps lie elsewhere.
    points = mean_curve(pd.concat([run_of([40, 80, 120], [1, 2, 3]), run_of([20, 60, 100], [10, 20, 30], run=2)]))
    assert points["rollouts_spent"].tolist() == [20, 40, 60, 80, 100, 120]
    assert points["mean"].tolist() == [10, (1 + 10) / 2, (1 + 20) / 2, (2 + 20) / 2, (2 + 30) / 2, 3]
    assert points["whole"].tolist() == [False, True, True, True, True, False]


def test_a_curve_of_nothing_is_empty() -> None:
    assert mean_curve(run_of([], [])).empty
    assert mean_curve(run_of([40], [math.nan])).empty


def test_the_bootstrap_band_is_that_of_scipy() -> None:
    returns = np.random.default_rng(5).normal(100, 15, size=(12, 2))
    frame = pd.concat([run_of([40, 80], list(row), run=i) for i, row in enumerate(returns)])
    points = mean_curve(frame, "bootstrap")
    for i in range(2):
        known = bootstrap((returns[:, i],), np.mean, method="percentile", n_resamples=9999, rng=1).confidence_interval
        assert points.loc[i, ["low", "high"]].tolist() == pytest.approx(list(known), abs=1.5)


def test_a_bootstrap_band_needs_two_runs() -> None:
    frame = pd.concat([run_of([40, 80, 120], [1, 5, 7]), run_of([40, 80], [3, 9], run=2)])
    points = mean_curve(frame, "bootstrap")
    assert points["low"].tolist()[:2] == [1, 5]
    assert points["high"].tolist()[:2] == [3, 9]
    assert math.isnan(points["low"][2])
    assert mean_curve(run_of([40], [1]), "bootstrap")[["low", "high"]].isna().all(axis=None)

"""Mean curves of runs, by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from stats.tables.curves import mean_curve


def run_of(returns: list[float], run: int = 1, spent: list[int] | None = None) -> pd.DataFrame:
    """A run that spends 40 rollouts an iteration, or these."""
    spent = spent or [40 * (i + 1) for i in range(len(returns))]
    return pd.DataFrame({"run": run, "rollouts_spent": spent, "kept_return": returns})


def iterations(*runs: list[float]) -> pd.DataFrame:
    return pd.concat([run_of(returns, number) for number, returns in enumerate(runs, start=1)])


def test_mean_and_deviation_over_runs_by_hand() -> None:
    points = mean_curve(iterations([1.0, 5.0], [3.0, 11.0]))
    assert points["rollouts_spent"].tolist() == [40, 80]
    assert points["mean"].tolist() == [2.0, 8.0]
    assert points["std"].tolist() == pytest.approx([math.sqrt(2), math.sqrt(18)])
    assert points["whole"].tolist() == [True, True]
    assert mean_curve(iterations([1.0, 2.0]))["std"].isna().all()
    assert mean_curve(run_of([])).empty
    assert mean_curve(run_of([math.nan])).empty


def test_points_are_averaged_over_the_runs_that_are_there() -> None:
    points = mean_curve(iterations([1.0, 2.0, 9.0], [3.0]))
    assert points["mean"].tolist() == [2.0, 2.0, 9.0]
    assert points["runs"].tolist() == [2, 1, 1]
    assert points["whole"].tolist() == [True, False, False]
    points = mean_curve(iterations([1.0, math.nan], [3.0, 4.0]))
    assert points["mean"].tolist() == [2.0, 4.0]
    assert points["whole"].tolist() == [True, False]
    # The second run's first revision could not be read, so that its steps lie elsewhere: it has its last return
    # until the next iteration.
    points = mean_curve(pd.concat([run_of([1, 2, 3]), run_of([10, 20, 30], 2, [20, 60, 100])]))
    assert points["rollouts_spent"].tolist() == [20, 40, 60, 80, 100, 120]
    assert points["mean"].tolist() == [10, (1 + 10) / 2, (1 + 20) / 2, (2 + 20) / 2, (2 + 30) / 2, 3]
    assert points["whole"].tolist() == [False, True, True, True, True, False]

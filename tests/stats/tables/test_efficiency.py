"""Sample-efficiency curves."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from stats.measures.aggregates import interquartile_mean
from stats.measures.scores import comparisons
from stats.tables.efficiency import EFFICIENCY_COLUMNS, budgets, efficiency, so_far
from stats.tables.metrics import Row
from tests.stats.comparing import UNIT


def iterations(*runs: tuple[str, str, list[float]], each: int = 10) -> pd.DataFrame:
    """Runs by env, variant and returns, of which every iteration spends `each` rollouts."""
    rows = [
        {"condition": "x", "env": env, "variant": variant, "run": run, "iteration": i, "kept_return": value}
        | {"rollouts_spent": each * (i + 1)}
        for run, (env, variant, returns) in enumerate(runs, start=1)
        for i, value in enumerate(returns)
    ]
    return pd.DataFrame(rows)


def curve(frame: pd.DataFrame, metric: str = "kept_return", points: int = 4) -> list[Row]:
    frame = frame.assign(score_of=so_far(frame, metric))
    scales = {("x", env): UNIT for env in set(frame["env"])}
    return efficiency(comparisons(frame, "score_of", scales), metric, points=points)


def test_what_a_run_would_report_so_far() -> None:
    frame = iterations(("maze", "r2po", [0.2, 0.6, math.nan, 0.4]), ("maze", "r2po", [0.9, 0.1]))
    expected = {
        "kept_return": [0.2, 0.6, math.nan, 0.4, 0.9, 0.1],
        "best_return": [0.2, 0.6, math.nan, 0.6, 0.9, 0.9],
        "mean_return": [0.2, 0.4, math.nan, 0.4, 0.9, 0.5],
    }
    for metric, values in expected.items():
        assert so_far(frame, metric).tolist() == pytest.approx(values, nan_ok=True)
    with pytest.raises(ValueError, match="metrics are"):
        so_far(frame, "median")


def test_budgets_lie_at_equal_distances_and_end_with_all() -> None:
    assert budgets(4000, 4).tolist() == [1000, 2000, 3000, 4000]
    assert budgets(50, 4).tolist() == [13, 25, 38, 50]
    assert budgets(2, 20).tolist() == [1, 2]


def test_the_curve_by_hand() -> None:
    rows = curve(iterations(("maze", "r2po", [0.1, 0.5]), ("maze", "r2po", [0.3, 0.7])))
    # Of 5, 10, 15 and 20 rollouts the first is too few for any iteration.
    assert [(row["rollouts"], row["runs"]) for row in rows] == [(10, 2), (15, 2), (20, 2)]
    assert [row["iqm"] for row in rows] == pytest.approx([0.2, 0.2, 0.6])
    assert all(row["low"] <= row["iqm"] <= row["high"] for row in rows)
    assert rows[0]["low"] == pytest.approx(0.1)


def test_it_is_the_interquartile_mean_over_tasks_at_every_point() -> None:
    rng = np.random.default_rng(9)
    values = {env: rng.random((5, 8)) for env in ("maze", "nim")}
    frame = iterations(*[(env, "r2po", list(run)) for env, runs in values.items() for run in runs])
    for place, row in enumerate(curve(frame, "best_return", points=8)):
        best = [runs[:, : place + 1].max(axis=1) for runs in values.values()]
        assert row["iqm"] == pytest.approx(float(interquartile_mean(best)))


def test_what_ended_is_not_carried_on_and_what_is_missing_is_noted() -> None:
    one, two = iterations(("maze", "props", [0.1] * 4)), iterations(("maze", "r2po", [0.1] * 4), each=20)
    rows = curve(pd.concat([one, two], ignore_index=True))
    reached = {method: [row["rollouts"] for row in rows if row["variant"] == method] for method in ("props", "r2po")}
    assert reached == {"props": [20, 40], "r2po": [20, 40, 60, 80]}
    rows = curve(iterations(*[("maze", "r2po", [0.5] * length) for length in (4, 4, 4, 2)]))
    assert [row["runs"] for row in rows] == [4, 4, 3, 3]
    assert [row["note"] for row in rows] == [None, None, *["1 of 4 runs are not here yet, or have ended"] * 2]
    # A task on which all runs ended leaves no mean over tasks.
    rows = curve(iterations(("maze", "r2po", [0.5] * 4), ("maze", "r2po", [0.7] * 4), ("nim", "r2po", [0.5] * 2)))
    assert [row["iqm"] is None for row in rows] == [False, False, True, True]
    assert (rows[0]["note"], rows[0]["low"], rows[0]["high"]) == ("a single run on nim", None, None)
    assert "no run on nim" in rows[3]["note"]
    # A method that lacks a task takes it from all.
    rows = curve(iterations(("maze", "r2po", [0.5]), ("nim", "r2po", [0.5]), ("nim", "props", [0.5])))
    assert {row["note"].split("; ")[0] for row in rows} == {"left out maze (no runs of props)"}
    rows = curve(iterations(("maze", "r2po", [0.5, math.nan, 0.7, 0.7]), ("maze", "r2po", [0.5] * 4)))
    assert {row["note"] for row in rows} == {"1 run misses a return"}
    assert [row["iqm"] for row in rows] == pytest.approx([0.5, 0.5, 0.6, 0.6])


def test_rows_are_valid_json_with_all_columns() -> None:
    for frame in (
        iterations(("maze", "r2po", [0.5])),
        iterations(("maze", "r2po", [math.nan])),
        iterations(("maze", "r2po", [0.5]), ("nim", "props", [0.5])),
    ):
        rows = curve(frame)
        assert rows
        assert json.loads(json.dumps(rows, allow_nan=False)) == rows
        assert all(set(row) == set(EFFICIENCY_COLUMNS) for row in rows)

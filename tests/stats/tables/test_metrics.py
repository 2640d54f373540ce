"""The tables made of runs."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest
from scipy import stats as scipy_stats

from stats.tables.metrics import Metric, compare, metrics


def runs(*cells: tuple[str, str, str, list[float], list[float]]) -> pd.DataFrame:
    rows = [
        {"condition": c, "env": e, "variant": v, "run": i, "mean_return": mean, "best_return": best}
        for c, e, v, means, bests in cells
        for i, (mean, best) in enumerate(zip(means, bests, strict=True), start=1)
    ]
    return pd.DataFrame(rows)


class TestMetrics:
    def test_by_hand(self) -> None:
        (row,) = metrics(runs(("x", "maze", "r2po", [0.2, 0.4], [0.9, 0.7])))
        assert row == pytest.approx(
            {"condition": "x", "env": "maze", "variant": "r2po", "runs": 2, "missing": 0}
            | {"mean_return": 0.3, "mean_return_std": math.sqrt(0.02), "mean_return_se": 0.1}
            | {"best_return": 0.8, "best_return_std": math.sqrt(0.02), "best_return_se": 0.1, "stability_gap": 0.5}
        )

    def test_what_is_missing(self) -> None:
        (row,) = metrics(runs(("x", "maze", "r2po", [0.2], [0.9])))
        assert (row["runs"], row["mean_return"], row["mean_return_std"], row["best_return_se"]) == (1, 0.2, None, None)
        (row,) = metrics(runs(("x", "maze", "r2po", [0.2, math.nan, 0.4], [0.9, math.nan, 0.7])))
        assert (row["runs"], row["missing"], row["mean_return"]) == (3, 1, pytest.approx(0.3))
        assert metrics(runs(("x", "maze", "r2po", [], [])).reindex(columns=["condition", "env", "variant"])) == []

    def test_conditions_are_never_pooled(self) -> None:
        rows = metrics(runs(("b", "maze", "r2po", [1.0], [1.0]), ("a", "maze", "r2po", [0.0], [0.0])))
        assert [(row["condition"], row["mean_return"]) for row in rows] == [("a", 0.0), ("b", 1.0)]


GRID = runs(
    ("x", "maze", "r2po", [0.8, 0.9, 0.7], [1.0, 1.0, 1.0]),
    ("x", "maze", "props", [0.1, 0.3, 0.2], [0.5, 0.5, 0.5]),
    ("x", "nim", "r2po", [0.6, 0.5, 0.7, 0.6], [1.0, 1.0, 1.0, 1.0]),
    ("x", "nim", "props", [0.5, 0.6, 0.4], [1.0, 1.0, 1.0]),
    ("x", "nim", "criticonly", [0.5], [1.0]),
)


class TestCompare:
    def test_holm_runs_over_the_tasks_of_one_baseline(self) -> None:
        rows = {(row["env"], row["baseline"]): row for row in compare(GRID, "r2po", "mean_return")}
        maze = scipy_stats.ttest_ind([0.8, 0.9, 0.7], [0.1, 0.3, 0.2], equal_var=False)
        nim = scipy_stats.ttest_ind([0.6, 0.5, 0.7, 0.6], [0.5, 0.6, 0.4], equal_var=False)
        assert maze.pvalue < nim.pvalue < 1
        assert rows["maze", "props"]["welch_t"] == pytest.approx(maze.statistic)
        assert rows["maze", "props"]["df"] == pytest.approx(maze.df)
        assert rows["maze", "props"]["raw_p"] == pytest.approx(maze.pvalue)
        assert rows["maze", "props"]["holm_p"] == pytest.approx(2 * maze.pvalue)
        assert rows["nim", "props"]["holm_p"] == pytest.approx(max(nim.pvalue, 2 * maze.pvalue))
        assert rows["maze", "props"]["gap"] == pytest.approx(0.6)
        # Both deviate by 0.1, so d is 6; J(4) is sqrt(2 / pi).
        assert rows["maze", "props"]["hedges_g"] == pytest.approx(6 * math.sqrt(2 / math.pi))
        assert (
            rows["maze", "props"]["hedges_g_low"] < 6 * math.sqrt(2 / math.pi) < rows["maze", "props"]["hedges_g_high"]
        )
        assert rows["maze", "props"]["family"] == 2

    def test_missing_cells_and_single_runs_are_shown_and_not_counted(self) -> None:
        grid = pd.concat([GRID, runs(("x", "pong", "props", [1.0, 2.0], [3.0, 3.0]))])
        rows = {(row["env"], row["baseline"]): row for row in compare(grid, "r2po", "mean_return")}
        assert rows["nim", "criticonly"]["note"] == "fewer than two runs"
        assert rows["maze", "criticonly"]["note"] == "no runs of the baseline"
        for env in ("nim", "maze"):
            row = rows[env, "criticonly"]
            assert (row["raw_p"], row["holm_p"], row["significant"], row["family"]) == (None, None, None, 0)
        row = rows["pong", "props"]
        assert (row["note"], row["reference_mean"], row["baseline_mean"]) == ("no runs of the reference", None, 1.5)

    def test_methods_that_do_not_vary(self) -> None:
        rows = {row["env"]: row for row in compare(GRID, "r2po", "best_return") if row["baseline"] == "props"}
        assert (rows["nim"]["welch_t"], rows["nim"]["raw_p"], rows["nim"]["note"]) == (0.0, 1.0, "neither varies")
        assert (rows["maze"]["welch_t"], rows["maze"]["raw_p"]) == (None, 0.0)
        assert rows["maze"]["note"] == "neither varies; t is infinite"
        assert rows["maze"]["significant"] is True
        assert (rows["nim"]["hedges_g"], rows["maze"]["hedges_g"]) == (0.0, None)
        for row in rows.values():
            assert (row["hedges_g_low"], row["hedges_g_high"]) == (None, None)

    def test_rows_are_valid_json(self) -> None:
        # Two tasks on which the reference has one run, or none, beside what the others lack in `GRID`.
        lacking = runs(
            ("x", "pong", "r2po", [1.0], [2.0]),
            ("x", "pong", "props", [1.0], [3.0]),
            ("x", "swimmer", "props", [1.0], [2.0]),
        )
        metric: Metric
        for metric in ("mean_return", "best_return"):
            rows = compare(pd.concat([GRID, lacking]), "r2po", metric)
            assert len(rows) == 8
            # NaN and infinity are refused, and so are the numbers of NumPy that only look like Python's.
            assert json.loads(json.dumps(rows, allow_nan=False)) == rows
            ends = [f"{who}_{what}" for who in ("reference", "baseline") for what in ("mean", "std")]
            for name in (*ends, "gap", "welch_t", "df", "hedges_g"):
                assert any(row[name] is None for row in rows), name

    def test_alpha_decides_what_is_significant(self) -> None:
        corrected = {row["env"]: row["holm_p"] for row in compare(GRID, "r2po", "mean_return") if row["family"]}
        for alpha, maze in ((corrected["maze"], True), (0.999 * corrected["maze"], False)):
            rows = compare(GRID, "r2po", "mean_return", alpha=alpha)
            assert {row["env"]: row["significant"] for row in rows if row["family"]} == {"maze": maze, "nim": False}

    def test_conditions_are_never_pooled(self) -> None:
        twice = pd.concat([GRID, GRID.assign(condition="y")])
        alone = [row["holm_p"] for row in compare(GRID, "r2po", "mean_return")]
        for condition in ("x", "y"):
            rows = [row for row in compare(twice, "r2po", "mean_return") if row["condition"] == condition]
            assert [row["holm_p"] for row in rows] == alone

    def test_what_cannot_be_compared_is_refused(self) -> None:
        for reference, alpha, message in (("sac", 0.05, "here: criticonly, props, r2po"), ("r2po", 0.0, "alpha")):
            with pytest.raises(ValueError, match=message):
                compare(GRID, reference, "mean_return", alpha)

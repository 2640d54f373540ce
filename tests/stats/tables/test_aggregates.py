"""The tables of methods over tasks."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from stats.tables.aggregates import (
    AGGREGATE_COLUMNS,
    PROFILE_COLUMNS,
    RANK_COLUMNS,
    aggregate,
    profile,
    ranks,
)
from stats.tables.metrics import Row
from tests.stats.comparing import Cells, compared

GRID: Cells = {
    ("r2po", "maze"): [0.8, 0.9, 0.7, 1.0],
    ("r2po", "nim"): [0.6, 0.5, 0.7, 0.6],
    ("props", "maze"): [0.1, 0.3, 0.2, 0.8],
    ("props", "nim"): [0.5, 0.6, 0.4, 0.1],
}


def table(cells: Cells, reference: str = "r2po") -> dict[str, Row]:
    return {row["variant"]: row for row in aggregate([compared(cells)], "mean_return", reference)}


class TestAggregate:
    def test_by_hand(self) -> None:
        rows = table(GRID)
        ours, theirs = rows["r2po"], rows["props"]
        # In order: .5 .6 | .6 .7 .7 .8 | .9 1 and .1 .1 | .2 .3 .4 .5 | .6 .8.
        assert ours["iqm"] == pytest.approx(2.8 / 4)
        assert theirs["iqm"] == pytest.approx(1.4 / 4)
        # Means 0.85 and 0.6, 0.35 and 0.4; with two tasks the median is their mean.
        assert (ours["mean"], ours["median"], ours["optimality_gap"]) == pytest.approx((0.725, 0.725, 0.275))
        assert theirs["mean"] == pytest.approx(0.375)
        # Maze: against .1 .2 .3 all twelve pairs win, against .8 two win and one ties. Nim: against .5, .6, .4 and .1
        # there win 3 with a tie, 1 with two ties, 4 and 4.
        assert theirs["probability_of_improvement"] == pytest.approx(((12 + 2.5) / 16 + (3.5 + 2 + 4 + 4) / 16) / 2)
        assert ours["probability_of_improvement"] is None
        assert (ours["mean_rank"], theirs["mean_rank"]) == (1, 2)
        assert (ours["tasks"], ours["runs"], ours["note"]) == (2, 8, None)
        for row in rows.values():
            for name in ("iqm", "optimality_gap", "mean_rank"):
                assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]

    def test_a_methods_row_depends_on_its_own_runs_in_any_order(self) -> None:
        turned = {cell: list(reversed(values)) for cell, values in reversed(GRID.items())}
        assert table(GRID) == table(GRID) == table(turned)
        alone = table({cell: values for cell, values in GRID.items() if cell[0] == "r2po"})["r2po"]
        for name in ("iqm", "iqm_low", "iqm_high", "optimality_gap_low", "optimality_gap_high"):
            assert alone[name] == table(GRID)["r2po"][name]

    def test_what_is_missing_is_noted(self) -> None:
        rows = table({**GRID, ("critic", "maze"): [0.5, 0.7]})
        for row in rows.values():
            assert (row["tasks"], row["note"].split("; ")[0]) == (1, "left out nim (no runs of critic)")
        assert rows["r2po"]["iqm"] == pytest.approx(0.85)
        rows = table({**GRID, ("props", "nim"): [0.5, 0.6, math.nan]})
        assert rows["r2po"]["note"] is None
        assert (rows["props"]["note"], rows["props"]["runs"]) == ("1 run misses a return; 2 to 4 runs a task", 6)
        assert rows["props"]["iqm_low"] is not None
        for row in table({("r2po", "maze"): [0.5, 0.6], ("props", "nim"): [0.1, 0.2]}).values():
            assert (row["tasks"], row["runs"], row["iqm"], row["mean_rank"]) == (0, 0, None, None)
            assert row["note"] == "left out maze (no runs of props), nim (no runs of r2po); no task is left"
        for row in table({("props", "maze"): [0.5, 0.6], ("critic", "maze"): [0.5, 0.5]}).values():
            assert (row["probability_of_improvement"], row["note"]) == (None, "no runs of r2po")

    def test_one_run_has_no_interval_and_neither_has_what_is_compared_with_it(self) -> None:
        rows = table({**GRID, ("props", "nim"): [0.5]})
        note = "no interval from a single run: props on nim"
        assert rows["r2po"]["note"] == note
        assert rows["props"]["note"] == f"1 to 4 runs a task; {note}"
        assert rows["r2po"]["iqm_low"] is not None
        assert rows["props"]["probability_of_improvement"] is not None
        for row, names in ((rows["props"], ("iqm", "probability_of_improvement")), (rows["r2po"], ("mean_rank",))):
            assert {row[f"{name}_{end}"] for name in names for end in ("low", "high")} == {None}
        cells = {(method, env): [0.5] for method in ("r2po", "props") for env in ("maze", "nim", "pong")}
        note = "no interval from a single run: props on maze, props on nim, props on pong, 3 more"
        assert {row["note"] for row in table(cells).values()} == {note}
        own = [row["note"] for row in profile([compared(cells)], "mean_return", [0.5]) if row["variant"] == "r2po"]
        assert own == ["no interval from a single run: r2po on maze, r2po on nim, r2po on pong"]

    def test_methods_that_tie_everywhere(self) -> None:
        rows = table({(method, "maze"): [1.0, 1.0] for method in ("r2po", "props")})
        for row in rows.values():
            assert (row["iqm"], row["iqm_low"], row["iqm_high"], row["optimality_gap"]) == (1, 1, 1, 0)
            assert (row["mean_rank"], row["mean_rank_low"], row["mean_rank_high"]) == (1.5, 1.5, 1.5)
        assert rows["props"]["probability_of_improvement"] == 0.5


def test_a_profile_by_hand() -> None:
    rows = profile([compared(GRID)], "mean_return", [0.0, 0.55, 1.0])
    shares = {(row["variant"], row["tau"]): row["share"] for row in rows}
    # Above 0.55: all four and three of r2po's; one and one of props'.
    assert (shares["r2po", 0.55], shares["props", 0.55]) == pytest.approx((0.875, 0.25))
    assert {shares[method, tau] for method in ("r2po", "props") for tau in (0.0,)} == {1}
    assert shares["r2po", 1.0] == 0
    assert all(row["low"] <= row["share"] <= row["high"] for row in rows)


def test_ranks_by_hand() -> None:
    rows = ranks([compared({**GRID, ("last", "maze"): [0.0, 0.05], ("last", "nim"): [0.0, 0.05]})], "mean_return")
    shares = {(row["variant"], row["rank"]): row["share"] for row in rows}
    assert shares["last", 3] == 1
    assert shares["r2po", 1] > 0.95
    assert {row["kendall_w"] for row in rows} == {1}
    assert sum(shares[method, 1] for method in ("last", "props", "r2po")) == pytest.approx(1)


AWKWARD: list[Cells] = [
    GRID,
    {("r2po", "maze"): [0.5]},
    {("r2po", "maze"): [math.nan], ("props", "maze"): [math.inf, 0.4]},
    {("r2po", "maze"): [0.5, 0.5], ("props", "nim"): [0.5]},
    {**GRID, ("props", "nim"): [math.nan, 0.2], ("critic", "maze"): [1.5, -3.0, 0.0]},
]


def test_rows_are_valid_json_with_all_columns() -> None:
    for comparison in ([compared(cells)] for cells in AWKWARD):
        tables = {
            AGGREGATE_COLUMNS: aggregate(comparison, "mean_return", "r2po", resamples=100),
            PROFILE_COLUMNS: profile(comparison, "mean_return", np.linspace(0, 1, 3), resamples=100),
            RANK_COLUMNS: ranks(comparison, "mean_return", resamples=100),
        }
        for columns, rows in tables.items():
            assert rows
            assert json.loads(json.dumps(rows, allow_nan=False)) == rows
            assert all(set(row) == set(columns) for row in rows)

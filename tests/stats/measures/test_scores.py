"""Normalised scores, and which tasks methods are compared on."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from stats.measures.scores import Scale, comparisons, find_scales
from tests.stats.comparing import UNIT, compared, frame


def facts(*rows: tuple[str, float, float]) -> pd.DataFrame:
    return pd.DataFrame([{"condition": "x", "env": e, "floor": f, "optimum": o} for e, f, o in rows])


class TestScales:
    @pytest.mark.parametrize(
        ("rows", "scale"),
        [
            ([("nim", -1.0, 1.0), ("nim", -1.0, 1.0)], Scale(-1, 1)),
            # What some runs state holds for those that state nothing.
            ([("nim", math.nan, 1.0), ("nim", -1.0, math.nan)], Scale(-1, 1)),
            ([("nim", -1.0, 1.0), ("nim", -1.0, 2.0)], "its runs differ in optimum"),
            ([("nim", -1.0, 1.0), ("nim", 0.0, 1.0)], "its runs differ in floor"),
            ([("nim", -1.0, math.nan)], "no optimum known"),
            ([("nim", math.nan, math.inf)], "no floor known"),
            ([("nim", 1.0, 1.0)], "its optimum is not above its floor"),
        ],
    )
    def test_they_are_what_the_records_say(self, rows: list[tuple[str, float, float]], scale: Scale | str) -> None:
        assert find_scales(facts(*rows), {}, {}) == {("x", "nim"): scale}

    def test_what_is_given_goes_first_and_what_is_known_last(self) -> None:
        records = facts(("nim", -1.0, 1.0), ("maze", math.nan, math.nan), ("pong", 0.0, math.nan))
        scales = find_scales(records, {"nim": Scale(0, 10)}, {"nim": Scale(5, 6), "maze": UNIT, "pong": Scale(1, 3)})
        assert scales == {("x", "nim"): Scale(0, 10), ("x", "maze"): UNIT, ("x", "pong"): Scale(0, 3)}

    def test_conditions_have_their_own(self) -> None:
        both = pd.concat([facts(("nim", 0.0, 1.0)), facts(("nim", 0.0, 2.0)).assign(condition="y")])
        assert find_scales(both, {}, {}) == {("x", "nim"): Scale(0, 1), ("y", "nim"): Scale(0, 2)}


def test_the_floor_scores_zero_and_the_optimum_one() -> None:
    comparison = compared({("r2po", "car"): [-200, -120, -160, -100, -240]}, car=Scale(-200, -120))
    assert comparison.samples("r2po")[0].tolist() == [0, 1, 0.5, 1.25, -0.5]


def test_rounding_error_leaves_ties() -> None:
    (runs,) = compared({("r2po", "maze"): [0.1 + 0.2, 0.3]}).samples("r2po")
    assert runs[0] == runs[1]


def test_tasks_that_a_method_lacks_are_left_out_and_said() -> None:
    comparison = compared(
        {
            ("r2po", "maze"): [0.5, 0.6],
            ("r2po", "nim"): [0.5],
            ("r2po", "pong"): [0.5],
            ("props", "maze"): [0.1],
            ("props", "nim"): [math.nan],
            ("critic", "maze"): [0.2],
        }
    )
    assert comparison.tasks == ("maze",)
    assert [len(runs) for runs in comparison.samples("r2po")] == [2]
    assert comparison.remarks == (
        "left out nim (no runs of critic and no returns of props), pong (no runs of critic, props)",
    )


def test_tasks_without_a_scale_are_left_out_and_said() -> None:
    comparison = compared({("r2po", "maze"): [0.5], ("r2po", "own"): [7.0]}, own="no optimum known")
    assert comparison.tasks == ("maze",)
    assert comparison.remarks == ("left out own (no optimum known)",)


def test_a_task_that_nobody_has_facts_of_is_left_out() -> None:
    (comparison,) = comparisons(frame({("r2po", "maze"): [0.5]}), "mean_return", {})
    assert (comparison.tasks, comparison.remarks) == ((), ("left out maze (no optimum known)",))


@pytest.mark.parametrize("lacking", [math.nan, math.inf, None])
def test_runs_that_miss_a_return_are_counted(lacking: float | None) -> None:
    comparison = compared({("r2po", "maze"): [0.5, lacking], ("props", "maze"): [0.1, 0.2]})
    assert comparison.missing == {"r2po": 1, "props": 0}
    assert comparison.note_missing("r2po") == ["1 run misses a return"]
    assert comparison.note_missing("props") == []
    assert [len(runs) for runs in comparison.samples("r2po")] == [1]


def test_conditions_are_compared_apart() -> None:
    both = pd.concat([frame({("r2po", "maze"): [0.5]}), frame({("props", "nim"): [0.5]}, condition="y")])
    found = comparisons(both, "mean_return", {("x", "maze"): UNIT, ("y", "nim"): UNIT})
    assert [(each.condition, each.methods, each.tasks) for each in found] == [
        ("x", ("r2po",), ("maze",)),
        ("y", ("props",), ("nim",)),
    ]


def test_no_runs_give_nothing_to_compare() -> None:
    assert comparisons(frame({("r2po", "maze"): [0.5]}).iloc[:0], "mean_return", {}) == []

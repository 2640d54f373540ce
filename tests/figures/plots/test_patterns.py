"""Edit patterns, salience bars and the map of revisions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from figures.data import Records
from figures.plots import edits, patterns, salience
from figures.plots import revisions as every
from figures.plots.drawing import Drawing
from figures.plots.patterns import shares
from figures.plots.salience import by_run
from figures.tables import counted

SALIENT = "simulated-salient"


def revisions(*kinds: tuple[str, str | None]) -> pd.DataFrame:
    return pd.DataFrame([{"direction": direction, "pattern": pattern} for direction, pattern in kinds])


def drawn(drawings: list[Drawing]) -> Drawing:
    [drawing] = drawings
    return drawing


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def panel(drawing: Drawing, title: str) -> Axes:
    (ax,) = (ax for ax in drawing.figure.axes if ax.get_title(loc="left") == title)
    return ax


def test_shares_run_from_worst_to_best_and_sum_to_100() -> None:
    table = shares(
        revisions(
            ("improvement", "fine_tune"),
            ("regression", "near_optimal_break"),
            ("no_change", None),
            ("regression", "near_optimal_break"),
            ("improvement", None),
        )
    )
    assert table == {"near_optimal_break": 40.0, "no_change": 20.0, "unclassified": 20.0, "fine_tune": 20.0}


def test_a_pattern_nobody_knows_is_kept() -> None:
    assert shares(revisions(("regression", "novel"), ("regression", "full_redesign"))) == {
        "full_redesign": 50.0,
        "novel": 50.0,
    }


def test_no_revisions_have_no_shares() -> None:
    assert shares(revisions(("regression", "novel")).iloc[:0]) == {}


def test_every_bar_is_whole_and_an_empty_cell_says_so(records: Records) -> None:
    ax = panel(drawn(patterns.draw(records, SALIENT)), "FrozenLake")
    widths: dict[float, float] = {}
    for bar in ax.patches:
        assert isinstance(bar, Rectangle)
        widths[bar.get_y()] = widths.get(bar.get_y(), 0.0) + bar.get_width()
    assert list(widths.values()) == pytest.approx([100.0, 100.0])
    assert "– no revisions" in words(ax)
    assert {"12", "6"} <= set(words(ax))


def test_bars_and_the_table_have_the_same_percentages(records: Records) -> None:
    """30.5 is no 30, and 33.5 no 34: half of a percent is not rounded to an even number."""
    sized = records.revisions.dropna(subset=["edit_distance"]).iloc[[0] * 200]
    numbers = {"near_optimal_break": 61, "full_redesign": 67, "pure_stochasticity": 72}
    drawn_by_hand = sized.assign(
        direction="regression", pattern=[pattern for pattern, number in numbers.items() for _ in range(number)]
    )
    frame = replace(records, revisions=drawn_by_hand)
    [ax] = drawn(patterns.draw(frame, str(sized["condition"].iloc[0]))).figure.axes
    [row] = patterns.counts(drawn_by_hand)
    in_table = {f"{pattern}": counted(pattern, pattern).read(row) for pattern in numbers}
    assert in_table == {
        "near_optimal_break": "61 (30.5%)",
        "full_redesign": "67 (33.5%)",
        "pure_stochasticity": "72 (36.0%)",
    }
    assert sorted(words(ax)) == ["200", "30.5", "33.5", "36", "n"]


@pytest.mark.parametrize("draw", [patterns.draw, edits.draw])
def test_without_parameters_there_are_no_patterns_and_no_edits(records: Records, draw: Any) -> None:
    """As of a log of returns alone: a bar of what cannot be classified would show nothing about the critic."""
    returns = records.revisions.assign(edit_distance=math.nan, pattern=None)
    assert draw(replace(records, revisions=returns), SALIENT) == []
    frame = records.revisions.copy()
    frame.loc[frame["env"] == "cartpole", ["edit_distance", "pattern"]] = [math.nan, None]
    drawing = drawn(draw(replace(records, revisions=frame), SALIENT))
    # A task, and a method, that have nothing to show have no panel.
    assert "CartPole" not in {
        word for ax in drawing.figure.axes for word in (ax.get_title(loc="left"), ax.get_ylabel()[:8])
    }
    assert "R2PO" not in {ax.get_title(loc="left") for ax in drawing.figure.axes}
    assert "without parameters" in drawing.note
    legend = {entry.get_text() for entry in drawing.figure.legends[0].get_texts()}
    assert legend & {"near-optimal break", "near-optimal break, surgical backfire"}


def test_shares_of_single_runs_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "run": [1, 1, 1, 2, 2, 3],
            "direction": ["regression", "regression", "improvement", "regression", "regression", "improvement"],
            "strict": [True, False, None, None, False, None],
        }
    )
    table = by_run(frame, "strict")
    assert table.to_dict("list") == {"run": [1, 2], "regressions": [2, 2], "pct": [50.0, 0.0]}


def test_salience_bars_are_percent_of_regressions(records: Records) -> None:
    ax = drawn(salience.draw(records, SALIENT)).figure.axes[0]
    # Two runs of threetraj with three regressions each: one strict, two permissive.
    assert [bar.get_width() for bar in ax.patches if isinstance(bar, Rectangle)] == pytest.approx(
        [200 / 3, 100 / 3] * 2
    )
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["FrozenLake\nn = 6", "CartPole\nn = 6"]
    assert [len(line.get_ydata()) for line in ax.lines] == [2, 2, 2, 2]


def test_a_task_without_regressions_has_a_dash_and_a_word(records: Records) -> None:
    none = {"regressions": 0, "strict": 0, "permissive": 0, "strict_pct": None}
    summary = [row | (none if row["env"] == "cartpole" else {}) for row in records.salience]
    drawing = drawn(salience.draw(replace(records, salience=summary), SALIENT))
    assert words(drawing.figure.axes[0]) == ["–"]
    assert "No regressions on CartPole." in drawing.note


def test_every_revision_has_one_mark(records: Records) -> None:
    drawing = drawn(every.draw(records, SALIENT))
    marks = [tuple(xy) for ax in drawing.figure.axes for path in ax.collections for xy in path.get_offsets()]
    here = records.revisions[records.revisions["condition"] == SALIENT]
    assert sorted(marks) == sorted(zip(here["r0"], here["delta"], strict=True))


def test_revisions_without_a_return_are_counted(records: Records) -> None:
    frame = records.revisions.copy()
    frame.loc[0, "r0"] = math.nan
    assert "1 without a return are not drawn." in drawn(every.draw(replace(records, revisions=frame), SALIENT)).note


@pytest.mark.parametrize("draw", [patterns.draw, every.draw])
def test_one_call_methods_alone_have_no_such_figure(records: Records, draw: Any) -> None:
    assert draw(replace(records, revisions=records.revisions.iloc[:0]), SALIENT) == []


def test_without_anyone_who_saw_the_worst_there_is_no_salience_figure(records: Records) -> None:
    assert salience.draw(records, "elsewhere") == []

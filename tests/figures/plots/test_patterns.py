"""Figures of revisions: edit patterns, salience, citing and base rates, structures, sizes of edits, noise floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from figures.data import Records
from figures.plots import agreement, citing, edits, noise, patterns, salience
from figures.plots import revisions as every
from figures.plots.agreement import delta_interval
from figures.plots.drawing import Drawing
from figures.plots.edits import medians, spread
from figures.plots.marks import ROUGH_ALPHA
from figures.plots.patterns import shares
from figures.plots.salience import by_run
from figures.tables import counted
from tests.figures.conftest import REAL, SALIENT


def drawn(drawings: Sequence[Drawing]) -> Drawing:
    [drawing] = drawings
    return drawing


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def places(drawing: Drawing) -> list[tuple[float, float]]:
    return sorted(tuple(xy) for ax in drawing.figure.axes for each in ax.collections for xy in each.get_offsets())


def test_shares_run_from_worst_to_best_and_sum_to_100() -> None:
    kinds = [("improvement", "fine_tune"), ("regression", "near_optimal_break"), ("no_change", None)]
    kinds += [("regression", "near_optimal_break"), ("improvement", None)]
    frame = pd.DataFrame(kinds, columns=["direction", "pattern"])
    assert shares(frame) == {
        "near_optimal_break": 40.0,
        "no_change": 20.0,
        "unclassified": 20.0,
        "fine_tune": 20.0,
    }
    assert list(shares(frame.assign(pattern="novel"))) == ["novel"]
    assert shares(frame.iloc[:0]) == {}


def test_bars_and_the_table_have_the_same_percentages(records: Records) -> None:
    """30.5 is no 30, and 33.5 no 34: half of a percent is not rounded to an even number."""
    sized = records.revisions.dropna(subset=["edit_distance"]).iloc[[0] * 200]
    numbers = {"near_optimal_break": 61, "full_redesign": 67, "pure_stochasticity": 72}
    by_hand = sized.assign(
        direction="regression", pattern=[pattern for pattern, number in numbers.items() for _ in range(number)]
    )
    [ax] = drawn(patterns.draw(replace(records, revisions=by_hand), str(sized["condition"].iloc[0]))).figure.axes
    [row] = patterns.counts(by_hand)
    assert [counted(pattern, pattern).read(row) for pattern in numbers] == ["61 (30.5%)", "67 (33.5%)", "72 (36.0%)"]
    assert sorted(words(ax)) == ["200", "30.5", "33.5", "36", "n"]


def test_without_parameters_there_are_no_patterns_and_no_edits(records: Records) -> None:
    """As of a log of returns alone: a bar of what cannot be classified would show nothing about the critic."""
    returns = records.revisions.assign(edit_distance=math.nan, pattern=None)
    frame = records.revisions.copy()
    frame.loc[frame["env"] == "cartpole", ["edit_distance", "pattern"]] = [math.nan, None]
    for draw in (patterns.draw, edits.draw):
        assert draw(replace(records, revisions=returns), SALIENT) == []
        drawing = drawn(draw(replace(records, revisions=frame), SALIENT))
        # A task, and a method, that have nothing to show have no panel.
        names = {word for ax in drawing.figure.axes for word in (ax.get_title(loc="left"), ax.get_ylabel()[:8])}
        assert not {"CartPole", "R2PO"} & names
        assert "without parameters" in drawing.note
        legend = {entry.get_text() for entry in drawing.figure.legends[0].get_texts()}
        assert legend & {"near-optimal break", "near-optimal break, surgical backfire"}


def test_shares_of_single_runs_and_a_task_without_regressions(records: Records) -> None:
    frame = pd.DataFrame(
        {
            "run": [1, 1, 1, 2, 2, 3],
            "direction": ["regression", "regression", "improvement", "regression", "regression", "improvement"],
            "strict": [True, False, None, None, False, None],
        }
    )
    assert by_run(frame, "strict").to_dict("list") == {"run": [1, 2], "regressions": [2, 2], "pct": [50.0, 0.0]}
    none = {"regressions": 0, "strict": 0, "permissive": 0, "strict_pct": None}
    summary = [row | (none if row["env"] == "cartpole" else {}) for row in records.salience]
    drawing = drawn(salience.draw(replace(records, salience=summary), SALIENT))
    assert words(drawing.figure.axes[0]) == ["–"]
    assert "No regressions on CartPole." in drawing.note


def test_revisions_without_a_mark_are_counted(records: Records) -> None:
    here = records.revisions[records.revisions["condition"] == SALIENT]
    frame = records.revisions.copy()
    frame.loc[0, ["r0", "edit_distance"]] = math.nan
    lacking = replace(records, revisions=frame)
    assert "1 without a return are not drawn." in drawn(every.draw(lacking, SALIENT)).note
    drawing = drawn(edits.draw(lacking, SALIENT))
    assert len(places(drawing)) == len(here) - 1
    assert "1 without parameters or a return are not drawn." in drawing.note
    assert "– no revisions" in [word for ax in drawing.figure.axes for word in words(ax)]


def test_marks_of_one_edit_distance_stay_with_it_and_medians_need_five_revisions() -> None:
    assert np.abs(spread(50)).max() <= 0.3
    assert len(set(spread(50).tolist())) == 50
    frame = pd.DataFrame({"edit_distance": [1] * 5 + [2] * 4, "delta": [1.0, 2.0, 9.0, 4.0, 5.0, 1.0, 1.0, 1.0, 1.0]})
    assert medians(frame).to_dict() == {1: 4.0}
    assert medians(frame.assign(delta=math.nan)).empty


def test_intervals_draw_whole_runs() -> None:
    frame = pd.DataFrame({"run": [1, 1, 2, 2, 2], "delta": [1.0, 3.0, 7.0, 9.0, math.nan]})
    assert delta_interval(frame) == (2.0, 8.0)
    assert all(map(math.isnan, delta_interval(frame[frame["run"] == 1])))


def test_what_is_missing_of_shares_that_cite_and_of_ratios(records: Records) -> None:
    drawing = drawn(citing.draw(records, SALIENT))
    _, right = drawing.figure.axes
    # An upper end that is null while the lower one is known has no bound: it runs to the edge.
    (first, _) = [line for line in right.lines if len(set(map(float, line.get_xdata()))) > 1]
    assert list(map(float, first.get_xdata())) == [0.5, right.get_xlim()[1]]
    assert (first.get_alpha(), "A pale line is a rough interval" in drawing.caption) == (ROUGH_ALPHA, True)
    assert "detector word" in drawing.note
    rows = [{**row, "risk_ratio": 0.0, "risk_ratio_low": 0.0, "risk_ratio_high": 0.4} for row in records.rates]
    right = drawn(citing.draw(replace(records, rates=rows), SALIENT)).figure.axes[1]
    assert words(right).count("0: none that cites regressed") == 2
    row = next(row for row in records.rates if row["condition"] == REAL)
    nothing = {"improvements": 0, "citing_improvements_pct": None, "risk_ratio": None}
    drawing = drawn(citing.draw(replace(records, rates=[{**row, **nothing}]), REAL))
    [left] = drawing.figure.axes
    hollow = [line.get_markerfacecolor() for line in left.lines if line.get_marker() != "None"]
    assert hollow == ["white", "white"]
    assert "No intervals from one run. No risk ratio can be computed." in drawing.note
    assert "–" in words(left)


def test_structures_that_nobody_knows_are_drawn_all_the_same(records: Records) -> None:
    rows = [{**row, "structure": "novel", "mean_delta": None} for row in records.agreement[:1]]
    unknown = replace(records, agreement=rows, revisions=records.revisions.iloc[:0])
    drawing = drawn(agreement.draw(unknown, rows[0]["condition"]))
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()] == ["novel"]


def test_what_could_not_be_tested_is_noted(records: Records) -> None:
    unknown: dict[str, Any] = {"expected_regressions_pct": None, "expected_pooled_pct": None}
    half = [{**records.noise[0], "tested": 0, **unknown}, records.noise[1]]
    condition = half[0]["condition"]
    assert noise.draw(replace(records, noise=half[:1]), condition) == []
    both = [half[0], {**half[1], "condition": condition, "env": "pong"}]
    note = drawn(noise.draw(replace(records, noise=both), condition)).note
    assert f"Not tested, for candidates with different numbers of rollouts: {half[0]['revisions']}." in note


def test_a_condition_with_nothing_to_show_has_no_figure(records: Records) -> None:
    none = replace(records, revisions=records.revisions.iloc[:0])
    for draw in (citing.draw, agreement.draw, edits.draw, noise.draw, salience.draw, patterns.draw, every.draw):
        assert draw(records, "nobody") == []
    assert patterns.draw(none, SALIENT) == every.draw(none, SALIENT) == []


def test_patterns_are_counted_by_cell(records: Records) -> None:
    rows = patterns.counts(records.revisions)
    mine = next(row for row in rows if (row["variant"], row["env"]) == ("reptraj", "cartpole"))
    # Of two runs with six and three revisions, by the fixture's list of patterns.
    assert mine["revisions"] == 9
    assert [mine[key] for key in ("near_optimal_break", "no_change", "fine_tune", "other_regression")] == [2, 2, 2, 1]
    assert mine["no_change_pct"] == pytest.approx(200 / 9)
    assert patterns.counts(records.revisions.assign(edit_distance=float("nan"), pattern=None)) == []

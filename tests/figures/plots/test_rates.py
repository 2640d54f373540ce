"""Citing and base rates, agreement structures, size of edits, noise floor."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection

from figures.data import Records
from figures.plots import agreement, citing, edits, noise
from figures.plots.agreement import delta_interval
from figures.plots.citing import citing_interval
from figures.plots.drawing import Drawing
from figures.plots.edits import medians, spread

SALIENT, REAL = "simulated-salient", "gpt-oss-20b"


def drawn(drawings: list[Drawing]) -> Drawing:
    [drawing] = drawings
    return drawing


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def revisions(*runs: list[tuple[str, bool | None]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"run": run, "direction": direction, "cites": cites}
            for run, rows in enumerate(runs, start=1)
            for direction, cites in rows
        ]
    )


def test_an_interval_draws_whole_runs() -> None:
    one = [("regression", True), ("regression", True), ("regression", False), ("improvement", True)]
    two = [("regression", True), ("regression", False), ("regression", None), ("improvement", True)]
    # Two runs drawn from two: the first twice (1/4 of the time) 2 of 3 cite, the second twice (1/4) 1 of 3.
    assert citing_interval(revisions(one, two), "regression") == pytest.approx((100 / 3, 200 / 3))
    assert citing_interval(revisions(one, two), "improvement") == (100, 100)


@pytest.mark.parametrize("direction", ["regression", "no_change"])
def test_one_run_or_no_case_has_no_interval(direction: str) -> None:
    assert all(map(math.isnan, citing_interval(revisions([("regression", True)]), direction)))


def test_shares_are_those_of_the_audit_and_lie_in_their_intervals(records: Records) -> None:
    drawing = drawn(citing.draw(records, SALIENT))
    left, right = drawing.figure.axes
    marks = [line for line in left.lines if line.get_marker() != "None"]
    assert [float(mark.get_xdata()[0]) for mark in marks] == [50.0, 25.0, 50.0] * 2
    spans = [sorted(map(float, line.get_xdata())) for line in left.lines if line.get_marker() == "None"]
    # By hand: shares of the two runs are 2/3 and 1/3, 1/2 and 0, 0 and 1.
    assert spans == [pytest.approx(span) for span in [[100 / 3, 200 / 3], [0, 50], [0, 100]] * 2]
    assert words(left)[1:] == ["6", "2", "1"] * 2
    assert [label.get_text() for label in left.get_yticklabels()] == ["FrozenLake", "CartPole"]
    # An upper end that is null while the lower one is known has no bound: it runs to the edge.
    (first, _) = [line for line in right.lines if len(set(map(float, line.get_xdata()))) > 1]
    assert list(map(float, first.get_xdata())) == [0.5, right.get_xlim()[1]]
    assert "With fewer than 10 runs intervals are too narrow." in drawing.note
    assert "detector word" in drawing.note


def test_one_run_is_hollow_and_nothing_is_a_dash(records: Records) -> None:
    row = next(row for row in records.rates if row["condition"] == REAL)
    nothing = {"improvements": 0, "citing_improvements_pct": None, "risk_ratio": None}
    drawing = drawn(citing.draw(replace(records, rates=[{**row, **nothing}]), REAL))
    [left] = drawing.figure.axes
    marks = [line for line in left.lines if line.get_marker() != "None"]
    assert [mark.get_markerfacecolor() for mark in marks] == ["white", "white"]
    assert "No intervals from one run." in drawing.note
    assert "No risk ratio can be computed." in drawing.note
    assert "–" in words(left)


def test_a_ratio_of_zero_is_said(records: Records) -> None:
    rows = [{**row, "risk_ratio": 0.0, "risk_ratio_low": 0.0, "risk_ratio_high": 0.4} for row in records.rates]
    right = drawn(citing.draw(replace(records, rates=rows), SALIENT)).figure.axes[1]
    assert words(right).count("0: none that cites regressed") == 2


def test_mean_changes_and_their_intervals(records: Records) -> None:
    frame = pd.DataFrame({"run": [1, 1, 2, 2, 2], "delta": [1.0, 3.0, 7.0, 9.0, math.nan]})
    assert delta_interval(frame) == (2.0, 8.0)
    assert all(map(math.isnan, delta_interval(frame[frame["run"] == 1])))
    figure = drawn(agreement.draw(records, SALIENT)).figure
    left, right = figure.axes[2:]
    assert [float(bar.get_width()) for bar in left.patches] == [50.0, 50.0]
    assert [float(line.get_xdata()[0]) for line in right.lines if line.get_marker() != "None"] == [-1.25, -1.25]


def test_structures_nobody_knows_are_drawn_all_the_same(records: Records) -> None:
    rows = [{**row, "structure": "novel", "mean_delta": None} for row in records.agreement[:1]]
    drawing = drawn(
        agreement.draw(replace(records, agreement=rows, revisions=records.revisions.iloc[:0]), rows[0]["condition"])
    )
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()] == ["novel"]


def test_marks_of_one_edit_distance_stay_with_it() -> None:
    places = spread(50)
    assert np.abs(places).max() <= 0.3
    assert len(set(places.tolist())) == 50


def test_medians_need_five_revisions() -> None:
    frame = pd.DataFrame({"edit_distance": [1] * 5 + [2] * 4, "delta": [1.0, 2.0, 9.0, 4.0, 5.0, 1.0, 1.0, 1.0, 1.0]})
    assert medians(frame).to_dict() == {1: 4.0}
    assert medians(frame.assign(delta=math.nan)).empty


def test_every_revision_is_a_mark_and_those_without_are_counted(records: Records) -> None:
    frame = records.revisions.copy()
    mine = frame["condition"] == SALIENT
    frame.loc[0, "edit_distance"] = math.nan
    drawing = drawn(edits.draw(replace(records, revisions=frame), SALIENT))
    marks = [m for ax in drawing.figure.axes for m in ax.collections if isinstance(m, PathCollection)]
    assert sum(len(np.asarray(each.get_offsets())) for each in marks) == int(mine.sum()) - 1
    assert "1 without parameters or a return are not drawn." in drawing.note
    assert "– no revisions" in [word for ax in drawing.figure.axes for word in words(ax)]


def test_regressions_beside_what_chance_makes(records: Records) -> None:
    drawing = drawn(noise.draw(records, SALIENT))
    (ax,) = (ax for ax in drawing.figure.axes if ax.get_title(loc="left") == "CartPole")
    # R2PO has one run: 3 of 6 revisions regress, one of them beyond chance.
    assert [float(bar.get_width()) for bar in ax.patches[:2]] == pytest.approx([100 / 6, 50 - 100 / 6])
    assert [float(line.get_xdata()[0]) for line in ax.lines[:2]] == [20.0, 30.0]
    (other,) = (ax for ax in drawing.figure.axes if ax.get_title(loc="left") == "FrozenLake")
    assert "– no revisions" in words(other)


def test_what_could_not_be_tested_is_said(records: Records) -> None:
    unknown: dict[str, Any] = {"expected_regressions_pct": None, "expected_pooled_pct": None}
    half = [{**records.noise[0], "tested": 0, **unknown}, records.noise[1]]
    condition = half[0]["condition"]
    assert noise.draw(replace(records, noise=half[:1]), condition) == []
    both = [half[0], {**half[1], "condition": condition, "env": "pong"}]
    note = drawn(noise.draw(replace(records, noise=both), condition)).note
    assert f"Not tested, for candidates with different numbers of rollouts: {half[0]['revisions']}." in note


@pytest.mark.parametrize("condition", ["nobody"])
def test_a_condition_with_nothing_to_show_has_no_figure(condition: str, records: Records) -> None:
    assert citing.draw(records, condition) == []
    assert agreement.draw(records, condition) == []
    assert edits.draw(records, condition) == []
    assert noise.draw(records, condition) == []

"""The forest of shares: verdicts by shape, within what a share can be, and none where the experiment has a problem."""

from __future__ import annotations

from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figures.data import Records
from figures.plots.causes import draw
from tests.figures.conftest import SALIENT
from tests.figures.experiment import EFFECTS, effect, units

ROWS = [
    effect("called worst", "share", "C", None, 0.6, 0.5, 0.7, 0.001, 0.01, verdict="moves it"),
    effect("shown first", "share", "C", None, -0.001, -0.05, 0.1, 0.4, 1.0, verdict="does not move it"),
    effect("worst content", "share", "C", None, 0.1, -0.1, 0.3, 0.2, 1.0, verdict="cannot be told"),
    effect("best content", "share", "C", None, 0.1, -0.1, 0.3, verdict="not asked"),
    effect("any rollout", "share", "C", None, 0.9, 0.7, 1.3, verdict="described"),
    effect("no evidence", "share", "C", None, -19.0, -60.0, 40.0, verdict="described"),
    effect("wording", "share", "C", None, verdict="cannot be told"),
]


def drawn(records: Records, *rows: dict) -> Figure:
    [drawing] = draw(replace(records, effects=list(rows), units=units(SALIENT)), SALIENT)
    return drawing.figure


def marks(ax: Axes) -> list[tuple[str, float]]:
    return [(line.get_marker(), float(line.get_xdata()[0])) for line in ax.lines if len(line.get_xdata()) == 1]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_verdicts_have_shapes_that_no_test_has_but_what_is_found(records: Records) -> None:
    figure = drawn(records, *ROWS, *(row for row in EFFECTS if row["outcome"] == "text"))
    forest, text = figure.axes[:2]
    assert marks(forest) == [("o", 60.0), ("X", -0.1), ("^", 10.0), ("|", 90.0)]
    assert {shape for shape, _ in marks(text)} & {"X", "^", "|"} == set()
    [legend] = figure.legends
    assert [each.get_text() for each in legend.get_texts()] == [
        *("moves it", "does not move it", "cannot be told", "described"),
        *("found", "not found"),
    ]


def test_the_smallest_share_of_interest_is_a_band_behind_what_is_judged(records: Records) -> None:
    forest = drawn(records, *ROWS).axes[0]
    bands = [tuple(band.get_datalim(forest.transData).intervalx) for band in forest.collections]
    assert bands == [(-15, 15), (-15, 15), (-25, 25)]
    assert [tick.get_text() for tick in forest.get_yticklabels()][-1] == "wording (equivalent)"


def test_numbers_are_within_what_a_share_can_be_and_missing_where_they_say_nothing(records: Records) -> None:
    forest = drawn(records, *ROWS).axes[0]
    low, high = forest.get_xlim()
    assert -30 < low < high == 105
    assert words(forest) == [
        *("% (95% interval)", "60 (50 to 70)", "0 (−5 to 10)", "10 (−10 to 30)", "– not asked"),
        *("90 (70 to 100)", "– cannot be told", "– cannot be told"),
    ]


def test_a_problem_is_in_place_of_verdicts(records: Records) -> None:
    problem = {"verdict": "cannot be told", "sentence": "No verdict: answers are repeated."}
    rows = [row if row["verdict"] == "not asked" else {**row, **problem} for row in ROWS[:4]]
    [drawing] = draw(replace(records, effects=rows, units=units(SALIENT)), SALIENT)
    forest = drawing.figure.axes[0]
    assert forest.get_title(loc="left") == "Followed: no verdict"
    assert {shape for shape, _ in marks(forest)} == {"|"}
    assert list(forest.collections) == []
    assert drawing.note.startswith("No verdict: answers are repeated. 6 prompts")


def test_where_nothing_was_judged_there_is_no_legend(records: Records) -> None:
    assert drawn(records, effect("best content", "share", "C", None, verdict="not asked")).legends == []


def test_the_placebo_of_edits_is_no_line_among_shares(records: Records) -> None:
    figure = drawn(records, *ROWS, *EFFECTS)
    assert [line for line in figure.axes[0].lines if line.get_linestyle() == ":"] == []
    [legend] = figure.legends
    assert "rewording the prompt" not in [each.get_text() for each in legend.get_texts()]

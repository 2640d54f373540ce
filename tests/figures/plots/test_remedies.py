"""Remedies between harm and gain: shapes, the front, intervals, and names that never overlap."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

import figures
from audit.output.rows import Table
from audit.remedies.report import FINDINGS, SETTING
from figures.errors import FiguresError
from figures.plots.remedies import draw, front, read
from tests.figures.examined import REMEDIES, judged


def marks(ax: Axes) -> list[tuple[str, float, float]]:
    """Shape and place of marks, with a plus where the mark is filled."""
    return [
        (
            line.get_marker() + ("" if line.get_markerfacecolor() == "white" else "+"),
            *(round(float(each[0]), 6) for each in (line.get_xdata(), line.get_ydata())),
        )
        for line in ax.lines
        if len(line.get_xdata()) == 1
    ]


def intervals(ax: Axes) -> list[list[tuple[float, ...]]]:
    return [
        [tuple(round(float(end), 6) for end in ends) for ends in line.get_data()]
        for line in ax.lines
        if line.get_linewidth() == 0.6
    ]


def named(ax: Axes) -> dict[str, Annotation]:
    return {each.get_text(): each for each in ax.texts if isinstance(each, Annotation) and each.arrow_patch}


def test_each_remedy_is_drawn_with_those_that_are_compared_with_the_same() -> None:
    above, below = draw(REMEDIES).figure.axes
    assert [ax.get_title(loc="left") for ax in (above, below)] == [
        "Against the revision as it is (A0: 1 call)",
        "Against keeping a revision if it is not lower (greedy: 1 call)",
    ]
    assert marks(above) == [("P+", 0, 0), ("o", 1, -1), ("o+", 2, 10), ("s", 5, 10), ("^+", -1, 5)]
    assert marks(below) == [("P+", 0, 0), ("D+", 1, 2)]
    # Of each that has them: gain lost lying, harm avoided standing.
    assert intervals(above)[:2] == [[(0, 2), (-1, -1)], [(1, 1), (-3, 1)]]
    assert len(intervals(above)) == 6


def test_names_lead_to_their_marks_and_have_their_costs_beside() -> None:
    above, below = draw(REMEDIES).figure.axes
    assert {name: tuple(map(float, each.xy)) for name, each in named(above).items()} == {
        "letters": (1, -1),
        "hidden": (2, 10),
        "few": (5, 10),
        "medoid": (-1, 5),
    }
    assert [text.get_text() for text in below.texts] == ["gate", "1 call, 78 rollouts"]
    assert "3 calls" in [text.get_text() for text in above.texts]


def test_the_front_is_of_those_that_none_beats_in_both_with_doing_without() -> None:
    assert front([(0, 0), (1, -1), (2, 10), (5, 10), (-1, 5), (2, 3)]) == [(-1, 5), (2, 10)]
    above, below = draw(REMEDIES).figure.axes
    for ax, steps in ((above, [(-1, 5), (2, 10)]), (below, [(0, 0), (1, 2)])):
        [line] = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
        (_, right), (low, _) = ax.get_xlim(), ax.get_ylim()
        expected = [(steps[0][0], low), *steps, (right, steps[-1][1])]
        assert line.get_xydata().tolist() == [pytest.approx(each) for each in expected]


def placed(figure: Figure) -> list[Text]:
    figure.draw_without_rendering()
    return [text for ax in figure.axes for text in ax.texts]


@pytest.mark.parametrize("height", [0.0, 0.1])
def test_names_never_overlap_nor_leave_the_picture(height: float) -> None:
    many = [
        judged(f"remedy-{each}", "evidence", "A0", 0.001 * each, None, None, height * each, None, None)
        for each in range(14)
    ]
    figure = draw(replace(REMEDIES, rows=[*REMEDIES.rows, *many])).figure
    boxes = [Text.get_window_extent(text) for text in placed(figure)]
    assert len(boxes) == 2 * 19
    overlapping = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b) and a.y0 + 2 < b.y1 - 2]
    assert [(a, b) for a, b in overlapping if b.y0 + 2 < a.y1 - 2] == []
    assert max(box.x1 for box in boxes) <= figure.bbox.x1
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 7


def test_the_legend_has_what_is_there_and_the_note_who_answered() -> None:
    drawing = draw(REMEDIES)
    [legend] = drawing.figure.legends
    assert [each.get_text() for each in legend.get_texts()] == [
        *("acts on evidence", "acts on instruction", "acts on answers", "acts on acceptance"),
        *("avoids harm (filled)", "without a remedy", "none is better in both"),
    ]
    assert drawing.note == (
        "PROBLEM: answers are repeated. 6 prompts of 3 runs. Simulated model, personality label: a simulated stand-in, "
        "not a language model."
    )


def test_a_plan_is_read_through_its_report(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = {name: [{"sentence": each} for each in getattr(REMEDIES, name)] for name in (SETTING, FINDINGS)}
    table = Table(columns=list(REMEDIES.rows[0]), rows=REMEDIES.rows, parts=sentences)
    plan = SimpleNamespace(model=REMEDIES.model, backend=REMEDIES.backend, sha256=REMEDIES.sha256)
    monkeypatch.setattr("audit.remedies.remedy.remedy_report", lambda _: table)
    monkeypatch.setattr("audit.interventions.plan.read_plan", lambda _: plan)
    assert read("plan.json") == REMEDIES
    assert [ax.get_xlabel() for ax in figures.plot_remedies("plan.json")] == ["gain lost, % of the way"] * 2


def test_a_panel_without_remedies_is_left_out_and_nothing_at_all_is_an_error() -> None:
    rows = [row for row in REMEDIES.rows if row["against"] != "greedy"]
    assert len(draw(replace(REMEDIES, rows=rows)).figure.axes) == 1
    with pytest.raises(FiguresError, match=r"^nothing to draw: what the remedies"):
        draw(replace(REMEDIES, rows=REMEDIES.rows[:2]))

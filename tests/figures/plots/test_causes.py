"""The figure of experiments: which effects are rows, in which order, and what a mark is."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from matplotlib.axes import Axes

from figures.data import Records
from figures.plots.causes import LOOKS, draw
from tests.figures.conftest import REAL, SALIENT
from tests.figures.experiment import EFFECTS, effect, units


@pytest.fixture(scope="module")
def panels(records: Records) -> list[Axes]:
    [drawing] = draw(replace(records, effects=EFFECTS, units=units(SALIENT)), SALIENT)
    assert "6 prompts of 2 runs, condition simulated-salient: 288 answers. Simulated model, personality label" in (
        drawing.note
    )
    return drawing.figure.axes


def names(ax: Axes) -> list[str]:
    return [tick.get_text() for tick in ax.get_yticklabels()]


def marks(ax: Axes) -> list[tuple[float, float]]:
    """Where the marks are, as value and row."""
    points = [line for line in ax.lines if line.get_marker() in {look.marker for look in LOOKS.values()}]
    return [(float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in points]


def test_panels_hold_edits_text_and_harm(panels: list[Axes]) -> None:
    edits, text, harm = panels
    assert names(edits) == [
        "labels exchanged (XL)",
        "order reversed (XP)",
        "worst replaced (RW)",
        "rollouts redrawn (P2)",
        "reworded: placebo (P1)",
    ]
    factors = ["called worst", "called worst, no returns", "shown first", "lowest return"]
    assert names(text) == [*factors, "labels exchanged (XL)"]
    assert names(harm) == ["harmful answers", "gain, CartPole", "gain, FrozenLake"]
    bold = [tick.get_text() for ax in panels for tick in ax.get_yticklabels() if tick.get_fontweight() == "bold"]
    assert bold == [*names(edits)[:3], "lowest return"]


def test_marks_are_effects_in_the_units_of_the_panel(panels: list[Axes]) -> None:
    edits, text, harm = panels
    assert marks(edits) == [(0.4, 0), (0.15, 1), (0.3, 2), (0.1, 4)]  # one was not tested
    assert marks(text) == [(0.5, 0), (0.55, 1), (-0.1, 2), (0.05, 3), (-0.6, 4)]
    # Percentage points; and of the ranges of CartPole, 500, and FrozenLake, 1.
    assert marks(harm) == [(pytest.approx(8.0), 0), (pytest.approx(-10.0), 1), (pytest.approx(2.0), 2)]
    assert "– not tested" in [text.get_text() for text in edits.texts]
    [placebo] = [line for line in edits.lines if line.get_linestyle() == ":"]
    assert list(placebo.get_xdata()) == [0.1, 0.1]


def test_experiments_are_drawn_once_with_a_condition_of_their_prompts(records: Records) -> None:
    several = replace(records, effects=EFFECTS, units=[*units(SALIENT), *units(REAL)])
    assert [len(draw(several, condition)) for condition in (REAL, SALIENT)] == [1, 0]
    elsewhere = replace(records, effects=EFFECTS, units=units("not among the records"))
    assert [len(draw(elsewhere, condition)) for condition in (REAL, SALIENT)] == [1, 0]
    assert draw(records, SALIENT) == []


def test_two_experiments_are_drawn_under_each_other(records: Records) -> None:
    other = {"plan_sha256": "a" * 64, "model": "gpt-oss:20b", "backend": "ollama"}
    few = [effect("position", "edits", "XP", "N0", 0.1, math.nan, math.nan, 0.4, 0.4, primary=True) | other]
    both = replace(
        records, effects=[*EFFECTS, *few], units=[*units(SALIENT), *({**unit, **other} for unit in units(SALIENT))]
    )
    [drawing] = draw(both, SALIENT)
    titles = [ax.get_title(loc="left") for ax in drawing.figure.axes]
    assert titles == ["simulated-label: edits", "Text", "Harm", "gpt-oss:20b: edits", "Text"]
    assert [text.get_text() for text in drawing.figure.axes[-1].texts] == ["– none tested"]
    assert "Model gpt-oss:20b (ollama)." in drawing.note

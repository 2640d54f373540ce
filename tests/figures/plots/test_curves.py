"""Learning curves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import same_color

from figures.data import Records
from figures.plots.curve_panels import learning_curves
from figures.plots.drawing import Drawing
from figures.style import BEHIND, stroke

SALIENT = "simulated-salient"


def panel(drawing: Drawing, task: str, method: str) -> Axes:
    """The panel of a task and method, by the names in the margins of the grid."""
    axes = drawing.figure.axes
    across = sum(bool(ax.get_title(loc="left")) for ax in axes)
    rows = [ax.get_ylabel().split("\n")[0] for ax in axes[::across]]
    titles = [ax.get_title(loc="left") for ax in axes[:across]]
    return axes[rows.index(task) * across + titles.index(method)]


def test_a_line_shows_the_mean_in_the_methods_colour(records: Records) -> None:
    drawing = learning_curves(records.iterations, SALIENT, "")
    assert drawing is not None
    ax = panel(drawing, "CartPole", "ThreeTraj")
    mine = [line for line in ax.lines if same_color(line.get_color(), stroke("threetraj").colour)]
    # Run 1 has 100 i + 10, run 2 has 100 i + 20; the mean is drawn twice, once faintly.
    assert [np.asarray(line.get_ydata()).tolist() for line in mine] == [
        [100.0 * i + start for i in range(6)] for start in (10, 20, 15, 15)
    ]


def test_the_means_of_other_methods_are_grey_in_every_panel(records: Records) -> None:
    drawing = learning_curves(records.iterations, SALIENT, "")
    assert drawing is not None
    behind = [line for line in panel(drawing, "CartPole", "R2PO").lines if line.get_color() == BEHIND]
    assert [np.asarray(line.get_ydata()).tolist()[:2] for line in behind] == [[15.0, 115.0]] * 2
    empty = panel(drawing, "FrozenLake", "R2PO")
    assert [text.get_text() for text in empty.texts] == ["– no runs"]
    assert len([line for line in empty.lines if line.get_color() == BEHIND]) == 2


@pytest.mark.parametrize(
    ("marks", "ends"),
    [({}, (0, 300)), ({"floor": 0.0, "optimum": 200.0}, (0, 300)), ({"floor": -7, "optimum": 310}, (-7, 310))],
)
def test_bands_end_where_returns_can_be(records: Records, marks: dict[str, float], ends: tuple[float, float]) -> None:
    """Of 0 and 300 the mean is 150 and the standard deviation 212: a band from -62 to 362."""
    cell = records.iterations[
        (records.iterations["variant"] == "threetraj") & (records.iterations["env"] == "cartpole")
    ]
    frame = cell.assign(kept_return=cell["run"].map({1: 0.0, 2: 300.0}))
    drawing = learning_curves(frame, SALIENT, "", marks={"cartpole": marks})
    assert drawing is not None
    [band] = [each for each in drawing.figure.axes[0].collections if isinstance(each, PolyCollection)]
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == ends


def test_conditions_are_drawn_apart(records: Records) -> None:
    drawing = learning_curves(records.iterations, "gpt-oss-20b", "Model gpt-oss:20b (ollama).")
    assert drawing is not None
    assert [ax.get_title(loc="left") for ax in drawing.figure.axes] == ["ThreeTraj"]
    assert "other methods" not in {text.get_text() for text in drawing.figure.legends[0].get_texts()}
    assert {len(line.get_ydata()) for line in drawing.figure.axes[0].lines} == {6}
    assert drawing.figure.axes[0].lines[0].get_ydata()[0] == 10.0


def test_what_is_missing_is_said(records: Records) -> None:
    frame = records.iterations.copy()
    frame.loc[2, "kept_return"] = math.nan
    drawing = learning_curves(frame, SALIENT, "")
    assert drawing is not None
    expected = [
        "over 1 to 2 runs",
        "No runs: R2PO on FrozenLake.",
        "One run, no band: R2PO on CartPole; RepTraj on FrozenLake.",
        "Runs of unequal length, faint where some have ended: RepTraj on CartPole.",
        "Iterations without a return: 1.",
        "condition simulated-salient",
    ]
    assert [sentence for sentence in expected if sentence not in drawing.note] == []


def test_a_condition_without_iterations_has_no_figure(records: Records) -> None:
    empty = replace(records, iterations=records.iterations.iloc[:0])
    assert learning_curves(empty.iterations, SALIENT, "") is None

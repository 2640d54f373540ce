"""Learning curves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.lines import Line2D

from figures.data import Records
from figures.plots.curve_panels import learning_curves
from figures.plots.direct_labels import apart
from figures.plots.drawing import Drawing
from figures.style import stroke

SALIENT = "simulated-salient"


def panel(drawing: Drawing, task: str) -> Axes:
    return next(ax for ax in drawing.figure.axes if ax.get_title(loc="left") == task)


def of_method(ax: Axes, method: str) -> list[Line2D]:
    """A method's lines of values against what was spent: the faint one of all points, the one of whole points."""
    mine = [line for line in ax.lines if same_color(line.get_color(), stroke(method).colour)]
    return [line for line in mine if len(line.get_xdata()) > 3]


def bar(ax: Axes, method: str) -> list[float]:
    """The ends of a method's interval; none where it has no bar."""
    mine = [line for line in ax.lines if same_color(line.get_color(), stroke(method).colour)]
    upright = [line for line in mine if len(line.get_xdata()) == 2 and len(set(line.get_xdata())) == 1]
    return [float(value) for line in upright for value in line.get_ydata()]


def test_a_line_shows_the_mean_of_the_best_so_far_in_the_methods_colour(records: Records) -> None:
    # Run 1 falls to 0 after 110; run 2 has 100 i + 20. The best so far stays at 110.
    cell = records.iterations[
        (records.iterations["variant"] == "threetraj") & (records.iterations["env"] == "cartpole")
    ]
    falling = cell.assign(
        kept_return=cell["kept_return"].where((cell["run"] == 2) | (cell["iteration"] < 2), 0.0),
        best_so_far=cell["best_so_far"].where(cell["run"] == 2, cell["best_so_far"].clip(upper=110.0)),
    )
    drawing = learning_curves(falling, SALIENT, "")
    assert drawing is not None
    expected = [(min(100.0 * i + 10, 110.0) + 100.0 * i + 20) / 2 for i in range(6)]
    ax = panel(drawing, "CartPole")
    assert [np.asarray(line.get_ydata()).tolist() for line in of_method(ax, "threetraj")] == [expected] * 2
    # Of 110 and 520 at the end the standard deviation is 205 √2.
    assert bar(ax, "threetraj") == pytest.approx([315 - 205 * math.sqrt(2), 520])  # no further than the best run


def test_every_method_is_named_at_the_end_of_its_line(records: Records) -> None:
    drawing = learning_curves(records.iterations, SALIENT, "")
    assert drawing is not None
    assert {text.get_text() for text in panel(drawing, "CartPole").texts} == {"R2PO", "ThreeTraj", "RepTraj"}
    assert {text.get_text() for text in panel(drawing, "FrozenLake").texts} == {"ThreeTraj", "RepTraj"}
    assert bar(panel(drawing, "CartPole"), "r2po") == []  # a single run


def test_labels_move_apart_by_as_little_as_can_be() -> None:
    # Three at 5, a gap of 1: around their mean. At the upper end all move down together.
    assert apart(np.array([5.0, 5.0, 5.0]), 1.0, 0.0, 10.0).tolist() == [4.0, 5.0, 6.0]
    assert apart(np.array([1.0, 9.9, 10.0]), 1.0, 0.0, 10.0).tolist() == [1.0, 9.0, 10.0]
    assert apart(np.array([0.0, 5.0]), 1.0, 0.0, 10.0).tolist() == [0.0, 5.0]


@pytest.mark.parametrize(
    ("marks", "ends"),
    [({}, [0, 300]), ({"floor": 0.0, "optimum": 200.0}, [0, 300]), ({"floor": -7, "optimum": 310}, [-7, 310])],
)
def test_bars_end_where_returns_can_be(records: Records, marks: dict[str, float], ends: list[float]) -> None:
    """Of 0 and 300 the mean is 150 and the standard deviation 212: a bar from -62 to 362."""
    cell = records.iterations[
        (records.iterations["variant"] == "threetraj") & (records.iterations["env"] == "cartpole")
    ]
    values = cell["run"].map({1: 0.0, 2: 300.0})
    frame = cell.assign(kept_return=values, best_so_far=values)
    drawing = learning_curves(frame, SALIENT, "", marks={"cartpole": marks})
    assert drawing is not None
    assert bar(drawing.figure.axes[0], "threetraj") == ends


def test_conditions_are_drawn_apart(records: Records) -> None:
    drawing = learning_curves(records.iterations, "gpt-oss-20b", "Model gpt-oss:20b (ollama).")
    assert drawing is not None
    assert [ax.get_title(loc="left") for ax in drawing.figure.axes] == ["CartPole"]
    lines = of_method(drawing.figure.axes[0], "threetraj")
    assert {len(line.get_ydata()) for line in lines} == {6}
    assert lines[0].get_ydata()[0] == 10.0


def test_what_is_missing_is_said(records: Records) -> None:
    frame = records.iterations.copy()
    frame.loc[2, "kept_return"] = math.nan
    drawing = learning_curves(frame, SALIENT, "")
    assert drawing is not None
    expected = [
        "over 1 to 2 runs",
        "No runs: R2PO on FrozenLake.",
        "One run, no bar: R2PO on CartPole; RepTraj on FrozenLake.",
        "Runs of unequal length, faint where some have ended: RepTraj on CartPole.",
        "Iterations without a return: 1.",
        "condition simulated-salient",
    ]
    assert [sentence for sentence in expected if sentence not in drawing.note] == []


def test_a_condition_without_iterations_has_no_figure(records: Records) -> None:
    empty = replace(records, iterations=records.iterations.iloc[:0])
    assert learning_curves(empty.iterations, SALIENT, "") is None

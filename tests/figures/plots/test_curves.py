"""Learning curves."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import same_color

from figures.data import Records
from figures.plots.curve_panels import learning_curves
from figures.style import stroke

SALIENT = "simulated-salient"


def test_a_line_shows_the_mean_in_the_methods_colour(records: Records) -> None:
    drawing = learning_curves(records.iterations, SALIENT, "")
    assert drawing is not None
    (ax,) = (ax for ax in drawing.figure.axes if ax.get_title(loc="left") == "CartPole")
    # Run 1 has 100 i + 10, run 2 has 100 i + 20.
    mine = [line for line in ax.lines if same_color(line.get_color(), stroke("threetraj").colour)]
    for line in mine:
        assert np.asarray(line.get_ydata()).tolist() == [15.0, 115.0, 215.0, 315.0, 415.0, 515.0]
    assert mine


def test_conditions_are_drawn_apart(records: Records) -> None:
    drawing = learning_curves(records.iterations, "gpt-oss-20b", "Model gpt-oss:20b (ollama).")
    assert drawing is not None
    assert [ax.get_title(loc="left") for ax in drawing.figure.axes] == ["CartPole"]
    assert {len(line.get_ydata()) for line in drawing.figure.axes[0].lines} == {6}
    assert drawing.figure.axes[0].lines[0].get_ydata()[0] == 10.0


@pytest.mark.parametrize(
    "sentence",
    [
        "over 1 to 2 runs",
        "No runs: R2PO on FrozenLake.",
        "One run, no band: R2PO on CartPole; RepTraj on FrozenLake.",
        "Runs of unequal length, faint where some have ended: RepTraj on CartPole.",
        "Iterations without a return: 1.",
        "condition simulated-salient",
    ],
)
def test_what_is_missing_is_said(records: Records, sentence: str) -> None:
    frame = records.iterations.copy()
    frame.loc[2, "kept_return"] = math.nan
    drawing = learning_curves(frame, SALIENT, "")
    assert drawing is not None
    assert sentence in drawing.note


def test_a_condition_without_iterations_has_no_figure(records: Records) -> None:
    empty = replace(records, iterations=records.iterations.iloc[:0])
    assert learning_curves(empty.iterations, SALIENT, "") is None

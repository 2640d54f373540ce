"""Learning curves and their sets, stability and sensitivity to τ_c."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.lines import Line2D

from figures.conditions import families, learners_in, learners_of, split_tau
from figures.data import Records
from figures.names import METHODS, TASKS, ordered
from figures.plots import stability
from figures.plots import tau as settings
from figures.plots.curve_panels import learning_curves
from figures.plots.curves import curve_figures, references
from figures.plots.direct_labels import apart
from figures.plots.drawing import Drawing
from figures.style import stroke
from tests.figures.conftest import REAL, SALIENT


def curves(iterations: pd.DataFrame, condition: str = SALIENT, **options: Any) -> Drawing:
    drawing = learning_curves(iterations, condition, "", **options)
    assert drawing is not None
    return drawing


def panel(drawing: Drawing, task: str) -> Axes:
    return next(ax for ax in drawing.figure.axes if ax.get_title(loc="left") == task)


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def of_method(ax: Axes, method: str) -> list[Line2D]:
    """A method's lines: the faint one of all points, the one of whole points, and its interval."""
    return [line for line in ax.lines if same_color(line.get_color(), stroke(method).colour)]


def bar(ax: Axes, method: str) -> list[float]:
    """The ends of a method's interval; none where it has no bar."""
    upright = [line for line in of_method(ax, method) if len(line.get_xdata()) == 2 == 1 + len(set(line.get_xdata()))]
    return [float(value) for line in upright for value in line.get_ydata()]


def threetraj(records: Records) -> pd.DataFrame:
    """Its iterations on CartPole under both conditions."""
    here = (records.iterations["variant"] == "threetraj") & (records.iterations["env"] == "cartpole")
    return records.iterations[here]


def test_a_line_shows_the_mean_of_the_best_so_far_in_the_methods_colour(records: Records) -> None:
    # Run 1 falls to 0 after 110; run 2 has 100 i + 20. The best so far stays at 110.
    cell = threetraj(records)
    falling = cell.assign(
        kept_return=cell["kept_return"].where((cell["run"] == 2) | (cell["iteration"] < 2), 0.0),
        best_so_far=cell["best_so_far"].where(cell["run"] == 2, cell["best_so_far"].clip(upper=110.0)),
    )
    expected = [(min(100.0 * i + 10, 110.0) + 100.0 * i + 20) / 2 for i in range(6)]
    ax = panel(curves(falling), "CartPole")
    drawn = [np.asarray(line.get_ydata()).tolist() for line in of_method(ax, "threetraj")]
    assert [ys for ys in drawn if len(ys) > 3] == [expected] * 2
    # Of 110 and 520 at the end the standard deviation is 205 √2.
    assert bar(ax, "threetraj") == pytest.approx([315 - 205 * math.sqrt(2), 520])  # no further than the best run


def test_every_method_is_named_at_the_end_of_its_line(records: Records) -> None:
    drawing = curves(records.iterations)
    assert set(words(panel(drawing, "CartPole"))) == {"R2PO", "ThreeTraj", "RepTraj"}
    assert set(words(panel(drawing, "FrozenLake"))) == {"ThreeTraj", "RepTraj"}
    assert bar(panel(drawing, "CartPole"), "r2po") == []  # a single run
    # Labels move apart by as little as can be. Three at 5, a gap of 1: around their mean. At the upper end all move
    # down together.
    assert apart(np.array([5.0, 5.0, 5.0]), 1.0, 0.0, 10.0).tolist() == [4.0, 5.0, 6.0]
    assert apart(np.array([1.0, 9.9, 10.0]), 1.0, 0.0, 10.0).tolist() == [1.0, 9.0, 10.0]
    assert apart(np.array([0.0, 5.0]), 1.0, 0.0, 10.0).tolist() == [0.0, 5.0]


def test_bars_end_where_returns_can_be(records: Records) -> None:
    """Of 0 and 300 the mean is 150 and the standard deviation 212: a bar from -62 to 362."""
    values = threetraj(records)["run"].map({1: 0.0, 2: 300.0})
    frame = threetraj(records).assign(kept_return=values, best_so_far=values)
    for marks, ends in (
        ({}, [0, 300]),
        ({"floor": 0.0, "optimum": 200.0}, [0, 300]),
        ({"floor": -7, "optimum": 310}, [-7, 310]),
    ):
        assert bar(curves(frame, marks={"cartpole": marks}).figure.axes[0], "threetraj") == ends


def test_conditions_are_drawn_apart_and_what_is_missing_is_noted(records: Records) -> None:
    drawing = curves(records.iterations, REAL)
    assert [ax.get_title(loc="left") for ax in drawing.figure.axes] == ["CartPole"]
    assert of_method(drawing.figure.axes[0], "threetraj")[0].get_ydata()[0] == 10.0
    assert learning_curves(records.iterations.iloc[:0], SALIENT, "") is None
    frame = records.iterations.copy()
    frame.loc[2, "kept_return"] = math.nan
    expected = [
        "over 1 to 2 runs",
        "No runs: R2PO on FrozenLake.",
        "One run, no bar: R2PO on CartPole; RepTraj on FrozenLake.",
        "Runs of unequal length, faint where some have ended: RepTraj on CartPole.",
        "Iterations without a return: 1.",
        "condition simulated-salient",
    ]
    note = curves(frame).note
    assert [sentence for sentence in expected if sentence not in note] == []


def sets(records: Records, condition: str = SALIENT) -> dict[str, Drawing]:
    return {each.stem: each for each in curve_figures(records.iterations, records.facts, condition)}


def lines(drawing: Drawing) -> list[str]:
    return [text.get_text() for text in drawing.figure.legends[0].get_texts()]


def methods(drawing: Drawing) -> list[str]:
    """The methods that are named at the ends of lines, in their order."""
    return ordered({text.get_text() for ax in drawing.figure.axes for text in ax.texts}, list(METHODS.values()))


def beginnings(drawing: Drawing) -> list[list[float]]:
    """The first two returns of every line."""
    return [np.asarray(line.get_ydata()).tolist()[:2] for ax in drawing.figure.axes for line in ax.lines]


def with_more(records: Records, variant: str, condition: str = SALIENT, factor: float = 1.0) -> Records:
    """The records, with runs of another method that returned so many times what ThreeTraj did."""

    def more(frame: pd.DataFrame) -> pd.DataFrame:
        mine = frame[(frame["condition"] == SALIENT) & (frame["variant"] == "threetraj")]
        copied = mine.assign(variant=variant, condition=condition)
        if "kept_return" in copied:
            returns = {column: factor * copied[column] for column in ("kept_return", "best_so_far")}
            copied = copied.assign(**returns)
        return pd.concat([frame, copied], ignore_index=True)

    return replace(records, iterations=more(records.iterations), facts=more(records.facts), runs=more(records.runs))


def test_methods_stand_in_two_sets(records: Records) -> None:
    assert set(sets(records)) == {"curves-variants"}
    wide = sets(with_more(with_more(records, "propsplus"), "novel"))
    assert methods(wide["curves-main"]) == ["R2PO", "ProPS+", "novel"]
    assert methods(wide["curves-variants"]) == ["R2PO", "ThreeTraj", "RepTraj"]
    entries = ["optimum in prompts", r"$\tau_c$"]
    assert lines(wide["curves-main"]) == lines(wide["curves-variants"]) == entries
    alone = replace(records, iterations=records.iterations[records.iterations["variant"] == "r2po"])
    assert set(sets(alone)) == {"curves-main"}
    # Four tasks have a figure of their own where there are more.
    one = threetraj(records)
    every = replace(records, iterations=pd.concat([one.assign(env=env) for env in TASKS], ignore_index=True))
    found = {stem: len(each.figure.axes) for stem, each in sets(every).items()}
    assert found == {"curves-variants-four": 4, "curves-variants": 10}


def test_of_the_reinforcement_learners_the_best_of_each_task_is_drawn(records: Records) -> None:
    wide = with_more(with_more(records, "sb3-ppo", "sb3", 0.5), "sb3-a2c", "sb3", 2.0)
    drawing = sets(wide)["curves-main"]
    assert methods(drawing) == ["R2PO", "best SB3"]
    assert "Best of the reinforcement learners by mean return: A2C on FrozenLake, A2C on CartPole." in drawing.note
    assert [30.0, 230.0] in beginnings(drawing)
    # By themselves they are all drawn.
    assert methods(sets(wide, "sb3")["curves-main"]) == ["A2C", "PPO"]
    assert learners_of("sb3", {"sb3"}) is None
    # A condition lends only if it has nothing else, and what one trained itself is not mixed with what it borrows.
    wide = with_more(with_more(records, "sb3-ppo", "sb3", 0.5), "sb3-a2c", SALIENT, 2.0)
    assert learners_in(wide.iterations) == {"sb3"}
    assert [30.0, 230.0] in beginnings(sets(with_more(wide, "sb3-a2c", "sb3", 9.0))["curves-main"])


def test_light_lines_are_known_near_and_unanimous(records: Records) -> None:
    facts = records.facts
    assert references(facts, SALIENT) == {
        "cartpole": {"floor": 0.0, "optimum": 500.0, "tau_c": 480.0},
        "frozenlake": {"floor": 0.0, "optimum": 1.0},
    }
    two = facts.assign(optimum=np.arange(len(facts), dtype=float))
    assert "optimum" not in references(two, SALIENT)["cartpole"]
    assert references(facts.drop(columns=["floor", "optimum", "tau_c"]), SALIENT) == {}
    marks = {"cartpole": {"optimum": 9000.0, "tau_c": -480.0}}
    drawing = curves(records.iterations, marks=marks)
    assert "Off the scale: CartPole (optimum 9000)." in drawing.note
    assert lines(drawing)[-1] == r"$\tau_c$"


def test_the_axis_and_the_interval_are_named(records: Records) -> None:
    drawing = curves(records.iterations.assign(rollouts_spent=math.nan))
    assert {ax.get_xlabel() for ax in drawing.figure.axes} == {"iterations"}
    assert [1, 2, 3, 4, 5, 6] in [np.asarray(line.get_xdata()).tolist() for line in drawing.figure.axes[0].lines]
    assert "iterations are counted" in drawing.note
    assert "standard deviation" in sets(records)["curves-variants"].note


def test_runs_without_returns_are_no_zeros(records: Records) -> None:
    runs = records.runs.copy()
    runs.loc[runs["env"] == "frozenlake", ["mean_return", "best_return"]] = math.nan
    [drawing] = stability.draw(replace(records, runs=runs), SALIENT)
    assert not panel(drawing, "FrozenLake").lines
    assert "Left out, without returns: 3 runs." in drawing.note


def test_settings_of_tau_stand_in_order_with_what_is_missing(records: Records) -> None:
    wide = records
    for tau in ("off", "auto-record", "100", "half", "300"):
        wide = with_more(wide, "r2po", f"{SALIENT}+tau-{tau}")
    facts = wide.facts.assign(tau_c=wide.facts["condition"].map({f"{SALIENT}+tau-300": 300.0, SALIENT: 480.0}))
    [drawing] = settings.draw(replace(wide, facts=facts), SALIENT)
    cartpole, lake = (panel(drawing, title) for title in ("CartPole", "FrozenLake"))
    assert [label.get_text() for label in cartpole.get_xticklabels()] == [
        "default\n480\nn = 1",
        "half\nnot recorded\nn = 2",
        "set to\n300\nn = 2",
        "100\nnot recorded\nn = 2",
        "auto-record\nby a rule\nn = 2",
        "off\nno rule\nn = 2",
    ]
    assert cartpole.get_xlabel() == r"setting, $\tau_c$, runs"
    # There are no runs of R2PO on FrozenLake with the default.
    assert words(lake) == ["–"]
    assert drawing.note.count("stand-in") == 1
    # One setting is no comparison.
    assert settings.draw(records, SALIENT) == []
    assert settings.draw(replace(records, runs=records.runs.assign(condition=SALIENT + "+tau-half")), SALIENT) == []
    # What belongs together are conditions that differ in τ_c alone.
    assert split_tau("gpt+tau-half+iterations-15") == ("gpt+iterations-15", "half")
    assert [split_tau(label) for label in ("gpt", "gpt+tau-none")] == [("gpt", "default"), ("gpt", "off")]
    found = families(["gpt", "gpt+tau-off", "gpt+tau-0.5", "other", "more+tau-half"])
    assert found == {"gpt": {"default": "gpt", "off": "gpt+tau-off", "0.5": "gpt+tau-0.5"}}

"""Methods over all tasks: what is drawn and noted, and what is missing."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.lines import Line2D
from scipy.stats import mannwhitneyu, trim_mean

from figures.data import Records
from figures.names import name
from figures.page.build import build
from figures.plots import aggregates, profiles
from figures.plots.drawing import Drawing
from figures.style import stroke

MODEL = "some-model"
RETURNS = {
    ("cartpole", "r2po"): [500.0, 450.0, 400.0, 100.0],
    ("cartpole", "props"): [300.0, 420.0, 50.0, 60.0],
    ("frozenlake", "r2po"): [0.2, 0.4, 0.6, 0.9],
    ("frozenlake", "props"): [0.1, 0.5, 0.0, 0.2],
}
OPTIMA = {"cartpole": 500.0, "frozenlake": 1.0}


def grid(returns: dict[tuple[str, str], list[float]], records: Records, condition: str = MODEL) -> Records:
    """Records of runs that returned the same in both of their iterations."""
    rows = [
        {"condition": condition, "env": env, "variant": variant, "run": run, "mean_return": value, "best_return": value}
        for (env, variant), values in returns.items()
        for run, value in enumerate(values)
    ]
    runs = pd.DataFrame(rows)
    iterations = pd.concat(
        [runs.assign(iteration=i, kept_return=runs["mean_return"], rollouts_spent=20 * (i + 1)) for i in range(2)],
        ignore_index=True,
    )
    facts = runs[["condition", "env", "variant", "run"]].assign(backend="ollama", model=MODEL, floor=0.0, tau_c=None)
    facts["optimum"] = facts["env"].map(OPTIMA)
    return replace(records, runs=runs, iterations=iterations, facts=facts)


def with_learners(own: Records, returns: dict[tuple[str, str], list[float]], records: Records) -> Records:
    """The records, and runs of reinforcement learning under a condition of their own."""
    other = grid(returns, records, "sb3")
    other = replace(other, facts=other.facts.assign(backend="stable-baselines3", model="sb3-ppo"))
    keys = ("runs", "iterations", "facts")
    return replace(own, **{key: pd.concat([getattr(own, key), getattr(other, key)]) for key in keys})


@pytest.fixture(scope="module")
def two(records: Records) -> Records:
    return grid(RETURNS, records)


@pytest.fixture(scope="module")
def drawn_of_two(two: Records) -> tuple[Drawing, Drawing]:
    return drawn(two)


def drawn(records: Records) -> tuple[Drawing, Drawing]:
    [overview], [detail] = aggregates.draw(records, MODEL), profiles.draw(records, MODEL)
    return overview, detail


def marks(drawing: Drawing, panel: int) -> list[float]:
    """Values of the marks of a panel, from the top."""
    lines = [line for line in drawing.figure.axes[panel].lines if isinstance(line, Line2D) and line.get_marker() == "o"]
    return [float(np.asarray(line.get_xdata())[0]) for line in sorted(lines, key=lambda line: line.get_ydata()[0])]


def scores(method: str) -> list[float]:
    return [value / OPTIMA[env] for (env, variant), values in RETURNS.items() if variant == method for value in values]


def line(drawing: Drawing, place: int, method: str) -> tuple[list[float], list[float]]:
    """A method's line in a panel."""
    found = next(each for each in drawing.figure.axes[place].lines if each.get_color() == stroke(method).colour)
    return np.asarray(found.get_xdata()).tolist(), np.asarray(found.get_ydata()).tolist()


def test_panels_hold_what_is_computed_elsewhere(two: Records, drawn_of_two: tuple[Drawing, Drawing]) -> None:
    overview, detail = drawn_of_two
    assert marks(overview, 0) == pytest.approx([trim_mean(scores(method), 0.25) for method in ("r2po", "props")])
    tests = [mannwhitneyu(RETURNS[env, "r2po"], RETURNS[env, "props"]) for env in ("cartpole", "frozenlake")]
    assert marks(overview, 1) == pytest.approx([100 * np.mean([test.statistic / 16 for test in tests])])
    assert "– itself" in [text.get_text() for text in overview.figure.axes[1].texts]
    at = dict(zip(*line(detail, 0, "r2po"), strict=True))
    for score in (0.0, 0.3, 0.5, 0.8):
        assert at[score] == pytest.approx(100 * np.mean(np.array(scores("r2po")) > score))
    x, y = line(detail, 1, "props")
    assert (x[-1], y[-1]) == (40, pytest.approx(trim_mean(scores("props"), 0.25)))
    ranks = pd.DataFrame(two.over_tasks.ranks)
    assert ranks.groupby("rank")["share"].sum().tolist() == pytest.approx([1, 1])
    shares = ranks.sort_values(["variant", "rank"], ascending=[False, True])["share"]
    printed = [text.get_text() for text in overview.figure.axes[2].texts]
    assert printed == [f"{100 * share:.0f}" for share in shares if share >= 0.08]
    # Where logs do not have what was spent, iterations are counted.
    silent = replace(two, iterations=two.iterations.assign(rollouts_spent=0))
    assert [each.figure.axes[1].get_xlabel() for each in (detail, drawn(silent)[1])] == ["rollouts spent", "iterations"]


def test_one_method_or_no_common_task_gives_no_figure(two: Records, records: Records) -> None:
    alone = grid({cell: values for cell, values in RETURNS.items() if cell[1] == "r2po"}, records)
    apart = grid({("cartpole", "r2po"): [1.0, 2.0], ("frozenlake", "props"): [0.5, 0.1]}, records)
    unknown = replace(two, facts=two.facts.assign(env="new", optimum=np.nan), runs=two.runs.assign(env="new"))
    unknown = replace(unknown, iterations=two.iterations.assign(env="new"))
    for each in (alone, apart, unknown):
        assert aggregates.draw(each, MODEL) == []
        assert profiles.draw(each, MODEL) == []
    # The table still has the methods, and the reason why they are not compared.
    assert [row["tasks"] for row in apart.over_tasks.aggregate] == [0, 0]
    assert alone.over_tasks.aggregate == []


def test_what_is_left_out_is_noted(records: Records) -> None:
    overview, detail = drawn(grid(RETURNS | {("pong", "r2po"): [1.0, 2.0]}, records))
    for drawing in (overview, detail):
        assert "Left out pong (no runs of props)." in drawing.note
    assert overview.note.startswith("2 tasks, 8 runs a method")
    for drawing in drawn(grid(RETURNS | {("cartpole", "props"): [300.0, np.nan, 50.0, 60.0]}, records)):
        assert "ProPS: 1 run misses a return" in drawing.note


def test_panels_that_there_is_nothing_for(records: Records) -> None:
    # Without R2PO there is nothing to improve on.
    others = {(env, {"r2po": "reptraj"}.get(variant, variant)): values for (env, variant), values in RETURNS.items()}
    overview, _ = drawn(grid(others, records))
    assert [ax.get_xlabel() for ax in overview.figure.axes] == ["interquartile mean score", "rank, % of resamples"]
    # Single runs have hollow marks and no ranks.
    overview, _ = drawn(grid({cell: values[:1] for cell, values in RETURNS.items()}, records))
    left, chances = overview.figure.axes
    assert {line.get_markerfacecolor() for line in left.lines if line.get_marker() == "o"} == {"white"}
    assert chances.get_xlabel() == "% that R2PO does better"


@pytest.mark.usefixtures("without_figures")
def test_the_best_learner_stands_beside(two: Records, records: Records, tmp_path: Path) -> None:
    wide = with_learners(
        two,
        {("cartpole", "sb3-ppo"): [500.0, 490.0], ("cartpole", "sb3-a2c"): [10.0, 20.0]}
        | {("frozenlake", "sb3-ppo"): [0.1, 0.2], ("frozenlake", "sb3-a2c"): [0.8, 0.9]},
        records,
    )
    overview, detail = drawn(wide)
    labels = [text.get_text() for text in overview.figure.axes[0].get_yticklabels()]
    assert labels == ["R2PO", "ProPS", name("sb3-best")]
    for drawing in (overview, detail):
        for sentence in (
            "Best of the reinforcement learners by mean return: A2C on FrozenLake, PPO on CartPole.",
            "Stable-Baselines3 is taken from condition sb3. Model sb3-ppo (stable-baselines3).",
            "which flatters it",
        ):
            assert sentence in drawing.note
    build(replace(wide, revisions=records.revisions.iloc[:0], salience=[], agreement=[]), tmp_path, "")
    with (tmp_path / "aggregate.csv").open(encoding="utf-8", newline="") as file:
        models = {row["variant"]: (row["records"], row["model"]) for row in csv.DictReader(file)}
    assert (models["sb3-best"], models["r2po"]) == (("sb3", "sb3-ppo"), (MODEL, MODEL))
    assert "taken from condition sb3" in (tmp_path / "aggregate.md").read_text(encoding="utf-8")


def test_learners_take_no_task_from_the_others(two: Records, records: Records) -> None:
    # They need no task that is left out anyway.
    more = grid(RETURNS | {("pong", "r2po"): [1.0, 2.0]}, records)
    wide = with_learners(more, {(env, "sb3-ppo"): [0.1, 0.2] for env in OPTIMA}, records)
    assert {row["variant"] for row in wide.over_tasks.aggregate} == {"r2po", "props", "sb3-best"}
    for drawing in drawn(with_learners(two, {("cartpole", "sb3-ppo"): [500.0, 490.0]}, records)):
        assert drawing.note.startswith("2 tasks")
        assert "Without reinforcement learning, which has no runs on FrozenLake." in drawing.note

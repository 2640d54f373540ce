"""Learning curves: the return of each iteration against the rollouts spent."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from figures.drawing import Drawing, in_style, joined, span
from figures.names import METHODS, TASKS, name, ordered
from figures.style import annotate, columns, legend, panels, stroke

CAPTION = (
    "Return of the candidate kept in each iteration, against the rollouts spent so far: mean over runs, with a band of "
    "one sample standard deviation to each side. A line is faint where only some of its runs are left, and has no band "
    "where one is."
)


def curve(iterations: pd.DataFrame) -> pd.DataFrame:
    """Mean curve of one method on one task.

    Args:
        iterations: one row per iteration of every run, with columns run, rollouts_spent and kept_return.

    Returns:
        One row per number of rollouts spent, in order, with columns rollouts_spent, mean, std (n - 1; NaN for one run),
        runs (how many have a return there) and whole (whether that is all of them).
    """
    points = iterations.dropna(subset=["kept_return"]).groupby("rollouts_spent")["kept_return"]
    table = points.agg(mean="mean", std="std", runs="count").reset_index()
    return table.assign(whole=table["runs"] == iterations["run"].nunique())


@in_style
def learning_curves(iterations: pd.DataFrame, condition: str, origin: str) -> Drawing | None:
    """Draw one panel per task and one line per method, for one condition; nothing where no iteration has finished.

    Args:
        iterations: rows of the audit's `iterations`; those of other conditions are left out.
        condition: the condition to draw.
        origin: what the records were made with, as one sentence.
    """
    here = iterations[iterations["condition"] == condition]
    if here.empty:
        return None
    envs, variants = ordered(here["env"], TASKS), ordered(here["variant"], METHODS)
    figure, axes = panels(len(envs))
    for i, (ax, env) in enumerate(zip(axes, envs, strict=True)):
        cells = {v: here[(here["env"] == env) & (here["variant"] == v)] for v in variants}
        for variant, cell in cells.items():
            _draw_line(ax, curve(cell), variant, shade=min(0.14, 0.6 / len(variants)))
        ax.set_title(name(env))
        ax.set_xlabel("rollouts spent")
        ax.set_ylabel("" if i % columns(len(envs)) else "return")
        ax.grid(visible=True, axis="y")
        ax.margins(x=0.02)
    handles = [Line2D([], [], color=stroke(v).colour, ls=stroke(v).line, label=name(v)) for v in variants]
    legend(figure, handles, across=3 if len(envs) == 1 else 6)
    runs = here.groupby(["env", "variant"])["run"].nunique()
    note = joined(
        [
            f"Mean ± sample standard deviation over {span(runs, 'run')}, condition {condition}.",
            *_gaps(here, envs, variants),
            origin,
        ]
    )
    annotate(figure, note)
    described = f"Line plots of return against rollouts spent for {', '.join(map(name, variants))}, one panel per task."
    return Drawing("curves", "Learning curves", CAPTION, note, described, figure)


def _draw_line(ax: Axes, points: pd.DataFrame, variant: str, *, shade: float) -> None:
    look = stroke(variant)
    x, mean, std = points["rollouts_spent"], points["mean"], points["std"]
    ax.plot(x, mean, color=look.colour, ls=look.line, alpha=0.35, lw=1.0)
    ax.plot(
        x, mean.where(points["whole"]), color=look.colour, ls=look.line, marker="o" if len(points) == 1 else None, ms=3
    )
    ax.fill_between(x, mean - std, mean + std, color=look.colour, alpha=shade, lw=0)


def _gaps(here: pd.DataFrame, envs: list[str], variants: list[str]) -> list[str]:
    """What a reader would otherwise take for granted: cells without runs, single runs, uneven runs, missing returns."""
    runs = here.groupby(["env", "variant", "run"], as_index=False).size()
    cells: dict[tuple[str, str], list[int]] = {}
    for env, variant, length in zip(runs["env"], runs["variant"], runs["size"], strict=True):
        cells.setdefault((env, variant), []).append(length)
    grid = [(env, variant) for variant in variants for env in envs]
    absent = [key for key in grid if key not in cells]
    single = [key for key in grid if key in cells and len(cells[key]) == 1]
    uneven = [key for key in grid if key in cells and len(set(cells[key])) > 1]
    missing = int(here["kept_return"].isna().sum())
    return [
        f"No runs: {_listed(absent, envs)}." if absent else "",
        f"One run, no band: {_listed(single, envs)}." if single else "",
        f"Runs of unequal length, faint where some have ended: {_listed(uneven, envs)}." if uneven else "",
        f"Iterations without a return: {missing}." if missing else "",
    ]


def _listed(cells: list[tuple[str, str]], envs: list[str]) -> str:
    """Cells as methods on tasks, methods with the same tasks together."""
    tasks = {variant: [env for env, other in cells if other == variant] for _, variant in cells}
    methods: dict[str, list[str]] = {}
    for variant, here in tasks.items():
        where = "every task" if here == envs and len(envs) > 1 else ", ".join(map(name, here))
        methods.setdefault(where, []).append(name(variant))
    return "; ".join(f"{', '.join(names)} on {where}" for where, names in methods.items())

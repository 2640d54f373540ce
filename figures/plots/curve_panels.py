"""Learning curves: the best return so far against the rollouts spent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from figures.names import METHODS, TASKS, label, name, narrow, ordered
from figures.over_tasks import SPENT, abscissa
from figures.plots.direct_labels import End, name_lines
from figures.plots.drawing import Drawing, in_style, joined, span
from figures.style import MUTED, TAU, annotate, facets, legend, stroke
from stats.tables.curves import mean_curve

CAPTION: Final = (
    "Best return so far against the rollouts spent, a panel for every task: the mean over runs of the highest return "
    "of a kept candidate until then. The bar at the end of a line is "
    "one sample standard deviation of runs to each side, no further than the task's floor and optimum. "
    "A line is faint where only some of its runs are left; a single run has no bar. The best so far is the highest of "
    "many noisy means and so lies above what the candidate is worth, the more so with more iterations. "
    "Where bars overlap the picture decides nothing; tests do."
)
MARKS: Final = {"optimum": ("-", "optimum in prompts"), "tau_c": (":", TAU)}
"""Light lines: line style and name."""

REACH: Final = 1.0
"""A light line is drawn within the panel, or as far outside as this share of its height, or if all curves are flat."""
HEIGHT: Final = 1.75
"""Of a panel, in inches."""


@in_style
def learning_curves(
    iterations: pd.DataFrame,
    condition: str,
    origin: str,
    *,
    marks: Mapping[str, Mapping[str, float]] | None = None,
    stem: str = "curves",
    title: str = "Learning curves",
    remarks: Sequence[str] = (),
) -> Drawing | None:
    """Draw a panel per task with a line per method, for one condition; nothing without a finished iteration.

    Args:
        iterations: rows of the audit's `iterations`; those of other conditions are left out.
        condition: the condition to draw.
        origin: what the records were made with, as one sentence.
        marks: by task, returns to draw a light line at, `optimum` and `tau_c`; and its `floor`.
        stem: of the file.
        title: of the figure.
        remarks: further sentences for the note.
    """
    here = iterations[iterations["condition"] == condition]
    if here.empty:
        return None
    here, spent = abscissa(here)
    envs, variants = ordered(here["env"], TASKS), ordered(here["variant"], METHODS)
    figure, panels = facets([narrow(env) for env in envs], HEIGHT, across=min(len(envs), 2))
    drawn: set[str] = set()
    beyond: list[str] = []
    for (ax, is_first, is_lowest), env in zip(panels, envs, strict=True):
        task, found = here[here["env"] == env], (marks or {}).get(env, {})
        limits = _limits(task["kept_return"], found)
        ends = list(_draw_lines(ax, task, variants, limits))
        lines = {kind: value for kind, value in found.items() if kind in MARKS}
        shown = {kind for kind, value in lines.items() if _draw_mark(ax, kind, value)}
        drawn |= shown
        if far := [f"{_called(kind)} {_plain(value)}" for kind, value in lines.items() if kind not in shown]:
            beyond.append(f"{name(env)} ({', '.join(far)})")
        name_lines(ax, ends, HEIGHT - 0.4)
        ax.grid(visible=True, axis="y")
        ax.set_ylabel("best return so far" if is_first else "")
        ax.set_xlabel(spent if is_lowest else "")
    if handles := _mark_handles(drawn):
        legend(figure, handles, across=len(handles))
    runs = here.groupby(["env", "variant"])["run"].nunique()
    note = joined(
        [
            f"Mean ± sample standard deviation over {span(runs, 'run')}, condition {label(condition)}.",
            *_gaps(here, envs, variants),
            "" if spent == SPENT else "How many rollouts that took is not recorded everywhere: iterations are counted.",
            f"Off the scale: {'; '.join(beyond)}." if beyond else "",
            *remarks,
            origin,
        ]
    )
    annotate(figure, note)
    methods = ", ".join(map(name, variants))
    described = f"Line plots of the best return so far against rollouts spent for {methods}, a panel per task."
    return Drawing(stem, title, CAPTION, note, described, figure)


def _limits(returns: pd.Series, found: Mapping[str, float]) -> tuple[float, float]:
    """Where bands end: at a task's floor and optimum, or at the returns of runs beyond them."""
    known = returns[np.isfinite(returns.astype(float))]
    ends = (found.get("floor", np.nan), found.get("optimum", np.nan))
    return float(np.fmin(known.min(), ends[0])), float(np.fmax(known.max(), ends[1]))


def _clipped(points: pd.DataFrame, lowest: float, highest: float) -> pd.DataFrame:
    return points.assign(low=points["low"].clip(lower=lowest), high=points["high"].clip(upper=highest))


def _draw_lines(ax: Axes, task: pd.DataFrame, variants: Sequence[str], limits: tuple[float, float]) -> Iterator[End]:
    """Draw the methods that have runs of a task, and say where their lines end."""
    for variant in variants:
        cell = task[task["variant"] == variant]
        points = _clipped(mean_curve(cell.assign(kept_return=cell["best_so_far"])), *limits)
        if points.empty:
            continue
        look, x, mean = stroke(variant), points["rollouts_spent"], points["mean"]
        ax.plot(x, mean, color=look.colour, ls=look.line, alpha=0.35, lw=1.0)
        ax.plot(x, mean.where(points["whole"]), color=look.colour, ls=look.line)
        end = points.iloc[-1]
        yield End(variant, *(float(end[key]) for key in ("rollouts_spent", "mean", "low", "high")))


def _draw_mark(ax: Axes, kind: str, value: float) -> bool:
    """Draw a light line, unless the data would shrink to make room for it."""
    low, high = ax.get_ylim()
    margin = REACH * (high - low)
    if ax.dataLim.height > 0 and not low - margin <= value <= high + margin:
        return False
    ax.axhline(value, color=MUTED, ls=MARKS[kind][0], lw=0.7, alpha=0.8, zorder=1)
    return True


def _mark_handles(drawn: set[str]) -> list[Artist]:
    return [Line2D([], [], color=MUTED, ls=ls, lw=0.7, label=label) for k, (ls, label) in MARKS.items() if k in drawn]


def _called(kind: str) -> str:
    return {"tau_c": "τ_c"}.get(kind, kind)


def _plain(value: float) -> str:
    return f"{value:g}".replace("-", "−")


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
    missing = int((~np.isfinite(here["kept_return"].astype(float))).sum())
    return [
        f"No runs: {_listed(absent, envs)}." if absent else "",
        f"One run, no bar: {_listed(single, envs)}." if single else "",
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

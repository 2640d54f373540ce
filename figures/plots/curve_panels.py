"""Learning curves: the return of each iteration against the rollouts spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from figures.names import METHODS, TASKS, label, name, ordered
from figures.options import Band
from figures.over_tasks import SPENT, abscissa
from figures.plots.drawing import Drawing, in_style, joined, span
from figures.plots.revisions import dress_grid, grid_of
from figures.style import BEHIND, MUTED, TAU, annotate, legend, stroke
from stats.tables.curves import mean_curve

CAPTION: Final = (
    "Return of the candidate kept in each iteration, against the rollouts spent so far, in a panel for every method: "
    "its mean over runs in bold, with {band}; single runs as thin lines; the means of the other methods in grey. "
    "A line is faint where only some of its runs are left, and has no band where one is. A kept return is the mean of "
    "few noisy rollouts and, where the better of two candidates is kept, the larger of two such means: such curves lie "
    "somewhat too high against those of one-call methods. Where bands overlap the picture decides nothing; tests do."
)
_BAND: Final = {
    Band.std: (
        "a band of one sample standard deviation to each side, which ends at the task's floor and optimum, or at the "
        "lowest and highest return of a run where that is further out"
    ),
    Band.bootstrap: (
        "the 95% percentile interval of that mean, runs drawn anew with replacement, which is too narrow with fewer "
        "than ten runs"
    ),
}
BANDS: Final = {
    Band.std: "± sample standard deviation",
    Band.bootstrap: "with 95% bootstrap interval of the mean",
}
MARKS: Final = {"optimum": ("-", "optimum in prompts"), "tau_c": (":", TAU)}
"""Light lines: line style and name."""

REACH: Final = 1.0
"""A light line is drawn within the panel, or as far outside as this share of its height, or if all curves are flat."""


@in_style
def learning_curves(
    iterations: pd.DataFrame,
    condition: str,
    origin: str,
    *,
    band: Band = Band.std,
    marks: Mapping[str, Mapping[str, float]] | None = None,
    stem: str = "curves",
    title: str = "Learning curves",
    remarks: Sequence[str] = (),
) -> Drawing | None:
    """Draw a row of panels per task and a column per method, for one condition; nothing without a finished iteration.

    Args:
        iterations: rows of the audit's `iterations`; those of other conditions are left out.
        condition: the condition to draw.
        origin: what the records were made with, as one sentence.
        band: what the bands show.
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
    figure, grid = grid_of(envs, variants)
    drawn: set[str] = set()
    beyond: list[str] = []
    for axes, env in zip(grid, envs, strict=True):
        task, found = here[here["env"] == env], (marks or {}).get(env, {})
        limits = _limits(task["kept_return"], found)
        cells = {variant: task[task["variant"] == variant] for variant in variants}
        curves = {variant: _clipped(mean_curve(cell, band), *limits) for variant, cell in cells.items()}
        for ax, variant in zip(axes, variants, strict=True):
            _draw_panel(ax, variant, cells[variant], curves)
        lines = {kind: value for kind, value in found.items() if kind in MARKS}
        shown = {kind for kind, value in lines.items() if _draw_mark(axes, kind, value)}
        drawn |= shown
        if far := [f"{_called(kind)} {_plain(value)}" for kind, value in lines.items() if kind not in shown]:
            beyond.append(f"{name(env)} ({', '.join(far)})")
    dress_grid(grid, envs, variants, spent, "return")
    legend(figure, [*_handles(several=len(variants) > 1), *_mark_handles(drawn)], across=2 if len(variants) < 3 else 6)
    runs = here.groupby(["env", "variant"])["run"].nunique()
    note = joined(
        [
            f"Mean {BANDS[band]} over {span(runs, 'run')}, condition {label(condition)}.",
            *_gaps(here, envs, variants),
            "" if spent == SPENT else "How many rollouts that took is not recorded everywhere: iterations are counted.",
            f"Off the scale: {'; '.join(beyond)}." if beyond else "",
            *remarks,
            origin,
        ]
    )
    annotate(figure, note)
    methods = ", ".join(map(name, variants))
    described = f"Line plots of return against rollouts spent for {methods}, a panel per task and method."
    return Drawing(stem, title, CAPTION.format(band=_BAND[band]), note, described, figure)


def _limits(returns: pd.Series, found: Mapping[str, float]) -> tuple[float, float]:
    """Where bands end: at a task's floor and optimum, or at the returns of runs beyond them."""
    known = returns[np.isfinite(returns.astype(float))]
    ends = (found.get("floor", np.nan), found.get("optimum", np.nan))
    return float(np.fmin(known.min(), ends[0])), float(np.fmax(known.max(), ends[1]))


def _clipped(points: pd.DataFrame, lowest: float, highest: float) -> pd.DataFrame:
    return points.assign(low=points["low"].clip(lower=lowest), high=points["high"].clip(upper=highest))


def _draw_panel(ax: Axes, variant: str, cell: pd.DataFrame, curves: Mapping[str, pd.DataFrame]) -> None:
    look, points = stroke(variant), curves[variant]
    for other, curve in curves.items():
        if other != variant:
            ax.plot(curve["rollouts_spent"], curve["mean"], color=BEHIND, lw=0.8, zorder=1)
    ax.grid(visible=True, axis="y")
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4 if len(curves) < 4 else 2))
    if cell.empty:
        ax.text(0.5, 0.9, "– no runs", transform=ax.transAxes, ha="center", fontsize=7, color=MUTED)
        return
    for _, run in cell.sort_values("rollouts_spent").groupby("run"):
        ax.plot(run["rollouts_spent"], run["kept_return"], color=look.colour, lw=0.5, alpha=0.45)
    x, mean = points["rollouts_spent"], points["mean"]
    ax.fill_between(x, points["low"], points["high"], color=look.colour, alpha=0.14, lw=0)
    ax.plot(x, mean, color=look.colour, ls=look.line, alpha=0.35, lw=1.0)
    ax.plot(
        x, mean.where(points["whole"]), color=look.colour, ls=look.line, marker="o" if len(points) == 1 else None, ms=3
    )


def _handles(*, several: bool) -> list[Artist]:
    """Entries of the legend for what every panel has; the lines are in the colours of the methods."""
    return [
        Line2D([], [], color=MUTED, label="mean"),
        Patch(facecolor=MUTED, alpha=0.2, label="band"),
        Line2D([], [], color=MUTED, lw=0.5, label="one run"),
        *([Line2D([], [], color=BEHIND, lw=0.8, label="other methods")] if several else []),
    ]


def _draw_mark(axes: Sequence[Axes], kind: str, value: float) -> bool:
    """Draw a light line in panels that share their scale, unless the data would shrink to make room for it."""
    low, high = axes[0].get_ylim()
    margin = REACH * (high - low)
    if any(ax.dataLim.height > 0 for ax in axes) and not low - margin <= value <= high + margin:
        return False
    for ax in axes:
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

"""Learning curves: the return of each iteration against the rollouts spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from figures.names import METHODS, TASKS, label, name, narrow, ordered
from figures.options import Band
from figures.over_tasks import SPENT, abscissa
from figures.plots.drawing import Drawing, in_style, joined, span
from figures.style import MUTED, annotate, columns, is_lowest, legend, panels, stroke
from stats.tables.curves import mean_curve

CAPTION: Final = (
    "Return of the candidate kept in each iteration, against the rollouts spent so far: mean over runs, with {band}. "
    "A line is faint where only some of its runs are left, and has no band where one is. A kept return is the mean of "
    "few noisy rollouts and, where the better of two candidates is kept, the larger of two such means: such curves lie "
    "somewhat too high against those of one-call methods. Where bands overlap the picture decides nothing; tests do."
)
_BAND: Final = {
    Band.std: "a band of one sample standard deviation to each side, which may leave the range of possible returns",
    Band.bootstrap: (
        "the 95% percentile interval of that mean, runs drawn anew with replacement, which is too narrow with fewer "
        "than ten runs"
    ),
}
BANDS: Final = {
    Band.std: "± sample standard deviation",
    Band.bootstrap: "with 95% bootstrap interval of the mean",
}
MARKS: Final = {"optimum": ("-", "optimum in prompts"), "tau_c": (":", "τ_c")}
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
    """Draw one panel per task and one line per method, for one condition; nothing where no iteration has finished.

    Args:
        iterations: rows of the audit's `iterations`; those of other conditions are left out.
        condition: the condition to draw.
        origin: what the records were made with, as one sentence.
        band: what the bands show.
        marks: by task, returns to draw a light line at: `optimum`, `tau_c`.
        stem: of the file.
        title: of the figure.
        remarks: further sentences for the note.
    """
    here = iterations[iterations["condition"] == condition]
    if here.empty:
        return None
    here, spent = abscissa(here)
    envs, variants = ordered(here["env"], TASKS), ordered(here["variant"], METHODS)
    figure, axes = panels(len(envs))
    drawn: set[str] = set()
    beyond: list[str] = []
    for i, (ax, env) in enumerate(zip(axes, envs, strict=True)):
        for variant in variants:
            cell = here[(here["env"] == env) & (here["variant"] == variant)]
            _draw_line(ax, mean_curve(cell, band), variant, shade=min(0.14, 0.6 / len(variants)))
        ax.set_title(narrow(env))
        ax.set_xlabel(spent if is_lowest(i, len(envs)) else "")
        ax.set_ylabel("" if i % columns(len(envs)) else "return")
        ax.grid(visible=True, axis="y")
        ax.margins(x=0.02)
        found = (marks or {}).get(env, {})
        shown = {kind for kind, value in found.items() if _draw_mark(ax, kind, value)}
        drawn |= shown
        if far := [f"{_called(kind)} {_plain(value)}" for kind, value in found.items() if kind not in shown]:
            beyond.append(f"{name(env)} ({', '.join(far)})")
    handles = [Line2D([], [], color=stroke(v).colour, ls=stroke(v).line, label=narrow(v)) for v in variants]
    entries = [*handles, *_mark_handles(drawn)]
    legend(figure, entries, across=2 if len(envs) == 1 else 6 if len(entries) < 7 else 5)
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
    described = f"Line plots of return against rollouts spent for {', '.join(map(name, variants))}, one panel per task."
    return Drawing(stem, title, CAPTION.format(band=_BAND[band]), note, described, figure)


def _draw_line(ax: Axes, points: pd.DataFrame, variant: str, *, shade: float) -> None:
    look = stroke(variant)
    x, mean = points["rollouts_spent"], points["mean"]
    ax.plot(x, mean, color=look.colour, ls=look.line, alpha=0.35, lw=1.0)
    ax.plot(
        x, mean.where(points["whole"]), color=look.colour, ls=look.line, marker="o" if len(points) == 1 else None, ms=3
    )
    ax.fill_between(x, points["low"], points["high"], color=look.colour, alpha=shade, lw=0)


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

"""Methods over all tasks at a glance: interquartile mean, probability of improvement, ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, label, name, narrow, ordered
from figures.options import Band
from figures.over_tasks import REFERENCE
from figures.plots.drawing import Drawing, in_style, joined, span
from figures.plots.marks import absent, interval, number, rows_of
from figures.plots.plotting import Panels, axes_of
from figures.provenance import origin
from figures.style import MUTED, WIDTH, annotate, ink_on, stroke

PRINTED_FROM: Final = 0.08
SHADES: Final = ("#FFFFFF", "#08306B")
CAPTION: Final = (
    "Scores are a run's mean return, 0 for the task's floor and 1 for its optimum, over the tasks on which all methods "
    "have runs. Left: interquartile mean, the mean of the middle half of all runs' scores. Middle: probability that a "
    "run of R2PO does better than one of the method on the same task, averaged over tasks; 50% is a tie. Right: how "
    "often a method takes each rank by that interquartile mean when runs are drawn anew; shares of 8% and more are "
    "printed. Kendall's W says how far tasks agree in ranking the methods, from 0 to 1. Intervals are 95%, by "
    "bootstrap within tasks, which takes the tasks as given and is too narrow with few runs; a hollow mark has none, "
    "and ranks need two runs of every method on every task. Methods that spend other numbers of "
    "rollouts are compared as they are."
)


NEEDS: Final = {"aggregate": "Methods over tasks (needs several methods on a task whose floor and optimum are known)"}


@in_style
def draw(records: Records, condition: str, _band: Band = Band.std) -> list[Drawing]:
    """Draw the methods of one condition, a row each; nothing where it has fewer than two or no task with all."""
    found = records.over_tasks
    rows = {str(row["variant"]): row for row in found.aggregate if row["condition"] == condition and row["tasks"]}
    if not rows:
        return []
    methods = ordered(rows, METHODS)
    ranked = [row for row in found.ranks if row["condition"] == condition]
    agreement = number(ranked[0]["kendall_w"])
    figure = Figure(figsize=(WIDTH, 0.27 * len(methods) + 0.65))
    left, middle, right = figure.subplots(1, 3, width_ratios=[3, 2.4, 0.6 + 0.24 * len(methods)])
    _prepare(left, middle, list(rows.values()))
    for y, method in enumerate(methods):
        _draw_estimate(left, y, method, rows[method], "iqm")
        _draw_chance(middle, y, method, rows[method], has_reference=REFERENCE in rows)
    rows_of(left, [narrow(method) for method in methods])
    rows_of(middle, [""] * len(methods))
    _draw_ranks(right, methods, ranked)
    note = joined(
        [
            f"{span((int(row['tasks']) for row in rows.values()), 'task')}, "
            f"{span((int(row['runs']) for row in rows.values()), 'run')} a method, condition {label(condition)}.",
            f"Kendall's W {agreement:.2f}." if math.isfinite(agreement) else "",
            *found.remarks[condition],
            origin(records.facts, condition),
        ]
    )
    annotate(figure, note)
    described = f"Interquartile mean, probability of improvement and ranks of {', '.join(map(name, methods))}."
    return [Drawing("aggregate", "Methods over tasks", CAPTION, note, described, figure)]


def _prepare(left: Axes, middle: Axes, rows: list[Mapping[str, Any]]) -> None:
    known = [value for row in rows for end in ("", "_low", "_high") if math.isfinite(value := number(row[f"iqm{end}"]))]
    low, high = min([0.0, *known]), max([0.0, *known])
    margin = 0.06 * (high - low or 1.0)
    left.set_xlim(low - margin, high + margin)
    left.xaxis.set_major_locator(MaxNLocator(nbins=5))
    left.set_xlabel("interquartile mean score")
    middle.set_xlim(-3, 103)
    middle.set_xticks(range(0, 101, 25))
    middle.axvline(50, color=MUTED, lw=0.7)
    middle.set_xlabel(f"% that {name(REFERENCE)} does better")
    for ax in (left, middle):
        ax.grid(visible=True, axis="x")


def _draw_estimate(ax: Axes, y: int, method: str, row: Mapping[str, Any], key: str, scale: float = 1.0) -> None:
    value, low, high = (scale * number(row[f"{key}{end}"]) for end in ("", "_low", "_high"))
    interval(ax, y, value, low, high, stroke(method).colour, "o")


def _draw_chance(ax: Axes, y: int, method: str, row: Mapping[str, Any], *, has_reference: bool) -> None:
    if method == REFERENCE or not has_reference:
        absent(ax, y, "– itself" if has_reference else f"– no runs of {name(REFERENCE)}")
    else:
        _draw_estimate(ax, y, method, row, "probability_of_improvement", scale=100.0)


def _draw_ranks(ax: Axes, methods: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    shares = np.full((len(methods), len(methods)), np.nan)
    for row in rows:
        shares[methods.index(str(row["variant"])), int(row["rank"]) - 1] = number(row["share"])
    for (y, rank), share in np.ndenumerate(shares):
        if math.isfinite(share):
            colour = _shade(float(share))
            ax.barh(y, 1, left=rank + 0.5, height=1, color=colour, edgecolor="white", lw=0.6)
            if share >= PRINTED_FROM:
                ax.text(rank + 1, y, f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color=ink_on(colour))
        elif rank == 0:
            absent(ax, y)
    rows_of(ax, [""] * len(methods))
    ax.set_xlim(0.5, len(methods) + 0.5)
    ax.set_xticks(range(1, len(methods) + 1))
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("rank, % of resamples")


def _shade(share: float) -> str:
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in SHADES]
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in zip(*ends, strict=True))


def plot_aggregates(store: Store, condition: str | None = None) -> Panels:
    """Plot interquartile means, probabilities of improvement and ranks of the methods over all tasks, in three panels.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

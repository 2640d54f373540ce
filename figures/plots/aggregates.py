"""Methods over all tasks at a glance: interquartile mean, probability of improvement, ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, label, name, narrow, ordered
from figures.over_tasks import REFERENCE
from figures.plots.drawing import Drawing, in_style, span
from figures.plots.marks import absent, interval, number, rows_of
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import MUTED, WIDTH, ink_on, round_ticks, stroke

Rows = Mapping[str, Mapping[str, Any]]
"""By method, from the top."""
PRINTED_FROM: Final = 0.08
SHADES: Final = ("#FFFFFF", "#08306B")
CAPTION: Final = (
    "Scores are a run's mean return, 0 for the task's floor and 1 for its optimum, over the tasks on which all methods "
    "have runs. The interquartile mean is that of the middle half of all runs' scores. The probability that a run of "
    "R2PO does better than one of the method on the same task is averaged over tasks; 50% is a tie. Ranks: how often "
    "a method takes each rank by that interquartile mean when runs are drawn anew; shares of 8% and more are "
    "printed. Kendall's W is how far tasks agree in ranking the methods, from 0 to 1. Intervals are 95%, by "
    "bootstrap within tasks, which takes the tasks as given and is too narrow with few runs; a hollow mark has none, "
    "and ranks need two runs of every method on every task. Methods that spend other numbers of "
    "rollouts are compared as they are."
)


NEEDS: Final = {"aggregate": "Methods over tasks (needs several methods on a task whose floor and optimum are known)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw the methods of one condition, a row each; nothing where it has fewer than two or no task with all."""
    found = records.over_tasks
    rows = {str(row["variant"]): row for row in found.aggregate if row["condition"] == condition and row["tasks"]}
    if not rows:
        return []
    methods = ordered(rows, METHODS)
    ranked = [row for row in found.ranks if row["condition"] == condition]
    agreement = number(ranked[0]["kendall_w"])
    figure = Figure(figsize=(WIDTH, 0.27 * len(methods) + 0.65))
    widths: dict[Callable[[Axes, Rows], None], float] = {_draw_means: 3.0}
    if REFERENCE in rows:
        widths[_draw_chances] = 2.4
    if any(math.isfinite(number(row["share"])) for row in ranked):
        widths[partial(_draw_ranks, ranked=ranked)] = 0.6 + 0.24 * len(methods)
    panels = figure.subplots(1, len(widths), squeeze=False, width_ratios=list(widths.values()))[0]
    for ax, draw_panel in zip(panels, widths, strict=True):
        rows_of(ax, [narrow(method) for method in methods] if ax is panels[0] else [""] * len(methods))
        draw_panel(ax, {method: rows[method] for method in methods})
    sentences = [
        f"{span((int(row['tasks']) for row in rows.values()), 'task')}, "
        f"{span((int(row['runs']) for row in rows.values()), 'run')} a method, condition {label(condition)}.",
        f"Kendall's W {agreement:.2f}." if math.isfinite(agreement) else "",
        *found.remarks[condition],
    ]
    described = f"Interquartile mean, probability of improvement and ranks of {', '.join(map(name, methods))}."
    return [finished(figure, records, condition, ("aggregate", "Methods over tasks", CAPTION), sentences, described)]


def _draw_means(ax: Axes, rows: Rows) -> None:
    ends = (number(row[f"iqm{end}"]) for row in rows.values() for end in ("", "_low", "_high"))
    known = [0.0, *filter(math.isfinite, ends)]
    margin = 0.06 * (max(known) - min(known) or 1.0)
    ax.set_xlim(min(known) - margin, max(known) + margin)
    ax.xaxis.set_major_locator(round_ticks(5))
    ax.set_xlabel("interquartile mean score")
    ax.grid(visible=True, axis="x")
    for y, method in enumerate(rows):
        _draw_estimate(ax, y, method, rows[method], "iqm")


def _draw_chances(ax: Axes, rows: Rows) -> None:
    ax.set_xlim(-3, 103)
    ax.set_xticks(range(0, 101, 25))
    ax.axvline(50, color=MUTED, lw=0.7)
    ax.set_xlabel(f"% that {name(REFERENCE)} does better")
    ax.grid(visible=True, axis="x")
    for y, method in enumerate(rows):
        if method == REFERENCE:
            absent(ax, y, "– itself")
        else:
            _draw_estimate(ax, y, method, rows[method], "probability_of_improvement", scale=100.0)


def _draw_estimate(ax: Axes, y: int, method: str, row: Mapping[str, Any], key: str, scale: float = 1.0) -> None:
    value, low, high = (scale * number(row[f"{key}{end}"]) for end in ("", "_low", "_high"))
    interval(ax, y, value, low, high, stroke(method).colour, "o")


def _draw_ranks(ax: Axes, rows: Rows, ranked: Sequence[Mapping[str, Any]]) -> None:
    methods = list(rows)
    for row in ranked:
        y, rank, share = methods.index(str(row["variant"])), int(row["rank"]), number(row["share"])
        if math.isfinite(share):
            colour = _shade(share)
            ax.barh(y, 1, left=rank - 0.5, height=1, color=colour, edgecolor="white", lw=0.6)
            if share >= PRINTED_FROM:
                ax.text(rank, y, f"{100 * share:.0f}", ha="center", va="center", fontsize=7, color=ink_on(colour))
        elif rank == 1:
            absent(ax, y)
    ax.set_xlim(0.5, len(methods) + 0.5)
    ax.set_xticks(range(1, len(methods) + 1))
    ax.tick_params(axis="x", length=0)
    ax.spines["bottom"].set_visible(False)
    ax.set_xlabel("rank, % of resamples")


def _shade(share: float) -> str:
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in SHADES]
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in zip(*ends, strict=True))


def plot_aggregates(store: Store, condition: str | None = None) -> Panels:
    """Plot interquartile means, probabilities of improvement and ranks of the methods over all tasks, a panel each.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

"""Methods over all tasks in detail: performance profiles and sample efficiency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, label, name, ordered
from figures.plots.direct_labels import End, name_lines
from figures.plots.drawing import Drawing, in_style, span
from figures.plots.marks import number
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import WIDTH, stroke

CAPTION: Final = (
    "Scores are 0 for a task's floor and 1 for its optimum. Left, performance profiles: share of runs whose mean "
    "return has a score above each threshold, averaged over tasks; a higher line is better, and lines that cross mean "
    "that no method is better throughout. What a line lacks to 100% at 0 are runs at or below the floor; those above 1 "
    "are not distinguished. Right, sample efficiency: interquartile mean of the scores that runs have after so many "
    "rollouts (iterations, where logs do not record them), which ends where a task has no run left. Bars, at three "
    "thresholds and at the ends of lines, are 95% intervals by bootstrap within tasks, too narrow with few runs."
)


BARS_AT: Final = (0.24, 0.5, 0.76)
"""Thresholds at which a profile has intervals."""
HEIGHT: Final = 2.2
"""Of a panel, in inches."""

NEEDS: Final = {"profile": "Performance profiles and sample efficiency (needs the same)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw a line for every method of one condition; nothing where it has fewer than two or no task with all."""
    found = records.over_tasks
    shares = [row for row in found.profile if row["condition"] == condition and row["tasks"]]
    curves = [row for row in found.efficiency if row["condition"] == condition and row["tasks"]]
    if not shares:
        return []
    methods = ordered((str(row["variant"]) for row in shares), METHODS)
    figure = Figure(figsize=(WIDTH, HEIGHT + 0.5))
    left, right = figure.subplots(1, 2)
    ends: dict[Axes, list[End]] = {left: [], right: []}
    for place, method in enumerate(methods):
        mine = [row for row in shares if row["variant"] == method]
        ends[left].append(_draw(left, mine, ("tau", "share"), method, by=100.0))
        _draw_bars(left, mine, method, 0.012 * (place - (len(methods) - 1) / 2))
        if beside := [row for row in curves if row["variant"] == method and isfinite(number(row["iqm"]))]:
            ends[right].append(_draw(right, beside, ("rollouts", "iqm"), method))
    left.set_ylim(-3, 103)
    for ax, intervals in ((left, False), (right, True)):
        name_lines(ax, ends[ax], HEIGHT, intervals=intervals)
    left.set_xlabel("score")
    left.set_ylabel("% of runs above")
    right.set_xlabel(found.spent[condition])
    right.set_ylabel("interquartile mean score")
    for ax in (left, right):
        ax.grid(visible=True, axis="y")
    counts = f"{span([shares[0]['tasks']], 'task')}, {span((row['runs'] for row in shares), 'run')} a method"
    sentences = [f"{counts}, condition {label(condition)}.", *found.remarks[condition]]
    described = f"Performance profiles and sample-efficiency curves of {', '.join(map(name, methods))}."
    return [
        finished(
            figure,
            records,
            condition,
            ("profile", "Performance profiles and sample efficiency", CAPTION),
            sentences,
            described,
        )
    ]


def _draw(ax: Axes, rows: Sequence[Mapping[str, Any]], keys: tuple[str, str], method: str, *, by: float = 1.0) -> End:
    """Draw a method's line, and say where it ends."""
    abscissa, ordinate = keys
    x = [number(row[abscissa]) for row in rows]
    look = stroke(method)
    ax.plot(x, [by * number(row[ordinate]) for row in rows], color=look.colour, ls=look.line, lw=1.2)
    return End(method, x[-1], *(by * number(rows[-1][key]) for key in (ordinate, "low", "high")))


def _draw_bars(ax: Axes, rows: Sequence[Mapping[str, Any]], method: str, aside: float) -> None:
    """Draw the intervals of a profile at a few thresholds, those of methods side by side."""
    for row in rows:
        low, high = 100 * number(row["low"]), 100 * number(row["high"])
        if row["tau"] in BARS_AT and low < high:
            ax.plot([row["tau"] + aside] * 2, [low, high], color=stroke(method).colour, lw=1.0, solid_capstyle="butt")


def plot_profiles(store: Store, condition: str | None = None) -> Panels:
    """Plot performance profiles (left) and sample efficiency (right) of the methods over all tasks.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

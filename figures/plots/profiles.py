"""Methods over all tasks in detail: performance profiles and sample efficiency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, label, name, narrow, ordered
from figures.options import Band
from figures.plots.drawing import Drawing, in_style, joined, span
from figures.plots.marks import number
from figures.plots.plotting import Panels, axes_of
from figures.provenance import origin
from figures.style import WIDTH, annotate, legend, stroke

CAPTION: Final = (
    "Scores are 0 for a task's floor and 1 for its optimum. Left, performance profiles: share of runs whose mean "
    "return has a score above each threshold, averaged over tasks; a higher line is better, and lines that cross mean "
    "that no method is better throughout. What a line lacks to 100% at 0 are runs at or below the floor; those above 1 "
    "are not distinguished. Right, sample efficiency: interquartile mean of the scores that runs have after so many "
    "rollouts (iterations, where logs do not record them), which ends where a task has no run left. Bands are 95% "
    "intervals by bootstrap within tasks, too narrow with few runs."
)


NEEDS: Final = {"profile": "Performance profiles and sample efficiency (needs the same)"}


@in_style
def draw(records: Records, condition: str, _band: Band = Band.std) -> list[Drawing]:
    """Draw a line for every method of one condition; nothing where it has fewer than two or no task with all."""
    found = records.over_tasks
    shares = [row for row in found.profile if row["condition"] == condition and row["tasks"]]
    curves = [row for row in found.efficiency if row["condition"] == condition and row["tasks"]]
    if not shares:
        return []
    methods = ordered((str(row["variant"]) for row in shares), METHODS)
    figure = Figure(figsize=(WIDTH, 2.5))
    left, right = figure.subplots(1, 2)
    for method in methods:
        shade = min(0.14, 0.6 / len(methods))
        _draw(left, [row for row in shares if row["variant"] == method], ("tau", "share"), method, shade, by=100.0)
        _draw(right, [row for row in curves if row["variant"] == method], ("rollouts", "iqm"), method, shade)
    left.set_xlabel("score")
    left.set_ylabel("% of runs above")
    left.set_ylim(-3, 103)
    right.set_xlabel(found.spent[condition])
    right.set_ylabel("interquartile mean score")
    for ax in (left, right):
        ax.margins(x=0.02)
        ax.grid(visible=True, axis="y")
    legend(
        figure, [Line2D([], [], color=stroke(m).colour, ls=stroke(m).line, label=narrow(m)) for m in methods], across=5
    )
    counts = f"{span([shares[0]['tasks']], 'task')}, {span((row['runs'] for row in shares), 'run')} a method"
    note = joined(
        [f"{counts}, condition {label(condition)}.", *found.remarks[condition], origin(records.facts, condition)]
    )
    annotate(figure, note)
    described = f"Performance profiles and sample-efficiency curves of {', '.join(map(name, methods))}."
    return [Drawing("profile", "Performance profiles and sample efficiency", CAPTION, note, described, figure)]


def _draw(
    ax: Axes, rows: Sequence[Mapping[str, Any]], keys: tuple[str, str], method: str, shade: float, *, by: float = 1.0
) -> None:
    abscissa, ordinate = keys
    x = [number(row[abscissa]) for row in rows]
    value, low, high = ([by * number(row[key]) for row in rows] for key in (ordinate, "low", "high"))
    look = stroke(method)
    ax.plot(x, value, color=look.colour, ls=look.line, lw=1.2)
    ax.fill_between(x, low, high, color=look.colour, alpha=shade, lw=0)


def plot_profiles(store: Store, condition: str | None = None) -> Panels:
    """Plot performance profiles (left) and sample efficiency (right) of the methods over all tasks.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

"""Stability: what a method reached at its best, against what it kept on average."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, TASKS, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style, span
from figures.plots.marks import absent, beside, handle, head, number, rows_of
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import MUTED, facets, legend, round_ticks, stroke

CAPTION: Final = (
    "Filled: mean return over a run's iterations; hollow: its best one; both averaged over runs. Ticks below are "
    "single runs' means. The line between them is the stability gap, printed to the right: a method that finds good "
    "policies and loses them has a long one. A best return is the largest of many noisy means, and so too high, the "
    "more so the more iterations there were: a gap does not prove forgetting, and a method that never found anything "
    "has none."
)


NEEDS: Final = {"stability": "Stability (needs runs)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw mean and best return of every method, one panel per task; nothing where there is no run."""
    rows = {(str(row["env"]), str(row["variant"])): row for row in records.metrics if row["condition"] == condition}
    if not rows:
        return []
    envs, variants = ordered((e for e, _ in rows), TASKS), ordered((v for _, v in rows), METHODS)
    here = records.runs[records.runs["condition"] == condition]
    figure, panels = facets([narrow(env) for env in envs], height=0.52 + 0.19 * len(variants))
    for (ax, is_first, is_lowest), env in zip(panels, envs, strict=True):
        digits = _digits([number(row["stability_gap"]) for (task, _), row in rows.items() if task == env])
        for y, variant in enumerate(variants):
            means = here.loc[(here["env"] == env) & (here["variant"] == variant), "mean_return"]
            _draw_row(ax, y, variant, rows.get((env, variant)), means, digits)
        rows_of(ax, [narrow(v) if is_first else "" for v in variants])
        ax.set_xlabel("return" if is_lowest else "")
        ax.xaxis.set_major_locator(round_ticks(5))
        ax.grid(visible=True, axis="x")
        ax.margins(x=0.05)
        head(ax, "gap")
    legend(figure, _handles(), across=3)
    missing = sum(int(row["missing"]) for row in rows.values())
    sentences = [
        f"{span((int(row['runs']) for row in rows.values()), 'run')}, condition {label(condition)}.",
        f"Left out, without returns: {span([missing], 'run')}." if missing else "",
    ]
    described = f"Mean and best return of {', '.join(map(name, variants))}, joined by a line, one panel per task."
    return [finished(figure, records, condition, ("stability", "Stability", CAPTION), sentences, described)]


def _draw_row(ax: Axes, y: int, variant: str, row: Mapping[str, Any] | None, means: pd.Series, digits: int) -> None:
    mean, best = (number(row[key]) if row else math.nan for key in ("mean_return", "best_return"))
    if not (math.isfinite(mean) and math.isfinite(best)):
        absent(ax, y, "– no returns" if row else "– no runs")
        return
    colour = stroke(variant).colour
    ax.plot(means, [y + 0.3] * len(means), "|", color=colour, ms=3.5, mew=0.8)
    ax.plot([mean, best], [y, y], color=colour, lw=1.6, solid_capstyle="butt")
    ax.plot(mean, y, "o", ms=4.5, mfc=colour, mec=colour)
    ax.plot(best, y, "o", ms=4.5, mfc="white", mec=colour, mew=1.1)
    beside(ax, y, f"{best - mean:.{digits}f}")


def _digits(gaps: list[float]) -> int:
    """Decimals that leave the largest gap of a panel about three digits."""
    largest = max([abs(gap) for gap in gaps if math.isfinite(gap)], default=0.0)
    return 0 if largest >= 100 else 1 if largest >= 10 else 2


def _handles() -> list[Line2D]:
    return [
        handle("mean return", MUTED, "o"),
        handle("best return", MUTED, "o", inside="white"),
        handle("one run's mean", MUTED, "|", size=3.5),
    ]


def plot_stability(store: Store, condition: str | None = None) -> Panels:
    """Plot the mean and the best return of every method and the gap between them, one panel per task.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

"""How the rollouts agreed that the critic compared, and what revisions gained or lost under each structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from audit.measures.bootstrap import Interval, ratio_interval
from audit.measures.cluster_robust import are_few
from audit.store import Store
from audit.vocabulary.colours import STRUCTURE_COLOURS
from figures.data import Records
from figures.names import STRUCTURES, label, name, ordered
from figures.plots.drawing import Drawing, in_style
from figures.plots.marks import PALE, Cell, beside, cell_label, cells, handle, head, interval, number, rows_of, stacked
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import MUTED, WIDTH, legend, round_ticks

MARKERS: Final = {"failure_confirmed": "v", "preservation_favored": "^", "all_diverse": "s", "identical": "o"}
PRINTED_FROM: Final = 8.0
CAPTION: Final = (
    "Left: share of revisions by how the worst, median and best rollout compared; shares of 8% and more are printed, "
    "n counts revisions. Right: mean change in return (Δ) under each structure, with 95% intervals by bootstrap over "
    "whole runs (hollow: none). {rough} Structure goes with how good the policy already "
    "was: where failing is the rule a revision has more to win. This does not show that a structure caused a "
    "change."
)


def delta_interval(revisions: pd.DataFrame) -> Interval:
    """Interval for the mean Δ of some revisions of one method on one task.

    Args:
        revisions: one row per revision, with columns run and delta. One without a delta is left out.

    Returns:
        By bootstrap over the runs that have such a revision; NaN for fewer than two.
    """
    known = revisions.dropna(subset=["delta"])
    return ratio_interval(known["delta"], np.ones(len(known)), known["run"])


NEEDS: Final = {"agreement": "What the critic was shown (needs revisions of ThreeTraj, or after batches)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw shares and mean Δ by structure, task by task, for one condition; nothing where no critic was shown three."""
    rows = [row for row in records.agreement if row["condition"] == condition]
    if not rows:
        return []
    order = cells(rows)
    here = records.revisions[records.revisions["condition"] == condition]
    figure = Figure(figsize=(WIDTH, 0.72 * len(order) + 0.55))
    grid = figure.subplots(len(order), 2, squeeze=False, width_ratios=[3, 2])
    several = len({variant for _, variant in order}) > 1
    for (left, right), cell in zip(grid, order, strict=True):
        mine = {str(row["structure"]): row for row in rows if (row["env"], row["variant"]) == cell}
        _draw_shares(left, mine)
        rows_of(left, [cell_label(cell, several=several)])
        _draw_deltas(right, mine, here[_is(here, cell)])
    for left in grid[:-1, 0]:
        left.tick_params(axis="x", length=0, labelbottom=False)
        left.spines["bottom"].set_visible(False)
    grid[-1, 0].set_xlabel("% of revisions")
    grid[-1, 1].set_xlabel("mean change in return (Δ)")
    head(grid[0, 0], "n")
    structures = ordered((str(row["structure"]) for row in rows), STRUCTURES)
    legend(figure, [handle(name(s), _colour(s), MARKERS.get(s, "D")) for s in structures], across=2)
    sentences = [
        f"{sum(int(row['revisions']) for row in rows)} revisions, condition {label(condition)}.",
    ]
    described = "Stacked bars of agreement structures per task, and beside them the mean change in return of each."
    return [
        finished(
            figure,
            records,
            condition,
            ("agreement", "What the critic was shown", CAPTION.format(rough=PALE)),
            sentences,
            described,
        )
    ]


def _is(revisions: pd.DataFrame, cell: Cell) -> pd.Series:
    return (revisions["env"] == cell[0]) & (revisions["variant"] == cell[1])


def _draw_shares(ax: Axes, rows: Mapping[str, Mapping[str, Any]]) -> None:
    total = sum(int(row["revisions"]) for row in rows.values())
    parts = [(_colour(s), 100 * int(rows[s]["revisions"]) / total) for s in ordered(rows, STRUCTURES)]
    stacked(ax, 0, parts, 0.62, PRINTED_FROM)
    ax.set_xlim(0, 100)
    beside(ax, 0, f"{total}")


def _draw_deltas(ax: Axes, rows: Mapping[str, Mapping[str, Any]], revisions: pd.DataFrame) -> None:
    structures = ordered(rows, STRUCTURES)
    found = {s: delta_interval(revisions[revisions["structure"] == s]) for s in structures}
    values = [
        0.0,
        *(number(rows[s]["mean_delta"]) for s in structures),
        *(end for ends in found.values() for end in ends),
    ]
    finite = [value for value in values if np.isfinite(value)]
    low, high = min(finite), max(finite)
    margin = 0.08 * (high - low) or 1.0
    ax.set_xlim(low - margin, high + margin)
    ax.axvline(0, color=MUTED, lw=0.7)
    for y, structure in enumerate(structures):
        value = number(rows[structure]["mean_delta"])
        is_rough = are_few(revisions[revisions["structure"] == structure]["run"].nunique())
        interval(ax, y, value, *found[structure], _colour(structure), MARKERS.get(structure, "D"), is_rough=is_rough)
    rows_of(ax, [""] * len(structures))
    ax.xaxis.set_major_locator(round_ticks(4))
    ax.grid(visible=True, axis="x")


def _colour(structure: str) -> str:
    return STRUCTURE_COLOURS.get(structure, "#777777")


def plot_agreement(store: Store, condition: str | None = None) -> Panels:
    """Plot, per task, how the rollouts agreed that the critic compared (left), and the mean change in return (right).

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

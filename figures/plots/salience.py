"""Salience-problem regressions: how often a regression follows an answer that cites the worst rollout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from audit.store import Store
from audit.vocabulary.colours import PERMISSIVE, STRICT
from figures.data import Records, records_of
from figures.names import METHODS, broken, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style
from figures.plots.marks import cells, handle
from figures.plots.plotting import axes_of, finished, nothing, one_of
from figures.style import MUTED, NARROW, legend

CRITERIA = {"permissive": PERMISSIVE, "strict": STRICT}
CAPTION = (
    "Regressions whose critic cited the worst rollout, as a share of all regressions. Permissive: the worst rollout "
    "returned no more than the median one and less than the best. Strict: it returned less than the median one. "
    "The bars pool a task's regressions over runs, the dots are single runs and show how far these disagree. A high "
    "bar means little by itself: the figure on citing shows how often other revisions cite the worst rollout."
)


def by_run(revisions: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """Share of regressions that meet a criterion, run by run.

    Args:
        revisions: one row per revision of one method on one task, with columns run, direction and the criterion, a
            truth value.
        criterion: `strict` or `permissive`.

    Returns:
        One row per run with at least one regression: run, regressions, pct (of them).
    """
    regressions = revisions[revisions["direction"] == "regression"]
    met = regressions[criterion].fillna(value=False).astype(bool)
    table = met.groupby(regressions["run"]).agg(regressions="size", pct="mean").reset_index()
    return table.assign(pct=100 * table["pct"])


NEEDS: Final = {"salience": "Salience-problem regressions (needs regressions of ThreeTraj)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw the strict and permissive shares of one condition, task by task; nothing where there is no regression.

    Nor where another item than the worst is asked about, of which the criteria are not.
    """
    here = [row for row in records.salience if row["condition"] == condition]
    if not any(row["regressions"] and row["strict"] is not None for row in here):
        return []
    figure = Figure(figsize=(NARROW, 0.5 * len(here) + 0.6))
    _draw(figure.add_subplot(), here, records.revisions[records.revisions["condition"] == condition])
    legend(figure, _handles(), across=3, handlelength=1.2)
    quiet = [name(row["env"]) for row in here if not row["regressions"]]
    sentences = [
        f"{', '.join(map(name, ordered((row['variant'] for row in here), METHODS)))}, condition {label(condition)}.",
        f"No regressions on {', '.join(quiet)}." if quiet else "",
    ]
    described = (
        "Bars of the permissive and strict share of salience-problem regressions per task, with one dot per run."
    )
    return [
        finished(
            figure, records, condition, ("salience", "Salience-problem regressions", CAPTION), sentences, described
        )
    ]


def _draw(ax: Axes, summary: Sequence[Mapping[str, Any]], revisions: pd.DataFrame) -> None:
    """Draw the rows of one condition, and the single runs of its revisions."""
    rows = {(str(row["env"]), str(row["variant"])): row for row in summary}
    order = cells(summary)
    for y, (env, variant) in enumerate(order):
        mine = revisions[(revisions["env"] == env) & (revisions["variant"] == variant)]
        _draw_cell(ax, y, rows[env, variant], mine)
    several = len({variant for _, variant in order}) > 1
    ax.set_yticks(range(len(order)), [_label(rows[cell], *cell, several=several) for cell in order])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of regressions")
    ax.grid(visible=True, axis="x")
    ax.tick_params(axis="y", length=0)


def _draw_cell(ax: Axes, y: int, row: Mapping[str, Any], revisions: pd.DataFrame) -> None:
    if not row["regressions"]:
        ax.text(1, y, "–", va="center", fontsize=8, color=MUTED)
        return
    for offset, (criterion, colour) in zip((-0.19, 0.19), CRITERIA.items(), strict=True):
        ax.barh(y + offset, 100 * row[criterion] / row["regressions"], height=0.34, color=colour)
        runs = by_run(revisions, criterion)
        spread = np.linspace(-0.1, 0.1, len(runs)) if len(runs) > 1 else np.zeros(len(runs))
        ax.plot(
            runs["pct"], y + offset + spread, "o", ms=3.2, mfc="white", mec="black", mew=0.7, clip_on=False, zorder=3
        )


def _label(row: Mapping[str, Any], env: str, variant: str, *, several: bool) -> str:
    method = f", {narrow(variant)}" if several else ""
    return f"{broken(env)}{method}\nn = {int(row['regressions'])}"


def _handles() -> list[Artist]:
    return [
        *(Patch(facecolor=colour, label=criterion) for criterion, colour in CRITERIA.items()),
        handle("one run", "black", "o", size=3.2, inside="white", edge=0.7),
    ]


def plot_salience(store: Store, condition: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Plot the shares of regressions whose critic cited the worst rollout: bars per task, and a dot per run.

    Args:
        store: records, as `audit.open` opens them.
        condition: which condition to plot; needed where there are several.
        ax: axes to plot on; by default those of a new figure, which is unknown to pyplot.

    Returns:
        The axes: show or save its `figure`.

    Raises:
        FiguresError: there is no such condition, or it has no regression.
    """
    if ax is None:
        drawn: Axes = axes_of(draw, NEEDS, store, condition)[0]
        return drawn
    records = records_of(store)
    chosen = one_of(records, condition)
    here = [row for row in records.salience if row["condition"] == chosen]
    if not any(row["regressions"] for row in here):
        raise nothing(chosen, NEEDS["salience"])
    _draw(ax, here, records.revisions[records.revisions["condition"] == chosen])
    ax.legend(handles=_handles())
    return ax

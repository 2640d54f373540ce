"""Salience-problem regressions: how often a regression follows an answer that cites the worst rollout."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from figures.names import METHODS, TASKS, broken, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style, joined
from figures.style import MUTED, NARROW, PERMISSIVE, STRICT, annotate, legend

CRITERIA = {"permissive": PERMISSIVE, "strict": STRICT}
CAPTION = (
    "Regressions whose critic cited the worst rollout, as a share of all regressions. Permissive: the worst rollout "
    "returned no more than the median one and less than the best. Strict: it returned less than the median one. "
    "The bars pool a task's regressions over runs, the dots are single runs and show how far these disagree. A high "
    "bar means little by itself: the figure on citing says how often other revisions cite the worst rollout."
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


@in_style
def salience_bars(summary: pd.DataFrame, revisions: pd.DataFrame, condition: str, origin: str) -> Drawing | None:
    """Draw the strict and permissive shares of one condition, task by task; nothing where there is no regression.

    Args:
        summary: rows of the audit's `salience`.
        revisions: rows of the audit's `revisions`, for the single runs.
        condition: the condition to draw; rows of others are left out.
        origin: what the records were made with, as one sentence.
    """
    here = summary[summary["condition"] == condition]
    if not here["regressions"].sum():
        return None
    cells = [(e, v) for v in ordered(here["variant"], METHODS) for e in ordered(here["env"], TASKS)]
    rows = {(str(row["env"]), str(row["variant"])): row for _, row in here.iterrows()}
    cells = [cell for cell in cells if cell in rows]
    figure = Figure(figsize=(NARROW, 0.5 * len(cells) + 0.6))
    ax = figure.add_subplot()
    for y, (env, variant) in enumerate(cells):
        mine = (revisions["condition"] == condition) & (revisions["env"] == env) & (revisions["variant"] == variant)
        _draw_cell(ax, y, rows[env, variant], revisions[mine])
    several = here["variant"].nunique() > 1
    ax.set_yticks(range(len(cells)), [_label(rows[cell], *cell, several=several) for cell in cells])
    ax.set_ylim(len(cells) - 0.5, -0.5)
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of regressions")
    ax.grid(visible=True, axis="x")
    ax.tick_params(axis="y", length=0)
    _legend(figure)
    note = joined(
        [
            f"{', '.join(map(name, ordered(here['variant'], METHODS)))}, condition {label(condition)}.",
            _quiet(here),
            origin,
        ]
    )
    annotate(figure, note)
    described = (
        "Bars of the permissive and strict share of salience-problem regressions per task, with one dot per run."
    )
    return Drawing("salience", "Salience-problem regressions", CAPTION, note, described, figure)


def _draw_cell(ax: Axes, y: int, row: pd.Series, revisions: pd.DataFrame) -> None:
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


def _label(row: pd.Series, env: str, variant: str, *, several: bool) -> str:
    method = f", {narrow(variant)}" if several else ""
    return f"{broken(env)}{method}\nn = {int(row['regressions'])}"


def _quiet(summary: pd.DataFrame) -> str:
    quiet = [name(env) for env in summary.loc[summary["regressions"] == 0, "env"]]
    return f"No regressions on {', '.join(quiet)}." if quiet else ""


def _legend(figure: Figure) -> None:
    handles = [
        *(Patch(facecolor=colour, label=criterion) for criterion, colour in CRITERIA.items()),
        Line2D([], [], ls="", marker="o", ms=3.2, mfc="white", mec="black", mew=0.7, label="one run"),
    ]
    legend(figure, handles, across=3, handlelength=1.2)

"""Every revision: what it gained or lost, against how good the policy was before."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, PATTERNS, TASKS, broken, label, name, narrow, ordered
from figures.options import Band
from figures.plots.drawing import Drawing, in_style, joined
from figures.plots.patterns import labels
from figures.plots.plotting import Panels, axes_of
from figures.provenance import origin
from figures.style import MUTED, WIDTH, annotate, legend, pattern_colour

CROWDED: Final = 5
"""With more tasks than this the rows of panels are low, to fit on a page."""

MARKERS: Final = {"regression": "v", "improvement": "^", "no_change": "o"}
CAPTION = (
    "One mark per revision: the change it made to the mean return (Δ) against the mean return of the policy it "
    "revised (R₀), coloured by edit pattern. Marks below the line are regressions. A policy near the task's optimum "
    "has little to win and much to lose, whatever the critic looks at."
)


NEEDS: Final = {"revisions": "Revisions (needs revisions)"}


@in_style
def draw(records: Records, condition: str, _band: Band = Band.std) -> list[Drawing]:
    """Draw Δ against R₀ with a row per task and a column per method; nothing where there is no revision."""
    here = records.revisions[records.revisions["condition"] == condition]
    if here.empty:
        return []
    here = here.assign(pattern=labels(here))
    envs, variants = ordered(here["env"], TASKS), ordered(here["variant"], METHODS)
    figure, grid = grid_of(envs, variants)
    for axes, env in zip(grid, envs, strict=True):
        for ax, variant in zip(axes, variants, strict=True):
            _draw_panel(ax, here[(here["env"] == env) & (here["variant"] == variant)])
    dress_grid(grid, envs, variants, "R₀")
    legend(figure, pattern_handles(here), across=min(4, len(variants) + 1), handletextpad=0.3)
    unknown = int(here[["r0", "delta"]].isna().any(axis=1).sum())
    left_out = f"{unknown} without a return are not drawn." if unknown else ""
    note = joined([f"{len(here)} revisions, condition {label(condition)}.", left_out, origin(records.facts, condition)])
    annotate(figure, note)
    described = "Scatter plots of the change in return against the return before, one panel per task and method."
    return [Drawing("revisions", "Revisions", CAPTION, note, described, figure)]


def grid_of(envs: list[str], variants: list[str]) -> tuple[Figure, Any]:
    """Panels for Δ, a row per task and a column per method; low where there are many rows, to fit on a page."""
    height = (0.85 if len(envs) > CROWDED else 1.55) * len(envs) + 0.45
    figure = Figure(figsize=(min(WIDTH, 1.4 + 1.75 * len(variants)), height))
    grid = figure.subplots(len(envs), len(variants), sharex="row", sharey="row", squeeze=False)
    return figure, grid


def dress_grid(grid: Any, envs: list[str], variants: list[str], label: str) -> None:
    """Name the rows and columns of such panels, once they are drawn, and the axis below them."""
    for axes, env in zip(grid, envs, strict=True):
        axes[0].set_ylabel(f"{broken(env) if len(envs) > CROWDED else narrow(env)}\nΔ")
    for ax, variant in zip(grid[0], variants, strict=True):
        ax.set_title(broken(variant))
    for ax in grid[-1]:
        ax.set_xlabel(label)


def _draw_panel(ax: Axes, cell: pd.DataFrame) -> None:
    ax.axhline(0, color=MUTED, lw=0.7)
    ax.grid(visible=True)
    if cell.empty:
        ax.text(0.5, 0.62, "– no revisions", transform=ax.transAxes, ha="center", fontsize=7, color=MUTED)
        return
    palette = {pattern: pattern_colour(pattern) for pattern in cell["pattern"].unique()}
    sns.scatterplot(
        cell,
        x="r0",
        y="delta",
        hue="pattern",
        palette=palette,
        style="direction",
        markers=MARKERS,
        s=15,
        ec=MUTED,
        lw=0.4,
        alpha=0.85,
        legend=False,
        ax=ax,
    )
    ax.set(xlabel="", ylabel="")


def pattern_handles(here: pd.DataFrame) -> list[Line2D]:
    """Entries of the legend for the patterns of some revisions."""
    directions = here.drop_duplicates("pattern").set_index("pattern")["direction"]
    return [
        Line2D(
            [],
            [],
            ls="",
            marker=MARKERS.get(directions[pattern], "s"),
            ms=5,
            mfc=pattern_colour(pattern),
            mec=MUTED,
            mew=0.4,
            label=name(pattern),
        )
        for pattern in ordered(here["pattern"], PATTERNS)
    ]


def plot_revisions(store: Store, condition: str | None = None) -> Panels:
    """Plot the change in return of every revision against the return before, one panel per task and method.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

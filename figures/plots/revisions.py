"""Every revision: what it gained or lost, against how good the policy was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from audit.store import Store
from audit.vocabulary.patterns import by_stake
from figures.data import Records
from figures.names import METHODS, NO_CHANGE, TASKS, broken, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style
from figures.plots.marks import handle
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import MUTED, WIDTH, legend

CROWDED: Final = 5
"""With more tasks than this the rows of panels are low, to fit on a page."""

HIGH_STAKE: Final = 4
"""Patterns of so much at stake, or more, are dark in scatter plots."""


class Group(NamedTuple):
    """Patterns that look alike in scatter plots: more tints could not be distinguished on small marks."""

    direction: str
    is_high: bool
    marker: str
    colour: str


GROUPS: Final = (
    Group("regression", True, "v", "#8C2D04"),
    Group("regression", False, "v", "#FDAE6B"),
    Group("no_change", False, "o", "#E4E4E4"),
    Group("improvement", False, "^", "#9ECAE1"),
    Group("improvement", True, "^", "#08519C"),
)
"""From worst to best."""
_HIGH: Final = {
    direction: {pattern.id: pattern.name for pattern in by_stake(direction) if pattern.stake >= HIGH_STAKE}
    for direction in ("regression", "improvement")
}
CAPTION: Final = (
    "One mark per revision: the change it made to the mean return (Δ) against the mean return of the policy it "
    "revised (R₀). Marks below the line are regressions. Dark marks are the edit patterns with most at stake, which "
    "the legend names: changes to policies that already worked. A policy near the task's optimum has little to win "
    "and much to lose, whatever the critic looks at."
)


NEEDS: Final = {"revisions": "Revisions (needs revisions)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw Δ against R₀ with a row per task and a column per method; nothing where there is no revision."""
    here = records.revisions[records.revisions["condition"] == condition]
    known = here.dropna(subset=["r0", "delta"])
    if known.empty:
        return []
    figure, _ = scatter(known, known, lambda ax, cell: draw_marks(ax, cell, cell["r0"]), "R₀")
    quantity = "score" if records.revises_texts(condition) else "return"
    sentences = [
        f"Δ is the change in mean {quantity}, R₀ the mean {quantity} before.",
        f"{len(here)} revisions, condition {label(condition)}.",
        f"{len(here) - len(known)} without a {quantity} are not drawn." if len(known) < len(here) else "",
    ]
    described = "Scatter plots of the change in return against the return before, one panel per task and method."
    return [finished(figure, records, condition, ("revisions", "Revisions", CAPTION), sentences, described)]


def scatter(
    here: pd.DataFrame,
    known: pd.DataFrame,
    draw_marks_of: Callable[[Axes, pd.DataFrame], None],
    below: str,
    handles: Sequence[Line2D] = (),
) -> tuple[Figure, list[Axes]]:
    """Panels for Δ with a legend, a row per task and a column per method; low where there are many, to fit on a page.

    Args:
        here: revisions.
        known: those that have a mark; their tasks and methods have panels.
        draw_marks_of: draws those of a panel.
        below: the name of the horizontal axes.
        handles: entries of the legend beside those of groups of patterns.

    Returns:
        The figure, and the first panel of each row.
    """
    envs, variants = ordered(known["env"], TASKS), ordered(known["variant"], METHODS)
    height = (0.85 if len(envs) > CROWDED else 1.55) * len(envs) + 0.45
    figure = Figure(figsize=(min(WIDTH, 1.4 + 1.75 * len(variants)), height))
    grid = figure.subplots(len(envs), len(variants), sharex="row", sharey="row", squeeze=False)
    for axes, env in zip(grid, envs, strict=True):
        for ax, variant in zip(axes, variants, strict=True):
            ax.axhline(0, color=MUTED, lw=0.7)
            ax.grid(visible=True)
            cell, marked = (rows[(rows["env"] == env) & (rows["variant"] == variant)] for rows in (here, known))
            if marked.empty:
                words = "– no revisions" if cell.empty else "– no parameters"
                ax.text(0.5, 0.62, words, transform=ax.transAxes, ha="center", fontsize=7, color=MUTED)
            else:
                draw_marks_of(ax, marked)
        axes[0].set_ylabel(f"{broken(env) if len(envs) > CROWDED else narrow(env)}\nΔ")
    for top, bottom, variant in zip(grid[0], grid[-1], variants, strict=True):
        top.set_title(broken(variant))
        bottom.set_xlabel(below)
    legend(figure, [*group_handles(known), *handles], across=min(3, len(variants)), handletextpad=0.3)
    return figure, list(grid[:, 0])


MOST_MARKS: Final = 2000
"""Marks in a panel that PDF and SVG hold as shapes."""


def draw_marks(ax: Axes, revisions: pd.DataFrame, x: pd.Series, size: float = 13.0) -> None:
    """Draw the Δ of revisions at these places, those with most at stake on top."""
    for group in sorted(GROUPS, key=lambda group: group.is_high):
        mine = _is_in(revisions, group)
        ax.scatter(
            x[mine],
            revisions.loc[mine, "delta"],
            c=group.colour,
            marker=group.marker,
            s=size,
            ec=MUTED,
            lw=0.3,
            alpha=0.9,
            # Vector files of thousands of marks would be large and slow to show.
            rasterized=len(revisions) > MOST_MARKS,
        )


def _is_in(revisions: pd.DataFrame, group: Group) -> pd.Series:
    is_high = revisions["pattern"].isin(list(_HIGH.get(group.direction, ())))
    return (revisions["direction"] == group.direction) & (is_high == group.is_high)


def group_handles(revisions: pd.DataFrame) -> list[Line2D]:
    """Entries of the legend for the groups of some revisions."""
    present = [group for group in GROUPS if _is_in(revisions, group).any()]
    return [
        handle(_called(each, present), MUTED, each.marker, size=5, inside=each.colour, edge=0.4) for each in present
    ]


def _called(group: Group, present: Sequence[Group]) -> str:
    if group.is_high:
        return ", ".join(_HIGH[group.direction].values())
    if group.direction == NO_CHANGE:
        return name(NO_CHANGE)
    others = any(each.is_high and each.direction == group.direction for each in present)
    return f"{'other ' * others}{group.direction}s"


def plot_revisions(store: Store, condition: str | None = None) -> Panels:
    """Plot the change in return of every revision against the return before, one panel per task and method.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

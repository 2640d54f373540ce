"""Marks that several figures draw: a value with its interval, a row's label, a dash for what is not there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from figures.names import METHODS, TASKS, broken, narrow, ordered
from figures.style import MUTED, ink_on

Cell = tuple[str, str]
"""A task and a method of one condition."""

DASH: Final = "–"
ROUGH_ALPHA: Final = 0.4
PALE: Final = "A pale line is a rough interval: too few runs to rely on it."


def number(value: Any) -> float:
    """A number, or NaN where there is none."""
    return math.nan if value is None or pd.isna(value) else float(value)


def cells(rows: Sequence[Mapping[str, Any]]) -> list[Cell]:
    """The tasks and methods of some rows, each once: methods one after the other, in every one the tasks in order."""
    found = {(str(row["env"]), str(row["variant"])) for row in rows}
    envs, variants = ordered((e for e, _ in found), TASKS), ordered((v for _, v in found), METHODS)
    return [(env, variant) for variant in variants for env in envs if (env, variant) in found]


def cell_label(cell: Cell, *, several: bool) -> str:
    """What a row of a figure is called: the task, and the method where the figure has several."""
    env, variant = cell
    return f"{broken(env)}\n{narrow(variant)}" if several else broken(env)


def percentage(share: float) -> str:
    """The percentage of a bar as it is printed there: with the decimal that tables have, unless that is 0."""
    return f"{share:.1f}".removesuffix(".0")


def stacked(ax: Axes, y: float, parts: Sequence[tuple[str, float]], height: float, printed_from: float) -> None:
    """Draw a bar of parts side by side, each of a colour and a share in percent; large shares are printed."""
    start = 0.0
    for colour, share in parts:
        ax.barh(y, share, left=start, height=height, color=colour, edgecolor="white", linewidth=0.6)
        if share >= printed_from:
            words = percentage(share)
            ax.text(start + share / 2, y, words, ha="center", va="center", fontsize=7, color=ink_on(colour))
        start += share


def is_rough(row: Mapping[str, Any], column: str) -> bool:
    """Whether too few runs inform the interval of a column to rely on it."""
    return column in (row.get("rough") or ())


def interval(
    ax: Axes,
    y: float,
    value: float,
    low: float,
    high: float,
    colour: str,
    marker: str,
    *,
    size: float = 4.5,
    inside: str = "",
    width: float = 1.3,
    is_rough: bool = False,
) -> None:
    """Draw a value with its interval, lying; hollow where that is unknown or a point, and nothing without a value.

    An end that is infinite runs to the edge of the panel, whose limits have to be set before. `size` is the mark's,
    which is filled unless another colour is `inside`; `width` is the line's,
    which is pale where the interval is rough.
    """
    if not math.isfinite(value):
        return
    known = low < high
    if known:
        left, right = ax.get_xlim()
        ends, alpha = [max(low, left), min(high, right)], ROUGH_ALPHA if is_rough else None
        ax.plot(ends, [y, y], color=colour, lw=width, solid_capstyle="butt", alpha=alpha)
    inside = (inside or colour) if known else "white"
    ax.plot(value, y, ls="", marker=marker, ms=size, mfc=inside, mec=colour, mew=1.0, clip_on=False, zorder=3)


def handle(label: str, colour: str, marker: str, *, size: float = 4.5, inside: str = "", edge: float = 1.0) -> Line2D:
    """An entry of the legend for such marks, which are filled unless another colour is `inside`."""
    return Line2D([], [], ls="", marker=marker, ms=size, mfc=inside or colour, mec=colour, mew=edge, label=label)


def absent(ax: Axes, y: float, words: str = DASH) -> None:
    """Write at the left of a row that something is missing."""
    ax.text(0.02, y, words, transform=ax.get_yaxis_transform(), va="center", fontsize=7, color=MUTED)


def rows_of(ax: Axes, labels: Sequence[str]) -> None:
    """Make an axis of rows from the top, with a label each and no line."""
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_yticks(range(len(labels)), list(labels))
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def head(ax: Axes, words: str) -> None:
    """Head the numbers to the right of a panel."""
    ax.text(1.015, 1.0, words, transform=ax.transAxes, fontsize=7, color=MUTED, va="bottom")


def beside(ax: Axes, y: float, words: str) -> None:
    """Put a number to the right of a panel, at a row."""
    ax.text(1.015, y, words, transform=ax.get_yaxis_transform(), fontsize=7, color=MUTED, va="center")

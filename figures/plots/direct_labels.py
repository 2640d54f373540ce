"""Lines that are named at their ends, with an interval there: no key to look up, and no bands that overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import isotonic_regression

from figures.names import narrow
from figures.style import round_ticks, stroke

_LINE: Final = 8.5 / 72
"""Inches between two labels, one below the other."""
_STEP: Final = 0.03
"""Between the intervals of two methods, and before the first, as a share of the data's width."""
_GAP: Final = 0.05
"""From the last interval to the labels, in that unit."""


class End(NamedTuple):
    """Where a method's line ends, and the interval of that value; NaN where there is none."""

    method: str
    x: float
    value: float
    low: float
    high: float


def name_lines(ax: Axes, ends: Sequence[End], height: float, *, intervals: bool = True) -> None:
    """Write the names of lines at their right, apart from one another, and their intervals side by side before them.

    Call it when all else is drawn: it fixes the limits of both axes.

    Args:
        ax: with the lines.
        ends: in the order of the methods.
        height: of the panel, in inches, about.
        intervals: whether to draw them.
    """
    if not ends:
        return
    low, high = ax.get_ylim()
    for end in ends if intervals else ():
        low, high = float(np.fmin(low, end.low)), float(np.fmax(high, end.high))
    first, last = min(ax.dataLim.x0, *(end.x for end in ends)), max(end.x for end in ends)
    width = (last - first) or 1.0
    edge = last + width * (_STEP * (len(ends) + 1) if intervals else 0.0)
    ax.set(ylim=(low, high), xlim=(first - 0.02 * width, edge))
    _round_ticks(ax, first, last)
    order = np.argsort([end.value for end in ends], kind="stable")
    gap = _LINE / height * (high - low)
    places = apart(np.array([ends[i].value for i in order]), gap, low, high)
    beside = edge + _GAP * width
    for place, i in zip(places, order, strict=True):
        end, look = ends[i], stroke(ends[i].method)
        x = last + _STEP * width * (i + 1) if intervals else last
        if intervals and end.low < end.high:
            ax.plot([x, x], [end.low, end.high], color=look.colour, lw=1.3, solid_capstyle="butt")
        if intervals:
            ax.plot(x, end.value, "o", ms=2.5, mfc=look.colour, mec=look.colour, clip_on=False)
        ax.plot([end.x, x, beside], [end.value, end.value, place], color=look.colour, lw=0.4, alpha=0.6, clip_on=False)
        ax.text(beside, place, narrow(end.method), color=look.colour, fontsize=7, va="center", clip_on=False)


def apart(values: np.ndarray, gap: float, low: float, high: float) -> np.ndarray:
    """Move values apart by at least a gap and as little as can be (least squares), within two ends if they fit there.

    Args:
        values: shape (n,), in order.
        gap: between neighbours.
        low: the lower end.
        high: the upper end.
    """
    steps = gap * np.arange(len(values))
    moved = isotonic_regression(values - steps).x
    # Clipped before the steps are put back, so that neither end brings two of them together.
    return np.clip(moved, low, max(low, high - gap * (len(values) - 1))) + steps


def _round_ticks(ax: Axes, first: float, last: float) -> None:
    """Ticks at round numbers where there are data, and the line below the panel no longer than these."""
    ticks = round_ticks(4).tick_values(min(0.0, first), last)
    ax.set_xticks([tick for tick in ticks if first <= tick <= last] or [last])
    ax.spines["bottom"].set_bounds(first, last)

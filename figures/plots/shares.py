"""Shares of revisions that follow a rollout, as a forest: intervals, and verdicts by shape and colour.

Shapes are not those of tests: what a test does not find may still be there, but not what does not move a critic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from audit.interventions.effects.named_shares import SMALLEST, STIMULI, holds_all, margin_of
from audit.interventions.effects.results import AWAY, CANNOT_TELL, DOES_NOT, GOES_WITH, MOVES, NO_VERDICT, NOT_ASKED
from audit.vocabulary.colours import STRICT
from figures.plots.marks import absent, beside, handle, head, interval, number, rows_of
from figures.style import MUTED

SHARE: Final = "share"
"""The outcome of such rows."""
DESCRIBED: Final = "described"
LOOKS: Final[Mapping[str, tuple[str, str]]] = {
    MOVES: (STRICT, "o"),
    AWAY: (STRICT, "<"),
    GOES_WITH: (MUTED, "d"),
    DOES_NOT: (MUTED, "X"),
    CANNOT_TELL: ("#A66F00", "^"),
    DESCRIBED: (MUTED, "|"),
}
"""Colour and marker of a verdict."""
_SIZE: Final = 5.5
_NARROWEST: Final = 20.0
"""Percent to either side of zero that are always shown."""
_WIDEST: Final = 100.0
"""No share is above it: of what an interval has beyond, nothing is drawn or printed."""


def problem_of(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The sentence that is in place of all verdicts; None where there are verdicts."""
    return next((line for row in rows if (line := str(row["sentence"])).startswith(NO_VERDICT)), None)


def draw_shares(ax: Axes, rows: Sequence[Mapping[str, Any]], title: str) -> None:
    """Draw the shares of an experiment, a row each; the grey band is what is smaller than the smallest of interest."""
    rows_of(ax, [_name(str(row["name"])) for row in rows])
    ax.set_title(title if problem_of(rows) is None else f"{title}: no verdict")
    ax.set_xlabel("% of revisions")
    ax.grid(visible=True, axis="x")
    missing = [_missing(row) for row in rows]
    numbers = [[_percent(row[key]) for key in ("estimate", "low", "high")] for row in rows]
    ends = [
        each
        for words, row in zip(missing, numbers, strict=True)
        for each in row
        if words is None and math.isfinite(each)
    ]
    ax.set_xlim(min([-_NARROWEST, *ends]) * 1.05, max([_NARROWEST, *ends]) * 1.05)
    ax.axvline(0, color=MUTED, lw=0.8, zorder=0)
    head(ax, "% (95% interval)")
    for y, (row, words, (value, low, high)) in enumerate(zip(rows, missing, numbers, strict=True)):
        if words is not None:
            absent(ax, y, f"– {words}")
            continue
        name, verdict = str(row["name"]), _verdict(row)
        if verdict != DESCRIBED and name not in STIMULI:
            margin = 100 * margin_of(name, SMALLEST)
            ax.fill_betweenx([y - 0.5, y + 0.5], -margin, margin, color=MUTED, alpha=0.12, lw=0, zorder=0)
        interval(ax, y, value, low, high, *LOOKS[verdict], size=_SIZE)
        beside(ax, y, _with_interval(value, low, high))


def handles(rows: Sequence[Mapping[str, Any]]) -> list[Line2D]:
    """Entries of the legend: the verdicts that some rows have."""
    verdicts = {_verdict(row) for row in rows}
    return [handle(verdict, *look, size=_SIZE) for verdict, look in LOOKS.items() if verdict in verdicts]


def _verdict(row: Mapping[str, Any]) -> str:
    """The verdict on a share, or that it is only described, which is all where there is no verdict."""
    has_none = problem_of([row]) is not None and row["verdict"] != NOT_ASKED
    return DESCRIBED if has_none else str(row["verdict"])


def _missing(row: Mapping[str, Any]) -> str | None:
    """What is written in place of a share that is not known; None where it is."""
    verdict = _verdict(row)
    if verdict == NOT_ASKED or math.isnan(number(row["estimate"])):
        return verdict if verdict != DESCRIBED else "not known"
    is_open = (
        verdict == DESCRIBED and row["verdict"] == DESCRIBED and holds_all(number(row["low"]), number(row["high"]))
    )
    return CANNOT_TELL if is_open else None


def _name(share: str) -> str:
    return f"{share} (equivalent)" if share in STIMULI else share


def _with_interval(value: float, low: float, high: float) -> str:
    ends = f" ({low:z.0f} to {high:z.0f})" if math.isfinite(low) else ""
    return f"{value:z.0f}{ends}".replace("-", "−")


def _percent(share: Any) -> float:
    """A share in percent, within what it can be; NaN where it is not known."""
    value = 100 * number(share)
    return value if math.isnan(value) else min(max(value, -_WIDEST), _WIDEST)

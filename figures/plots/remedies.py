"""Remedies between harm and gain: what each avoids, what it loses, what it costs, and which no other is better than.

Drawn from a finished plan of `audit remedy`, not from records, and so once for all conditions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.optimize import linear_sum_assignment

from audit.output.errors import count
from figures.errors import FiguresError
from figures.names import narrow
from figures.plots.direct_labels import apart
from figures.plots.drawing import Drawing, in_style, joined
from figures.plots.marks import handle, number
from figures.plots.plotting import Panels
from figures.provenance import origin
from figures.style import MUTED, WIDTH, annotate, legend, round_ticks

STEM: Final = "remedies"
TITLE: Final = "Remedies"
CAPTION: Final = (
    "Remedies against harmful revisions, with 95% intervals over runs as thin lines: how much less harm revisions do "
    "on average, upwards, and how much less they gain, to the right, both as a percentage of the way to "
    "high returns. Above, what is changed before or in the answer, against the revision as it is; below, "
    "tests that decide whether a revision is kept, against keeping it if its mean is not lower, as searches do. The "
    "axes of the two differ. Filled: it avoids harm, p corrected over all remedies. Open: it does not, does more, or "
    "that cannot be told. The shape is what a remedy acts on. The step line leads over remedies that none in the "
    "panel beats in both; the cross is doing without. Beside each name, what a turn costs: calls of the model, and "
    "rollouts beyond those of a search without it."
)


class Look(NamedTuple):
    """Colour and marker of what remedies act on."""

    colour: str
    marker: str


LOOKS: Final[Mapping[str, Look]] = {
    "evidence": Look("#0072B2", "o"),
    "instruction": Look("#8A6100", "s"),
    "answers": Look("#D55E00", "^"),
    "acceptance": Look("#9C4A7F", "D"),
}
OTHER: Final = Look(MUTED, "v")
"""Of what is not known here."""
BASE: Final = Look("black", "P")
BASES: Final[Mapping[str, str]] = {
    "A0": "Against the revision as it is",
    "greedy": "Against keeping a revision if it is not lower",
}
"""Titles of panels, by what is compared with."""
_INNER: Final = 4.6
"""Inches of a panel's width, about."""
_LINE: Final = 0.128
"""Inches between two names, one below the other."""
_LEAST: Final = 9
"""Lines of names that a panel has room for at least."""
_NAMES: Final = 1.03
"""Where names begin, as a share of the panel's width."""
_LETTER: Final = 4.4
"""Points of a letter of a name, about."""
_COST: Final = 8
"""Points between the longest name and the costs."""


@dataclass(frozen=True)
class Remedies:
    """A finished experiment on remedies: its rows, and what its report states, a sentence each."""

    rows: Sequence[Mapping[str, Any]]
    setting: Sequence[str]
    findings: Sequence[str]
    model: str
    backend: str
    sha256: str


def read(plan: str | Path) -> Remedies:
    """Read a finished plan of remedies.

    Raises:
        AuditError: it is no such plan, was changed, or calls have no answer yet.
    """
    from audit.interventions.plan import read_plan  # and with it all that runs policies
    from audit.remedies.remedy import remedy_report
    from audit.remedies.report import FINDINGS, SETTING

    asked = read_plan(Path(plan))
    found = remedy_report(plan)
    setting, findings = ([str(row["sentence"]) for row in found.parts[part]] for part in (SETTING, FINDINGS))
    return Remedies(list(found), setting, findings, asked.model, asked.backend, asked.sha256)


@in_style
def draw(remedies: Remedies) -> Drawing:
    """Draw remedies, a panel for each baseline.

    Raises:
        FiguresError: no remedy was compared with anything.
    """
    by_base = {base: [row for row in remedies.rows if row["against"] == base] for base in BASES}
    panels = {base: rows for base, rows in by_base.items() if any(map(_is_known, rows))}
    if not panels:
        raise FiguresError("nothing to draw: what the remedies of the plan avoid is not known")
    lines = [max(_LEAST, len(rows) + 1) for rows in panels.values()]
    figure = Figure(figsize=(WIDTH, sum(_LINE * each + 0.75 for each in lines)))
    grid = figure.add_gridspec(len(panels), 1, height_ratios=lines)
    wide = _COST + _LETTER * max(len(narrow(str(row["remedy"]))) for rows in panels.values() for row in rows)
    for place, ((base, rows), room) in enumerate(zip(panels.items(), lines, strict=True)):
        own = next((row for row in remedies.rows if row["remedy"] == base), None)
        _draw(figure.add_subplot(grid[place, 0]), base, own, rows, _LINE * room, wide)
    shown = [row for rows in panels.values() for row in rows if _is_known(row)]
    legend(figure, _handles(shown), across=4)
    note = joined([*_remarks(remedies, shown), _origin(remedies)])
    annotate(figure, note)
    described = "Remedies by the gain that they lose and the harm that they avoid, with intervals: " + ", ".join(
        str(row["remedy"]) for row in shown
    )
    return Drawing(STEM, TITLE, CAPTION, note, f"{described}.", figure)


def front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those of some points (gain lost, harm avoided) that none beats in both, from the smallest loss on."""
    found: list[tuple[float, float]] = []
    for lost, avoided in sorted(set(points), key=lambda each: (each[0], -each[1])):
        if not found or avoided > found[-1][1]:
            found.append((lost, avoided))
    return found


def _is_known(row: Mapping[str, Any]) -> bool:
    return all(math.isfinite(each) for each in _point(row))


def _point(row: Mapping[str, Any]) -> tuple[float, float]:
    """What a remedy loses and avoids, in percent of the way."""
    return 100 * number(row["gain_lost"]), 100 * number(row["harm_avoided"])


def _span(row: Mapping[str, Any], low: str, high: str) -> tuple[float, float]:
    return 100 * number(row[low]), 100 * number(row[high])


def _draw(
    ax: Axes, base: str, own: Mapping[str, Any] | None, rows: Sequence[Mapping[str, Any]], height: float, wide: float
) -> None:
    """Draw the remedies that are compared with one baseline, in a panel of about so many inches.

    `wide` is the points from where names begin to where costs do.
    """
    rows = [row for row in rows if _is_known(row)]
    cost = f"{base}: {_cost(own)}" if own and _cost(own) else base
    ax.set_title(f"{BASES[base]} ({cost})")
    ax.set_xlabel("gain lost, % of the way")
    ax.set_ylabel("harm avoided, %")
    ax.grid(visible=True)
    ax.xaxis.set_major_locator(round_ticks(7))
    ax.yaxis.set_major_locator(round_ticks(5))
    points = [(0.0, 0.0), *map(_point, rows)]
    spans = [(_span(row, "gain_lost_low", "gain_lost_high"), _span(row, "low", "high")) for row in rows]
    limits = [
        _limits([*(point[axis] for point in points), *(end for span in spans for end in span[axis])]) for axis in (0, 1)
    ]
    ax.set_xlim(*limits[0])
    ax.set_ylim(*limits[1])
    ax.axhline(0, color=MUTED, lw=0.5, zorder=0.8)
    ax.axvline(0, color=MUTED, lw=0.5, zorder=0.8)
    _draw_front(ax, front(points))
    ax.plot(0, 0, ls="", marker=BASE.marker, ms=5.5, mfc=BASE.colour, mec="white", mew=0.6, zorder=4)
    for row, (x, y), (lost, avoided) in zip(rows, points[1:], spans, strict=True):
        look = LOOKS.get(str(row["acts"]), OTHER)
        for xs, ys in ((lost, (y, y)), ((x, x), avoided)):
            if all(map(math.isfinite, (*xs, *ys))):
                ax.plot(xs, ys, color=look.colour, lw=0.6, alpha=0.7, solid_capstyle="butt", zorder=2)
        inside = look.colour if _avoids(row) else "white"
        ax.plot(x, y, ls="", marker=look.marker, ms=5, mfc=inside, mec=look.colour, mew=1.0, zorder=3)
    _name(ax, rows, height, wide)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    """Of an axis with some room to either side."""
    ends = [each for each in values if math.isfinite(each)]
    margin = 0.06 * ((max(ends) - min(ends)) or 1.0)
    return min(ends) - margin, max(ends) + margin


def _draw_front(ax: Axes, best: Sequence[tuple[float, float]]) -> None:
    """A step line over the points that none beats, from below the first to the right of the last."""
    (left, right), (low, _) = ax.get_xlim(), ax.get_ylim()
    first, last = max(best[0][0], left), best[-1][1]
    xs = [first, *(x for x, _ in best), right]
    ys = [low, *(y for _, y in best), last]
    ax.plot(xs, ys, drawstyle="steps-post", solid_joinstyle="miter", color="black", lw=2.4, alpha=0.3, zorder=1.5)


def _name(ax: Axes, rows: Sequence[Mapping[str, Any]], height: float, wide: float) -> None:
    """Write names and costs to the right of a panel, apart from one another, each with a line to its mark.

    Of all ways to give the places to the names, that with the shortest lines in all is taken: in it no two cross.
    """
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    points = np.array([_point(row) for row in rows])
    inches = (points - (left, low)) / (right - left, high - low) * (_INNER, height)
    places = apart(np.sort(inches[:, 1]), _LINE, 0.0, height)
    ends = np.column_stack([np.full(len(rows), _NAMES * _INNER), places])
    _, chosen = linear_sum_assignment(np.linalg.norm(inches[:, None] - ends, axis=2))
    for row, point, place in zip(rows, points, places[chosen] / height, strict=True):
        line = {"color": LOOKS.get(str(row["acts"]), OTHER).colour, "lw": 0.7, "ls": ":", "zorder": 1}
        ax.annotate(
            narrow(str(row["remedy"])),
            (float(point[0]), float(point[1])),
            xytext=(_NAMES, float(place)),
            textcoords="axes fraction",
            fontsize=7.5,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5), **line},
        )
        ax.annotate(
            _cost(row),
            (_NAMES, float(place)),
            xycoords="axes fraction",
            xytext=(wide, 0),
            textcoords="offset points",
            fontsize=7,
            color=MUTED,
            va="center",
            annotation_clip=False,
        )


def _cost(row: Mapping[str, Any]) -> str:
    """Calls and rollouts of a turn."""
    calls, rollouts = number(row["calls"]), number(row["rollouts"])
    parts = []
    if math.isfinite(calls):
        parts.append(count(round(calls), "call") if calls == round(calls) else f"{calls:.1f} calls")
    if rollouts > 0:
        parts.append(f"{rollouts:.0f} rollouts" if rollouts >= 1.5 else f"{rollouts:.1g} rollouts")
    return ", ".join(parts)


def _avoids(row: Mapping[str, Any]) -> bool:
    from audit.remedies.report import AVOIDS

    return bool(row["verdict"] == AVOIDS)


def _handles(rows: Sequence[Mapping[str, Any]]) -> list[Line2D]:
    acts = {str(row["acts"]) for row in rows}
    found = [handle(f"acts on {name}", *look, inside="white") for name, look in LOOKS.items() if name in acts]
    line = Line2D([], [], color="black", lw=2.4, alpha=0.3, label="none is better in both")
    return [
        *found,
        handle("avoids harm (filled)", MUTED, "o"),
        handle("without a remedy", BASE.colour, BASE.marker, edge=0),
        line,
    ]


def _remarks(remedies: Remedies, shown: Sequence[Mapping[str, Any]]) -> list[str]:
    problems = [each for each in remedies.findings if each.startswith("PROBLEM")]
    units, runs = (max(int(row[key]) for row in shown) for key in ("units", "runs"))
    return [*problems, f"{count(units, 'prompt')} of {count(runs, 'run')}."]


def _origin(remedies: Remedies) -> str:
    facts = [{"condition": STEM, "backend": remedies.backend, "model": remedies.model}]
    return origin(pd.DataFrame(facts), STEM)


def plot_remedies(plan: str | Path) -> Panels:
    """Plot remedies of a finished plan of `audit remedy`: harm avoided against gain lost, a panel for each baseline.

    Args:
        plan: the plan's file.

    Returns:
        The axes, of a new figure that pyplot does not know of: `axes[0].figure.savefig(...)` writes it.

    Raises:
        FiguresError: of no remedy it is known what it avoids.
        AuditError: it is no such plan, was changed, or calls have no answer yet.
    """
    return np.array(draw(read(plan)).figure.axes, dtype=object)

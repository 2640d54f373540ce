"""Who cites the worst rollout: regressions beside their base rates, and whether citing goes with a regression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from audit.detectors.about import parse_about
from audit.store import Store
from audit.vocabulary.colours import DIRECTION_COLOURS
from figures.data import Records
from figures.names import label, worded
from figures.plots.drawing import Drawing, in_style, span
from figures.plots.marks import (
    PALE,
    absent,
    beside,
    cell_label,
    cells,
    handle,
    head,
    interval,
    is_rough,
    number,
    rows_of,
)
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import MUTED, WIDTH, legend

KINDS: Final = {"regression": "regressions", "improvement": "improvements", "no_change": "no_change"}
"""Directions, and what the audit's columns call them."""

LABELS: Final = {"regression": "regressions", "improvement": "improvements", "no_change": "unchanged returns"}
MARKERS: Final = {"regression": "v", "improvement": "^", "no_change": "o"}
OFFSETS: Final = (-0.25, 0.0, 0.25)

CAPTION: Final = (
    "Shares: of regressions, of improvements and of unchanged returns whose critic cited {item}, with "
    "the number of each. The shares among improvements and unchanged returns are the base rates: where they are as "
    "high as that of regressions, citing is not a sign of regressing. Risk ratio: the risk of a regression after an "
    "answer that cites {item}, divided by the risk after one that does not; 1 means no difference. It is not a "
    "sign of what a revision was driven by, and how good a policy already was changes both citing and regressing. "
    "Intervals are 95%, with runs as clusters: of shares CR2, of the ratio by bootstrap. {rough} A hollow mark has no "
    "interval (one run, or runs that do not differ), a dash no value."
)


NEEDS: Final = {"citing": "Citing the worst rollout, and base rates (needs revisions of ThreeTraj, or after batches)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw shares that cite and the risk ratio, task by task; nothing where no critic was shown the worst rollout."""
    rows = {(str(row["env"]), str(row["variant"])): row for row in records.rates if row["condition"] == condition}
    if not rows:
        return []
    order = cells(list(rows.values()))
    about = parse_about(str(next(iter(rows.values()))["about"]))
    of_texts = records.revises_texts(condition)
    item = worded(str(about), of_texts=of_texts) if about.kind == "role" else str(about)
    ratios = [number(row["risk_ratio"]) for row in rows.values()]
    has_ratio = any(map(math.isfinite, ratios))
    figure = Figure(figsize=(WIDTH, 0.58 * len(order) + 0.75))
    left, *others = figure.subplots(1, 1 + has_ratio, squeeze=False, width_ratios=[3, 2][: 1 + has_ratio])[0]
    _prepare_shares(left, item)
    several = len({variant for _, variant in order}) > 1
    for y, cell in enumerate(order):
        _draw_shares(left, y, rows[cell])
    rows_of(left, [cell_label(cell, several=several) for cell in order])
    for right in others:
        _prepare_ratios(right, [rows[cell] for cell in order])
        for y, cell in enumerate(order):
            _draw_ratio(right, y, rows[cell])
        rows_of(right, [""] * len(order))
    words = {direction: worded(words, of_texts=of_texts) for direction, words in LABELS.items()}
    legend(figure, [handle(words[d], DIRECTION_COLOURS[d], MARKERS[d]) for d in KINDS], across=3)
    runs = [int(row["runs"]) for row in rows.values()]
    detector = ", ".join(sorted({str(row["detector"]) for row in rows.values()}))
    sentences = [
        f"{span(runs, 'run')} a task, detector {detector}, condition {label(condition)}.",
        "No intervals from one run." if max(runs) == 1 else "",
        "" if has_ratio else "No risk ratio can be computed.",
    ]
    described = (
        f"Per task the share of regressions, improvements and unchanged returns that cite {about}, and a risk ratio."
    )
    title = f"Citing {item}, and base rates"
    return [
        finished(
            figure, records, condition, ("citing", title, CAPTION.format(item=item, rough=PALE)), sentences, described
        )
    ]


def _prepare_shares(left: Axes, item: str) -> None:
    left.set_xlim(-3, 103)
    left.set_xticks(range(0, 101, 20))
    left.set_xlabel(f"% that cite {item}")
    left.grid(visible=True, axis="x")
    head(left, "n")


def _prepare_ratios(right: Axes, rows: list[Mapping[str, Any]]) -> None:
    known = [number(row[key]) for row in rows for key in ("risk_ratio", "risk_ratio_low", "risk_ratio_high")]
    reach = max([abs(math.log2(v)) for v in known if math.isfinite(v) and v > 0] + [1.0])
    reach = min(math.ceil(reach + 0.2), 6)
    right.set_xscale("log", base=2)
    right.set_xlim(2.0**-reach, 2.0**reach)
    ticks = 2.0 ** np.arange(-reach, reach + 1, 1 if reach <= 3 else 2)
    right.set_xticks(ticks, [f"1/{1 / tick:.0f}" if tick < 1 else f"{tick:.0f}" for tick in ticks])
    right.axvline(1, color=MUTED, lw=0.7)
    right.set_xlabel("risk ratio of regressing")
    right.grid(visible=True, axis="x")
    head(right, "")


def _draw_shares(ax: Axes, y: int, row: Mapping[str, Any]) -> None:
    for offset, (direction, key) in zip(OFFSETS, KINDS.items(), strict=True):
        count = int(row[key])
        beside(ax, y + offset, f"{count}")
        if not count:
            absent(ax, y + offset)
            continue
        name = f"citing_{key}_pct"
        share, low, high = (number(row.get(f"{name}{end}")) for end in ("", "_low", "_high"))
        look = (DIRECTION_COLOURS[direction], MARKERS[direction])
        interval(ax, y + offset, share, low, high, *look, is_rough=is_rough(row, name))


def _draw_ratio(ax: Axes, y: int, row: Mapping[str, Any]) -> None:
    low, value, high = (number(row[f"risk_ratio{end}"]) for end in ("_low", "", "_high"))
    if math.isfinite(value) and value > 0:
        # An end that is infinite is null, as is one that is unknown: of the two only the upper one can be infinite.
        high = math.inf if math.isfinite(low) and math.isnan(high) else high
        interval(ax, y, value, low, high, "black", "D", is_rough=is_rough(row, "risk_ratio"))
    else:
        absent(ax, y, "0: none that cites regressed" if value == 0 else "–")


def plot_citing(store: Store, condition: str | None = None) -> Panels:
    """Plot, per task, the shares of revisions that cite the worst rollout, and the risk ratio of regressing.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

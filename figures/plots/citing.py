"""Who cites the worst rollout: regressions beside their base rates, and whether citing goes with a regression."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from audit.detectors.about import parse_about
from audit.measures.bootstrap import Interval, ratio_interval
from audit.store import Store
from audit.vocabulary.colours import DIRECTION_COLOURS
from figures.data import Records
from figures.names import label
from figures.options import Band
from figures.plots.drawing import Drawing, in_style, span
from figures.plots.marks import absent, beside, cell_label, cells, handle, head, interval, number, rows_of
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import MUTED, WIDTH, legend
from figures.wording import worded

KINDS: Final = {"regression": "regressions", "improvement": "improvements", "no_change": "no_change"}
"""Directions, and what the audit's columns call them."""

LABELS: Final = {"regression": "regressions", "improvement": "improvements", "no_change": "unchanged returns"}
MARKERS: Final = {"regression": "v", "improvement": "^", "no_change": "o"}
OFFSETS: Final = (-0.25, 0.0, 0.25)
FEW: Final = 10
"""With fewer runs than this, bootstrap intervals are known to be too narrow."""

CAPTION: Final = (
    "Shares: of regressions, of improvements and of unchanged returns whose critic cited {item}, with "
    "the number of each. The shares among improvements and unchanged returns are the base rates: where they are as "
    "high as that of regressions, citing is not a sign of regressing. Risk ratio: the risk of a regression after an "
    "answer that cites {item}, divided by the risk after one that does not; 1 means no difference. It is not a "
    "sign of what a revision was driven by, and how good a policy already was changes both citing and regressing. "
    "Intervals are 95%, by bootstrap over whole runs; with fewer than ten runs they are too narrow. A hollow mark "
    "has no interval (one run, too few cases, or runs that do not differ), a dash no value."
)


def citing_interval(revisions: pd.DataFrame, direction: str) -> Interval:
    """Interval for the share of revisions of one direction that cite what is asked about, usually the worst rollout.

    Args:
        revisions: one row per revision of one method on one task, whose critic saw three rollouts, with columns run,
            direction and cites.
        direction: which revisions are asked about.

    Returns:
        In percent, by bootstrap over runs; NaN for fewer than two runs.
    """
    cites = revisions["cites"].fillna(value=False).astype(bool)
    here = revisions["direction"] == direction
    return ratio_interval(100.0 * (cites & here), here, revisions["run"])


NEEDS: Final = {"citing": "Citing the worst rollout, and base rates (needs revisions of ThreeTraj, or after batches)"}


@in_style
def draw(records: Records, condition: str, _band: Band = Band.std) -> list[Drawing]:
    """Draw shares that cite and the risk ratio, task by task; nothing where no critic was shown the worst rollout."""
    rows = {(str(row["env"]), str(row["variant"])): row for row in records.rates if row["condition"] == condition}
    if not rows:
        return []
    order = cells(list(rows.values()))
    about = parse_about(str(next(iter(rows.values()))["about"]))
    # Revisions whose critic saw the worst: the criteria show it, where they are of the item that is asked about.
    known = "permissive" if about.is_worst else "cites"
    shown = records.revisions[records.revisions["condition"] == condition].dropna(subset=[known])
    of_texts = records.revises_texts(condition)
    item = worded(str(about), of_texts=of_texts) if about.kind == "role" else str(about)
    ratios = [number(row["risk_ratio"]) for row in rows.values()]
    has_ratio = any(map(math.isfinite, ratios))
    figure = Figure(figsize=(WIDTH, 0.58 * len(order) + 0.75))
    left, *others = figure.subplots(1, 1 + has_ratio, squeeze=False, width_ratios=[3, 2][: 1 + has_ratio])[0]
    _prepare_shares(left, item)
    several = len({variant for _, variant in order}) > 1
    for y, (env, variant) in enumerate(order):
        mine = shown[(shown["env"] == env) & (shown["variant"] == variant)]
        _draw_shares(left, y, rows[env, variant], mine)
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
        _remark(runs),
        "" if has_ratio else "No risk ratio can be computed.",
    ]
    described = (
        f"Per task the share of regressions, improvements and unchanged returns that cite {about}, and a risk ratio."
    )
    title = f"Citing {item}, and base rates"
    return [finished(figure, records, condition, ("citing", title, CAPTION.format(item=item)), sentences, described)]


def _remark(runs: list[int]) -> str:
    if max(runs) == 1:
        return "No intervals from one run."
    return f"With fewer than {FEW} runs intervals are too narrow." if min(runs) < FEW else ""


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


def _draw_shares(ax: Axes, y: int, row: Mapping[str, Any], revisions: pd.DataFrame) -> None:
    for offset, (direction, key) in zip(OFFSETS, KINDS.items(), strict=True):
        count = int(row[key])
        beside(ax, y + offset, f"{count}")
        if not count:
            absent(ax, y + offset)
            continue
        ends = citing_interval(revisions, direction)
        share = number(row[f"citing_{key}_pct"])
        interval(ax, y + offset, share, *ends, DIRECTION_COLOURS[direction], MARKERS[direction])


def _draw_ratio(ax: Axes, y: int, row: Mapping[str, Any]) -> None:
    low, value, high = (number(row[f"risk_ratio{end}"]) for end in ("_low", "", "_high"))
    if math.isfinite(value) and value > 0:
        # An end that is infinite is null, as is one that is unknown: of the two only the upper one can be infinite.
        interval(ax, y, value, low, math.inf if math.isfinite(low) and math.isnan(high) else high, "black", "D")
    else:
        absent(ax, y, "0: none that cites regressed" if value == 0 else "–")


def plot_citing(store: Store, condition: str | None = None) -> Panels:
    """Plot, per task, the shares of revisions that cite the worst rollout, and the risk ratio of regressing.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

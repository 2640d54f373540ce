"""Size of an edit: what a revision gained or lost, against how many parameters it changed."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from audit.store import Store
from figures.data import Records
from figures.names import label
from figures.plots.drawing import Drawing, in_style
from figures.plots.marks import handle
from figures.plots.patterns import sizes
from figures.plots.plotting import Panels, axes_of, finished
from figures.plots.revisions import draw_marks, scatter
from figures.style import round_ticks

ENOUGH: Final = 5
"""A median is drawn where at least so many revisions changed that many parameters."""

CAPTION: Final = (
    "One mark per revision: the change it made to the mean return (Δ) against the number of parameters it changed, "
    "with those edit patterns dark that have most at stake; marks of one number are spread sideways so that they can "
    f"be distinguished. Black bars are medians, where there are {ENOUGH} revisions or more. Small edits are often made "
    "to good policies and large ones to bad ones, which have less to lose: a trend here is not an effect of size. Edit "
    "patterns are defined by these axes and R₀, so that colours show where thresholds lie and no more."
)
TEXT_CAPTION: Final = (
    "One mark per revision: the change it made to the mean score (Δ) against its edit ratio, the Levenshtein distance "
    "of the texts over the length of the longer one; edit patterns with most at stake are dark. Small edits are often "
    "made to good texts and large ones to bad ones, which have less to lose: a trend here is not an effect of size."
)


def spread(count: int) -> NDArray[np.float64]:
    """Places between -0.3 and 0.3 for so many marks of one number: the golden section fills an interval evenly."""
    return np.asarray((np.arange(count) * 0.6180339887498949 % 1 - 0.5) * 0.6, dtype=float)


def medians(revisions: pd.DataFrame) -> pd.Series:
    """Median Δ by the number of changed parameters, where enough revisions have it."""
    groups = revisions.dropna(subset=["delta", "edit_distance"]).groupby("edit_distance")["delta"]
    return groups.median()[groups.size() >= ENOUGH]


NEEDS: Final = {"edits": "Size of edits (needs revisions with parameters, or texts)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw Δ against the size of edits, a row per task, a column per method; nothing where no edit has a size."""
    here = records.revisions[records.revisions["condition"] == condition]
    here = here.assign(size=sizes(here)).sort_values(["env", "variant", "run", "iteration"])
    known = here.dropna(subset=["size", "delta"])
    if known.empty:
        return []
    are_texts = bool(here["edit_distance"].isna().all())
    counted = "parameters\nchanged" if known["variant"].nunique() > 4 else "parameters changed"
    median = handle(f"median of {ENOUGH} or more", "black", "_", size=9, edge=1.6)
    below, handles = ("edit ratio", []) if are_texts else (counted, [median])
    figure, firsts = scatter(here, known, _draw_panel, below, handles)
    for ax in firsts:
        ax.xaxis.set_major_locator(round_ticks(5, integer=not are_texts))
    what = "both texts" if are_texts else "parameters"
    quantity = "score" if are_texts else "return"
    sentences = [
        f"Δ is the change in mean {quantity}.",
        f"{len(here)} revisions, condition {label(condition)}.",
        f"{len(here) - len(known)} without {what} or a {quantity} are not drawn." if len(known) < len(here) else "",
    ]
    size = "edit ratio" if are_texts else "number of changed parameters"
    described = f"Scatter plots of the change in return against the {size}, one panel per task and method."
    return [
        finished(
            figure,
            records,
            condition,
            ("edits", "Size of edits", TEXT_CAPTION if are_texts else CAPTION),
            sentences,
            described,
        )
    ]


def _draw_panel(ax: Axes, known: pd.DataFrame) -> None:
    counted = known["edit_distance"].notna()
    x = known["size"].copy()
    x[counted] += known[counted].groupby("edit_distance")["delta"].transform(lambda marks: spread(len(marks)))
    draw_marks(ax, known, x, size=10.0)
    for distance, value in medians(known).items():
        ax.plot([float(str(distance)) - 0.4, float(str(distance)) + 0.4], [value, value], color="black", lw=1.6)


def plot_edits(store: Store, condition: str | None = None) -> Panels:
    """Plot the change in return against the number of changed parameters, one panel per task and method.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

"""Edit patterns: which kinds of revision a method makes, and how much of them."""

from __future__ import annotations

from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, NO_CHANGE, PATTERNS, TASKS, UNCLASSIFIED, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style
from figures.plots.marks import absent, beside, head, rows_of, stacked
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import facets, legend, pattern_colour
from figures.tables import Row

CAPTION = (
    "Share of a method's revisions by edit pattern: regressions from the left, improvements from the right, revisions "
    "that changed nothing between them. Shares of 16% and more are printed. n counts revisions, of all runs together. "
    "A pattern names a combination of R₀, Δ and the size of the edit, not a cause."
)
PRINTED_FROM = 16.0
CELL: Final = ("condition", "env", "variant")


def counts(revisions: pd.DataFrame) -> list[Row]:
    """Revisions by edit pattern: a row per condition, task and method whose edits have sizes.

    A row has the number of `revisions`, that of every pattern that the records have under its id, and likewise its
    percentage as `<id>_pct`.
    """
    sized = revisions[_has_pattern(revisions) & sizes(revisions).notna()]
    here = revisions.assign(pattern=labels(revisions))
    present = ordered(here["pattern"], PATTERNS)
    rows: list[Row] = []
    for cell in sized[list(CELL)].drop_duplicates().itertuples(index=False):
        mine = here.loc[(here[list(CELL)] == list(cell)).all(axis=1), "pattern"].value_counts()
        total = int(mine.sum())
        found = {pattern: int(mine.get(pattern, 0)) for pattern in present}
        percent = {f"{pattern}_pct": 100 * number / total for pattern, number in found.items()}
        rows.append({**dict(zip(CELL, map(str, cell), strict=True)), "revisions": total, **found, **percent})
    return rows


def labels(revisions: pd.DataFrame) -> pd.Series:
    """Edit pattern of each revision; `no_change` or `unclassified` where the audit gives none."""
    fallback = revisions["direction"].map(lambda direction: NO_CHANGE if direction == NO_CHANGE else UNCLASSIFIED)
    return revisions["pattern"].where(revisions["pattern"].notna(), fallback)


def shares(revisions: pd.DataFrame) -> dict[str, float]:
    """Percentage of revisions by edit pattern, from worst to best; they sum to 100. Empty without revisions."""
    counts = labels(revisions).value_counts()
    return {pattern: 100 * int(counts[pattern]) / len(revisions) for pattern in ordered(counts.index, PATTERNS)}


NEEDS: Final = {"patterns": "Edit patterns (needs revisions with parameters, or texts)"}


def sizes(revisions: pd.DataFrame) -> pd.Series:
    """How large each edit is: the number of changed parameters, or the edit ratio of a text; NaN where unknown."""
    counted = revisions["edit_distance"].astype(float)
    return counted.combine_first(revisions["edit_ratio"].astype(float)) if "edit_ratio" in revisions else counted


def _has_pattern(revisions: pd.DataFrame) -> pd.Series:
    """Whether each has a pattern or needs none: a text whose scores have no known range has a size and neither."""
    return revisions["pattern"].notna() | (revisions["direction"] == NO_CHANGE)


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw one panel per task and one bar per method, for one condition; nothing where no edit has a size."""
    here = records.revisions[records.revisions["condition"] == condition]
    here = here.assign(size=sizes(here).where(_has_pattern(here)))
    if here["size"].isna().all():
        return []
    sized = here.dropna(subset=["size"])
    envs, variants = ordered(sized["env"], TASKS), ordered(sized["variant"], METHODS)
    figure, panels = facets([narrow(env) for env in envs], height=0.5 + 0.27 * len(variants))
    for (ax, is_first, is_lowest), env in zip(panels, envs, strict=True):
        for row, variant in enumerate(variants):
            _draw_bar(ax, row, here[(here["env"] == env) & (here["variant"] == variant)])
        head(ax, "n")
        ax.set_xlim(0, 100)
        rows_of(ax, [narrow(v) if is_first else "" for v in variants])
        ax.set_xlabel("% of revisions" if is_lowest else "")
    classified = here[here.groupby(["env", "variant"])["size"].transform("count") > 0]
    unsized = len(here) - len(classified)
    handles = [Patch(facecolor=pattern_colour(p), label=name(p)) for p in ordered(labels(classified), PATTERNS)]
    legend(figure, handles, across=2 if len(envs) == 1 else 4, handlelength=1.2)
    sentences = [
        f"{len(here)} revisions, condition {label(condition)}.",
        f"{unsized} of tasks and methods without parameters are not drawn." if unsized else "",
    ]
    described = f"Stacked bars of edit patterns for {', '.join(map(name, variants))}, one panel per task."
    return [finished(figure, records, condition, ("patterns", "Edit patterns", CAPTION), sentences, described)]


def _draw_bar(ax: Axes, row: int, cell: pd.DataFrame) -> None:
    if cell.empty or cell["size"].isna().all():
        absent(ax, row, "– no revisions" if cell.empty else "– no parameters")
        return
    parts = [(pattern_colour(pattern), share) for pattern, share in shares(cell).items()]
    stacked(ax, row, parts, 0.72, PRINTED_FROM)
    beside(ax, row, f"{len(cell)}")


def plot_patterns(store: Store, condition: str | None = None) -> Panels:
    """Plot the shares of edit patterns among the revisions of every method, one panel per task.

    Args:
        store: records, as `audit.open` opens them.
        condition: which condition to plot; needed where there are several.

    Returns:
        The axes of a new figure, an array of shape (panels,). The figure is unknown to pyplot: show or save
        `axes[0].figure`.

    Raises:
        FiguresError: there is no such condition, or the records have nothing for the figure.
    """
    return axes_of(draw, NEEDS, store, condition)

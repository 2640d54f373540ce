"""Noise floor: how many revisions regressed, and how many would have with no change at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from audit.store import Store
from figures.data import Records
from figures.names import METHODS, TASKS, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style
from figures.plots.marks import absent, beside, handle, head, number, rows_of
from figures.plots.plotting import Panels, axes_of, finished
from figures.style import facets, legend

BEYOND, WITHIN = "#B03A00", "#F3B58A"
CAPTION: Final = (
    "Regressions in percent of revisions: dark those that chance hardly makes (p ≤ 0.05, permutation of both "
    "candidates' rollouts), light the rest. The diamond is how many regressions running each initial candidate "
    "twice would have produced, the tick how many a random split of both candidates' rollouts would have. As many "
    "regressions as the diamond shows need no explanation by what a critic read. A light bar does not prove "
    "harmlessness: few rollouts cannot show small losses. n counts revisions."
)


NEEDS: Final = {"noise": "Regressions against chance (needs revisions with the returns of single rollouts)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw observed and expected regressions of every method, one panel per task, for one condition.

    Nothing is drawn where no revision could be tested.
    """
    rows = {(str(row["env"]), str(row["variant"])): row for row in records.noise if row["condition"] == condition}
    if not any(row["tested"] for row in rows.values()):
        return []
    envs, variants = ordered((e for e, _ in rows), TASKS), ordered((v for _, v in rows), METHODS)
    reach = _reach(list(rows.values()))
    figure, panels = facets([narrow(env) for env in envs], height=0.52 + 0.22 * len(variants))
    for (ax, is_first, is_lowest), env in zip(panels, envs, strict=True):
        for y, variant in enumerate(variants):
            _draw_row(ax, y, rows.get((env, variant)))
        rows_of(ax, [narrow(v) if is_first else "" for v in variants])
        ax.set_xlim(-0.03 * reach, reach)
        ax.set_xlabel("% of revisions" if is_lowest else "")
        ax.grid(visible=True, axis="x")
        head(ax, "n")
    legend(figure, _handles(), across=1 if len(envs) == 1 else 2)
    untested = sum(int(row["revisions"]) - int(row["tested"]) for row in rows.values())
    sentences = [
        f"{sum(int(row['revisions']) for row in rows.values())} revisions, condition {label(condition)}.",
        f"Not tested, for candidates with different numbers of rollouts: {untested}." if untested else "",
    ]
    described = (
        f"Bars of regressions of {', '.join(map(name, variants))}, with those expected by chance, a panel per task."
    )
    return [
        finished(figure, records, condition, ("noise", "Regressions against chance", CAPTION), sentences, described)
    ]


def _reach(rows: list[Mapping[str, Any]]) -> float:
    keys = ("regressions_pct", "expected_regressions_pct", "expected_pooled_pct")
    highest = max(value for row in rows for key in keys if math.isfinite(value := number(row[key])))
    return min(100.0, 10.0 * math.ceil((highest + 2) / 10))


def _draw_row(ax: Axes, y: int, row: Mapping[str, Any] | None) -> None:
    if row is None or not row["revisions"]:
        absent(ax, y, "– no revisions")
        return
    total = int(row["revisions"])
    beyond = 100 * int(row["beyond_noise"]) / total
    ax.barh(y, beyond, height=0.66, color=BEYOND)
    ax.barh(y, number(row["regressions_pct"]) - beyond, left=beyond, height=0.66, color=WITHIN)
    ax.plot(number(row["expected_regressions_pct"]), y, "D", ms=4, mfc="white", mec="black", mew=0.9, clip_on=False)
    ax.plot(number(row["expected_pooled_pct"]), y, "|", ms=8, mec="black", mew=1.2, clip_on=False)
    beside(ax, y, f"{total}")


def _handles() -> list[Patch | Line2D]:
    return [
        Patch(facecolor=BEYOND, label="regressions beyond chance"),
        Patch(facecolor=WITHIN, label="other regressions"),
        handle("expected, initial run twice", "black", "D", size=4, inside="white", edge=0.9),
        handle("expected, both pooled", "black", "|", size=8, edge=1.2),
    ]


def plot_noise(store: Store, condition: str | None = None) -> Panels:
    """Plot observed regressions and those that chance would make, one panel per task.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)

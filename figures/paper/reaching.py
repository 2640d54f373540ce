"""Episodes to threshold: how many rollouts a method spends until it first keeps a policy that reaches τ_c."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple

import pandas as pd
from scipy.stats import CensoredData, ecdf

from audit.output.numbers import known
from figures.conditions import BASELINE
from figures.names import name
from figures.paper.bases import Base
from figures.paper.cells import Cell, Goal
from figures.paper.judging import absent
from figures.paper.published import Published, Withheld, row_of, text
from figures.paper.returns import ANY_BASELINE
from figures.paper.settings import optima_of, thresholds_of

COLUMNS: Final = (
    "props", "propsplus", ANY_BASELINE, "puresearch", "actorsecondpass", "criticonly", "alwayscritic", "reptraj",
    "threetraj", "r2po",
)  # fmt: skip
CLAIMED: Final = {("cartpole", "r2po"): "~500", ("cartpole", "propsplus"): "~4000", ("cartpole", ANY_BASELINE): "~4000"}
"""What the text claims of near-optimal performance, read off mean curves."""


class Reaching(NamedTuple):
    """The median of the rollouts that runs spend to reach a threshold, and how many of them do."""

    median: float
    reached: int
    runs: int
    longest: float


def reaching(iterations: pd.DataFrame, threshold: float) -> Reaching:
    """When runs first keep a return that reaches a threshold.

    Args:
        iterations: one row per iteration of every run, with columns run, rollouts_spent and kept_return.
        threshold: the return to reach.

    Returns:
        The median over all runs, those counted too that end without having reached it: Kaplan and Meier's estimate
        (Journal of the American Statistical Association 53, 1958), which takes them for still on their way. It is the
        first time by which at least half are estimated to have got there, and infinite where fewer do.
    """
    runs = iterations.groupby("run")["rollouts_spent"].max()
    reached = iterations[iterations["kept_return"] >= threshold].groupby("run")["rollouts_spent"].min()
    median = math.inf
    if len(reached):
        found = ecdf(CensoredData(uncensored=reached, right=runs[~runs.index.isin(reached.index)])).sf
        median = min(found.quantiles[found.probabilities <= 0.5 + 1e-12], default=math.inf)
    return Reaching(float(median), len(reached), len(runs), float(runs.max()))


def episodes_to_threshold(base: Base) -> Iterator[Cell]:
    """The median over runs, and how many of them get there."""
    for env in base.tasks:
        threshold = _threshold(base, env)
        if threshold is None:
            continue
        yield Cell(row=(env,), column="threshold", text=f"{threshold:g}", value=threshold, env=env)
        for column in COLUMNS:
            claim = CLAIMED.get((env, column))
            yield _cell(base, env, column, threshold, text(claim) if claim else None)


def _cell(base: Base, env: str, column: str, threshold: float, published: Published | None) -> Cell:
    methods = base.algorithms if column == ANY_BASELINE else [column]
    sources = [source for method in methods if (source := base.source(env, method)) is not None]
    found = [(source, reaching(base.iterations(source), threshold)) for source in sources]
    if not any(each.runs for _, each in found):
        return absent((env,), column, env, published)
    source, best = min(found, key=lambda pair: (pair[1].median, -pair[1].reached))
    return Cell(
        row=(env,),
        column=column,
        text=_words(best) + (f" {name(source.method)}" if source.method.startswith(BASELINE) else ""),
        value=known(best.median),
        above=None if math.isfinite(best.median) else best.longest,
        runs=best.runs,
        env=env,
        method=source.method,
        records=source.condition,
        goal=Goal.lowest,
        published=published,
        withheld=Withheld.curves if published else None,
        details={"reached": best.reached},
    )


def _words(found: Reaching) -> str:
    median = f"{found.median:.0f}" if math.isfinite(found.median) else f"> {found.longest:.0f}"
    return f"{median} ({found.reached} of {found.runs})"


def _threshold(base: Base, env: str) -> float | None:
    """R2PO's τ_c as it was run, else the published one, else the optimum that records name."""
    ours = thresholds_of(base, env, base.condition)
    if len(ours) == 1:
        return ours[0]
    row = row_of("thresholds", environment=env)
    if row:
        return row.number("tau_c").value
    optima = optima_of(base, env)
    return optima[0] if len(optima) == 1 else None

"""Tables of what runs returned: main results, variants, stability gap, extended budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from audit.measures.summary import Summary, summarise
from figures.conditions import BASELINE
from figures.names import name
from figures.paper.bases import Base, Source
from figures.paper.cells import Cell, Goal
from figures.paper.judging import absent, mean_cell, value_cell
from figures.paper.published import Published, Withheld, is_possible, number, row_of
from stats.tables.metrics import Metric

ANY_BASELINE: Final = "sb3"
"""The best algorithm of Stable-Baselines3 on a task, by the metric of the table."""

MAIN: Final[Mapping[str, Sequence[str]]] = {
    "ProPS": ("props",),
    "ProPS+": ("propsplus",),
    "Best SB3": (ANY_BASELINE,),
    "R2PO": ("r2po",),
}
VARIANTS: Final[Mapping[str, Sequence[str]]] = {
    "BestBaseline": ("props", "propsplus", ANY_BASELINE),
    "PureSearch": ("puresearch",),
    "ActorSecondPass": ("actorsecondpass",),
    "CriticOnly": ("criticonly",),
    "AlwaysCritic": ("alwayscritic",),
    "RepTraj": ("reptraj",),
    "ThreeTraj": ("threetraj",),
    "R2PO": ("r2po",),
}
STABLE: Final = ("props", "propsplus", "r2po")
EXTENDED: Final[Mapping[str, tuple[str, int]]] = {
    "best_baseline": (ANY_BASELINE, 0),
    "second_best_baseline": (ANY_BASELINE, 1),
    "props": ("props", 0),
    "propsplus": ("propsplus", 0),
    "r2po": ("r2po", 0),
}
"""Which method of a ranking by best return a column shows, the first being 0."""


def averages(metric: Metric, table: str, columns: Mapping[str, Sequence[str]]) -> Callable[[Base], Iterator[Cell]]:
    """Mean and standard deviation over runs, a column for each method or choice of methods."""

    def cells(base: Base) -> Iterator[Cell]:
        for env in base.tasks:
            for column, candidates in columns.items():
                chooses = ANY_BASELINE in candidates
                published = _summary(table, env, column, chooses=chooses)
                ranked = ranking(base, env, candidates, metric)
                if not ranked:
                    yield absent((env,), column, env, published)
                    continue
                source, summary = ranked[0]
                named = name(source.method) if chooses else ""
                yield mean_cell((env,), column, source, summary, published, named=named)

    return cells


def ranking(base: Base, env: str, candidates: Sequence[str], metric: Metric) -> list[tuple[Source, Summary]]:
    """The candidates that have runs on a task, by a metric's mean, the highest first; those without a return last."""
    methods = [m for candidate in candidates for m in (base.algorithms if candidate == ANY_BASELINE else [candidate])]
    sources = [source for method in methods if (source := base.source(env, method)) is not None]
    pairs = [(source, summary(source, metric)) for source in sources]
    return sorted(pairs, key=lambda pair: -pair[1].mean if pair[1].n else np.inf)


def summary(source: Source, metric: Metric) -> Summary:
    """A metric over those runs that have both their returns."""
    return summarise(source.returns[metric])


def gaps(base: Base) -> Iterator[Cell]:
    """Best minus mean return, averaged over runs."""
    for env in base.tasks:
        for method in STABLE:
            published = number("stability_gap", "gap", environment=env, method=method)
            source = base.source(env, method)
            if source is None:
                yield absent((env,), method, env, published)
                continue
            gap = summarise(source.returns["best_return"] - source.returns["mean_return"])
            yield value_cell((env,), method, source, gap, published, goal=Goal.lowest)


def extended(base: Base) -> Iterator[Cell]:
    """Best return with its standard error, the two best algorithms of Stable-Baselines3 for themselves."""
    for env in base.tasks:
        for column, (candidate, place) in EXTENDED.items():
            published = _with_error(env, column)
            ranked = ranking(base, env, [candidate], "best_return")
            if len(ranked) <= place:
                yield absent((env,), column, env, published)
                continue
            source, best = ranked[place]
            named = name(source.method) if candidate == ANY_BASELINE else ""
            yield mean_cell((env,), column, source, best, published, named=named, of_error=True)


def _summary(table: str, env: str, column: str, *, chooses: bool) -> Published | None:
    row = row_of(table, environment=env, column=column)
    if row is None:
        return None
    method = row["method"] if chooses else ""
    return Published(row.number("mean"), row.number("std"), row.count("runs"), method=method)


def _with_error(env: str, column: str) -> Published | None:
    row = row_of("props_extended_budget", environment=env, column=column)
    if row is None:
        return None
    method = row["method"] if row["method"].startswith(BASELINE) else ""
    mean, error = row.number("best_reward"), row.number("standard_error")
    doubt = None if is_possible(env, mean, error) else Withheld.impossible
    return Published(mean, error, budget=row.count("episodes_per_run"), method=method, doubt=doubt)

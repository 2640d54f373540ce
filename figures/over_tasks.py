"""Methods over all tasks: the rows that tables and figures of aggregates are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from figures.learners import BEST, Beside, with_best_learners
from figures.names import label, name
from figures.provenance import origin
from stats.measures.scores import comparisons, find_scales, known_scales
from stats.tables.aggregates import aggregate, parts_of_notes, profile, ranks
from stats.tables.efficiency import efficiency
from stats.tables.metrics import Row

REFERENCE: Final = "r2po"
METRIC: Final = "mean_return"
CURVE_METRIC: Final = "kept_return"
THRESHOLDS: Final = np.round(np.linspace(0, 1, 51), 12)

SPENT: Final = "rollouts spent"


@dataclass(frozen=True)
class OverTasks:
    """Rows of `stats aggregate`, `ranks`, `profile` and `efficiency`.

    By condition there are `remarks` for the reader, and in `spent` the name of what efficiency is measured against.
    """

    aggregate: list[Row] = field(default_factory=list)
    ranks: list[Row] = field(default_factory=list)
    profile: list[Row] = field(default_factory=list)
    efficiency: list[Row] = field(default_factory=list)
    remarks: dict[str, list[str]] = field(default_factory=dict)
    spent: dict[str, str] = field(default_factory=dict)


def over_tasks(runs: pd.DataFrame, iterations: pd.DataFrame, facts: pd.DataFrame) -> OverTasks:
    """Sum up the methods of every condition that has several, over the tasks that all of them have runs on.

    Args:
        runs: rows of the audit's `runs`.
        iterations: rows of its `iterations`.
        facts: rows of its `run_facts`, for the returns that scores are measured by.
    """
    scales = find_scales(facts, {}, known_scales())
    found = OverTasks()
    for condition in sorted(set(runs["condition"])):
        beside = with_best_learners(runs, condition, METRIC).on_every_task()
        if beside.rows["variant"].nunique() < 2:
            continue
        compared = comparisons(beside.rows, METRIC, scales)
        curves, found.spent[condition] = abscissa(_in_order(iterations, condition))
        rows = aggregate(compared, METRIC, REFERENCE)
        source = beside.source or condition
        found.aggregate.extend(row | {"records": source if row["variant"] == BEST else condition} for row in rows)
        found.ranks.extend(ranks(compared, METRIC))
        found.profile.extend(profile(compared, METRIC, list(THRESHOLDS)))
        found.efficiency.extend(efficiency(comparisons(curves, CURVE_METRIC, scales), CURVE_METRIC))
        found.remarks[condition] = [*_notes(rows), *_on_learners(beside, facts)]
    return found


def abscissa(here: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Iterations with what curves are drawn against, and its name: their count where logs lack what was spent."""
    if (here["rollouts_spent"].fillna(0) > 0).all():
        return here, SPENT
    return here.assign(rollouts_spent=here["iteration"] + 1), "iterations"


def _in_order(iterations: pd.DataFrame, condition: str) -> pd.DataFrame:
    rows = with_best_learners(iterations, condition, CURVE_METRIC).on_every_task().rows
    return rows.sort_values(["env", "variant", "run", "iteration"], ignore_index=True)


def _notes(rows: Sequence[Row]) -> list[str]:
    return [
        f"{', '.join(map(name, methods))}: {part}." if methods else f"{part[0].upper()}{part[1:]}."
        for _, part, methods in parts_of_notes(rows)
    ]


def _on_learners(beside: Beside, facts: pd.DataFrame) -> list[str]:
    """What must be known of the best reinforcement learner, where there is one."""
    if (beside.rows["variant"] != BEST).all():
        return [beside.remark] if beside.remark else []
    flattered = "It is chosen by the runs that it is judged by, which flatters it."
    if beside.source is None:
        return [beside.remark, flattered]
    taken = f"Stable-Baselines3 is taken from condition {label(beside.source)}."
    return [beside.remark, flattered, taken, origin(facts, beside.source)]

"""Methods over all tasks: the rows that tables and figures of aggregates are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pandas as pd

from figures.curves import abscissa
from figures.learners import with_best_learners
from stats.aggregate_tables import aggregate, profile, ranks
from stats.efficiency import efficiency
from stats.scores import Comparison, comparisons, find_scales, known_scales
from stats.tables import Row

REFERENCE: Final = "r2po"
METRIC: Final = "mean_return"
CURVE_METRIC: Final = "kept_return"
THRESHOLDS: Final = np.round(np.linspace(0, 1, 51), 12)


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
        found.aggregate.extend(aggregate(compared, METRIC, REFERENCE))
        found.ranks.extend(ranks(compared, METRIC))
        found.profile.extend(profile(compared, METRIC, list(THRESHOLDS)))
        found.efficiency.extend(efficiency(comparisons(curves, CURVE_METRIC, scales), CURVE_METRIC))
        found.remarks[condition] = [*_told(compared), beside.remark]
    return found


def _in_order(iterations: pd.DataFrame, condition: str) -> pd.DataFrame:
    rows = with_best_learners(iterations, condition, CURVE_METRIC).on_every_task().rows
    return rows.sort_values(["env", "variant", "run", "iteration"], ignore_index=True)


def _told(compared: list[Comparison]) -> list[str]:
    return [f"{remark[0].upper()}{remark[1:]}." for comparison in compared for remark in comparison.remarks]

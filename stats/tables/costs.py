"""Runs at equal cost: each cut at the iteration up to which it has spent no more than the cheapest one in all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import pandas as pd

_RUN: Final = ["condition", "env", "variant", "run"]


class EqualCost(NamedTuple):
    """Runs at equal cost.

    Attributes:
        runs: one row per run: condition, env, variant, run, mean_return and best_return up to the cut.
        budgets: what the cheapest run of each task has spent in all, in rollouts.
        dearer: how many runs have spent more than that in their first iteration, and are left out.
    """

    runs: pd.DataFrame
    budgets: Mapping[str, float]
    dearer: int


def at_equal_cost(iterations: pd.DataFrame, facts: pd.DataFrame, call_cost: float) -> EqualCost:
    """Cut every run at the cost of the cheapest run on its task.

    The cost of an iteration is that of all up to it: rollouts, those of warm-up and of remedies included, and calls.

    Args:
        iterations: columns condition, env, variant, run, iteration, kept_return, rollouts_spent and calls_spent.
        facts: one row per run, with its warm-up.
        call_cost: rollouts that a call costs as much as.

    Raises:
        ValueError: it is not known how many rollouts some run has spent.
    """
    spent = iterations.merge(facts[[*_RUN, "warmup"]], on=_RUN).sort_values([*_RUN, "iteration"], ignore_index=True)
    spent["cost"] = spent["warmup"] + spent["rollouts_spent"] + call_cost * spent["calls_spent"]
    if spent["cost"].isna().any():
        raise ValueError("some records do not state the returns of single rollouts, so that they cannot be counted")
    budgets = spent.groupby(_RUN)["cost"].max().groupby("env").min()
    kept = spent[spent["cost"] <= spent["env"].map(budgets)]
    runs = kept.groupby(_RUN, as_index=False).agg(
        mean_return=("kept_return", "mean"), best_return=("kept_return", "max")
    )
    by_task = {str(env): float(budget) for env, budget in budgets.items()}
    return EqualCost(runs, by_task, len(spent[_RUN].drop_duplicates()) - len(runs))

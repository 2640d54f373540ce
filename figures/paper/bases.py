"""Conditions as the paper's tables take them: one model each, its settings of τ_c and its baselines beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from figures.conditions import BASELINE, DEFAULT, learners_in, learners_of, split_tau
from figures.data import Records
from figures.names import METHODS, TASKS, ordered
from figures.paper.published import Withheld
from figures.provenance import SIMULATED
from stats.tables.metrics import METRICS, Metric

CLOSE: Final = 0.1
"""Budgets that differ by no more than this share are alike."""


_CELL: Final = ["condition", "env", "variant"]
_RUN: Final = [*_CELL, "run"]


@dataclass(frozen=True)
class Source:
    """The runs of one method on one task, and the condition that they are of."""

    condition: str
    env: str
    method: str
    runs: pd.DataFrame
    is_simulated: bool

    @cached_property
    def returns(self) -> Mapping[Metric, NDArray[np.float64]]:
        """Mean and best return of those runs that have both, as `stats metrics` counts them."""
        both = self.runs[list(METRICS)].to_numpy(dtype=float)
        kept = both[np.isfinite(both).all(axis=1)]
        return {metric: kept[:, place] for place, metric in enumerate(METRICS)}

    @cached_property
    def is_uneven(self) -> bool:
        """Whether its runs are of unequal length."""
        return bool(self.runs["iterations"].nunique() > 1)

    @property
    def has_gaps(self) -> bool:
        """Whether a run misses a return."""
        return len(self.returns[METRICS[0]]) < len(self.runs)

    def unlike(self, budget: int) -> Withheld | None:
        """Why it cannot be compared with published runs of a budget; None where it can."""
        if self.is_simulated:
            return Withheld.simulated
        alike = (self.runs["rollouts_spent"] - budget).abs() <= CLOSE * budget
        return None if alike.all() else Withheld.budget


@dataclass(frozen=True)
class Base:
    """One model's condition.

    `conditions` maps settings of τ_c to the conditions that have them; `learners` is the condition that runs of
    Stable-Baselines3 are taken from where it has none of its own, empty where there is no such.
    """

    condition: str
    conditions: Mapping[str, str]
    learners: str
    grid: Grid

    @cached_property
    def tasks(self) -> list[str]:
        """The tasks that it has runs of, under whatever setting."""
        own = {self.condition, *self.conditions.values()}
        return ordered({env for condition, env, _ in self.grid.cells if condition in own}, TASKS)

    @cached_property
    def algorithms(self) -> list[str]:
        """The algorithms of Stable-Baselines3 that there are runs of."""
        found = {method for _, _, method in self.grid.cells if method.startswith(BASELINE)}
        return ordered(found, METHODS)

    def source(self, env: str, method: str, setting: str = DEFAULT) -> Source | None:
        """The runs of a method on a task, if there are any."""
        condition = self.condition if setting == DEFAULT else self.conditions.get(setting, "")
        found = self.grid.cells.get((condition, env, method))
        is_borrowed = found is None and method.startswith(BASELINE)
        return self.grid.cells.get((self.learners, env, method)) if is_borrowed else found

    def revisions(self, env: str, method: str) -> pd.DataFrame:
        """The revisions of a method on a task; empty where there are none."""
        return self.grid.revisions.get((self.condition, env, method), self.grid.no_revisions)

    def iterations(self, source: Source) -> pd.DataFrame:
        """The iterations of a source; empty where there are none."""
        return self.grid.iterations.get((source.condition, source.env, source.method), self.grid.no_iterations)


@dataclass(frozen=True)
class Grid:
    """The records by condition, task and method: runs with what each spent, and revisions."""

    cells: Mapping[tuple[str, str, str], Source]
    revisions: Mapping[tuple[str, str, str], pd.DataFrame]
    iterations: Mapping[tuple[str, str, str], pd.DataFrame]
    facts: Mapping[tuple[str, str, str], pd.DataFrame]
    no_revisions: pd.DataFrame
    no_iterations: pd.DataFrame


def bases(records: Records) -> list[Base]:
    """The conditions of a data set that get rows of their own, alphabetically.

    Settings of τ_c, `m+tau-half`, belong to `m`. Runs of Stable-Baselines3 are borrowed from conditions of
    nothing else: for `m+x` from `sb3+x`, else `sb3`, else the only one that there is.
    """
    grid = _grid(records)
    learners = learners_in(records.runs)
    models = {condition for condition, _, _ in grid.cells} - learners
    stems = {split_tau(condition)[0] for condition in models} or learners
    return [Base(stem, _settings(stem, models), learners_of(stem, learners) or "", grid) for stem in sorted(stems)]


def _settings(stem: str, conditions: Iterable[str]) -> dict[str, str]:
    """Conditions by their setting of τ_c, other than the default, of those that have a stem."""
    found = {condition: split_tau(condition) for condition in sorted(conditions)}
    return {tau: condition for condition, (rest, tau) in found.items() if rest == stem and tau != DEFAULT}


def _grid(records: Records) -> Grid:
    spent = records.iterations.groupby(_RUN, as_index=False).agg(
        rollouts_spent=("rollouts_spent", "max"), iterations=("iteration", "count")
    )
    runs = records.runs[[*_RUN, "mean_return", "best_return"]].merge(spent, on=_RUN, how="left")
    facts = _split(records.facts)
    cells = {
        key: Source(*key, frame, bool((facts[key]["backend"] == SIMULATED).any()) if key in facts else False)
        for key, frame in _split(runs).items()
    }
    return Grid(
        cells,
        _split(records.revisions),
        _split(records.iterations),
        facts,
        records.revisions.iloc[:0],
        records.iterations.iloc[:0],
    )


def _split(frame: pd.DataFrame) -> dict[tuple[str, str, str], pd.DataFrame]:
    return {(str(c), str(env), str(variant)): part for (c, env, variant), part in frame.groupby(_CELL)}

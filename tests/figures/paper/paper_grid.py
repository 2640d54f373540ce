"""Records made by hand, for the paper's tables: as few columns as they need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from figures.data import Records
from figures.paper.tables import paper_tables
from figures.tables import Table

MODEL = "gpt-oss-20b"
BUDGET = 4000
REVISION = {"delta": 0.0, "direction": "no_change", "pattern": None, "edit_distance": 0, "accepted": True}
REVISION |= {"structure": None, "strict": None, "permissive": None}

Cell = tuple[str, str, str]
"""Condition, task, method."""


def grid(
    returns: Mapping[Cell, Sequence[tuple[float, float]]],
    *,
    simulated: Iterable[str] = (),
    revisions: Sequence[Mapping[str, Any]] = (),
    curves: Mapping[Cell, Sequence[Sequence[float]]] | None = None,
    budget: int = BUDGET,
    tau_c: Mapping[Cell, float] | None = None,
    optimum: float | None = None,
) -> Records:
    """A data set.

    Args:
        returns: mean and best return of each run.
        simulated: conditions of the simulated model.
        revisions: what differs from a revision that changes nothing, with its condition, env, variant, run.
        curves: the kept returns of each run's iterations, where they matter; else there are two, of the mean.
        budget: rollouts that a run of two iterations spends; half of it is what one takes.
        tau_c: of some cells.
        optimum: of all runs.
    """
    iterations, runs, facts = [], [], []
    for cell, pairs in returns.items():
        for run, (mean, best) in enumerate(pairs, start=1):
            identity = dict(zip(("condition", "env", "variant"), cell, strict=True)) | {"run": run}
            runs.append(identity | {"mean_return": mean, "best_return": best})
            facts.append(
                identity
                | {"backend": "simulated" if cell[0] in simulated else "ollama", "model": cell[0], "optimum": optimum}
                | {"tau_c": (tau_c or {}).get(cell)}
            )
            kept = (curves or {}).get(cell, [[mean, mean]] * len(pairs))[run - 1]
            iterations += [
                identity | {"iteration": i, "kept_return": value, "rollouts_spent": (i + 1) * budget // 2}
                for i, value in enumerate(kept)
            ]
    keys = ["condition", "env", "variant", "run", *REVISION]
    return Records(
        iterations=pd.DataFrame(iterations),
        runs=pd.DataFrame(runs),
        facts=pd.DataFrame(facts),
        revisions=pd.DataFrame([REVISION | dict(row) for row in revisions], columns=keys),
        summary=[],
        salience=[],
        agreement=[],
    )


def sample(mean: float, std: float, runs: int = 10) -> list[float]:
    """So many values with exactly this mean and sample standard deviation."""
    shape = np.arange(runs) - (runs - 1) / 2
    return list(mean + std * shape / shape.std(ddof=1)) if std else [mean] * runs


def pairs(means: Iterable[float], bests: Iterable[float] | None = None) -> list[tuple[float, float]]:
    """Runs with these mean returns, and these best ones or the same."""
    listed = list(means)
    return list(zip(listed, listed if bests is None else bests, strict=True))


def made(records: Records, stem: str) -> Table:
    """One of the paper's tables."""
    return next(table for table in paper_tables(records).tables if table.stem == f"paper-{stem}")


def stems(records: Records) -> set[str]:
    """The tables that some records fill."""
    return {table.stem.removeprefix("paper-") for table in paper_tables(records).tables}


def read(table: Table, **where: str) -> dict[str, str]:
    """The one row with these ids, as people read it."""
    (row,) = [row for row in table.rows if all(row[key] == value for key, value in where.items())]
    return {column.heading: column.read(row) for column in table.columns}


def beside(table: Table, **where: str) -> dict[str, str]:
    """What is printed under the cells of a row, where anything is."""
    (row,) = [row for row in table.rows if all(row[key] == value for key, value in where.items())]
    return {column.heading: column.beside(row) for column in table.columns if column.beside(row)}


def best(table: Table, **where: str) -> set[str]:
    """The headings of a row's best cells."""
    (row,) = [row for row in table.rows if all(row[key] == value for key, value in where.items())]
    return {column.heading for column in table.columns if column.is_best(row)}


def datum(table: Table, column: str, **where: str) -> Mapping[str, Any]:
    """The one row of the CSV file with these ids."""
    assert table.data is not None
    (row,) = [r for r in table.data if r["column"] == column and all(r[key] == value for key, value in where.items())]
    return row


NAN = math.nan

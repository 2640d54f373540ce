"""Runs as data frames, for tests of what compares them over tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from stats.measures.scores import Comparison, Scale, comparisons

UNIT = Scale(0.0, 1.0)

Cells = Mapping[tuple[str, str], Sequence[float]]


def frame(cells: Cells, condition: str = "x") -> pd.DataFrame:
    """One row per run: the returns of each (variant, env)."""
    rows = [
        {"condition": condition, "env": env, "variant": variant, "run": run, "mean_return": value}
        for (variant, env), values in cells.items()
        for run, value in enumerate(values, start=1)
    ]
    return pd.DataFrame(rows)


def compared(cells: Cells, **scales: Scale | str) -> Comparison:
    """These returns as scores; tasks whose scale is not given have returns from 0 to 1."""
    runs = frame(cells)
    found = {("x", env): scales.get(env, UNIT) for env in set(runs["env"])}
    (comparison,) = comparisons(runs, "mean_return", found)
    return comparison

"""Scores with their intervals, from tables of counts per run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.measures.agreement import accuracy, f1, f1_interval, kappa, kappa_interval, precision, recall, wilson
from audit.measures.bootstrap import UNKNOWN, Interval, percentile_interval, resampled_sums

Tables = NDArray[np.float64]


class Bootstrap(NamedTuple):
    """How runs are resampled."""

    resamples: int = 9999
    seed: int = 0


_SCORES: Final[Mapping[str, Callable[[Tables], Tables]]] = {
    "accuracy": accuracy,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "kappa": kappa,
}
METRICS: Final = tuple(_SCORES)

_OF_INDEPENDENT: Final[Mapping[str, tuple[str, Callable[[Tables], Interval]]]] = {
    "accuracy": ("wilson", lambda table: wilson(np.trace(table), table.sum())),
    "precision": ("wilson", lambda table: wilson(table[0, 0], table[:, 0].sum())),
    "recall": ("wilson", lambda table: wilson(table[0, 0], table[0].sum())),
    "f1": ("wilson", f1_interval),
    "kappa": ("asymptotic", kappa_interval),
}
"""Intervals that take answers to be independent."""


def scored(per_run: Tables, bootstrap: Bootstrap, metrics: Sequence[str], *, weighted: bool) -> dict[str, Any]:
    """Scores with 95% intervals.

    Args:
        per_run: counts, shape (runs, codes, codes), as `audit.measures.agreement` has them in the last two axes.
        bootstrap: how runs are resampled.
        metrics: which scores.
        weighted: whether counts are weighted; only resampling can handle weights.

    Returns:
        Under the name of each score its value; then its bounds, with `_low` and `_high`, and what they are by, with
        `_interval`: `bootstrap` of runs, or, where there is one run or all resamples agree, `wilson` or
        `asymptotic`, which take answers to be independent. None where there is no such value.
    """
    total = per_run.sum(0)
    several = len(per_run) > 1
    sums = resampled_sums(per_run.reshape(len(per_run), -1), **bootstrap._asdict()) if several else None
    result: dict[str, Any] = {}
    for metric in metrics:
        score = float(_SCORES[metric](total))
        interval, by = UNKNOWN, "bootstrap"
        if sums is not None:
            interval = percentile_interval(_SCORES[metric](sums.reshape(-1, *total.shape)))
        if not interval.high - interval.low > 1e-9 and not weighted and not math.isnan(score):
            by, independent = _OF_INDEPENDENT[metric]
            interval = independent(total)
        known = interval.high - interval.low > 1e-9
        result |= {
            metric: None if math.isnan(score) else score,
            f"{metric}_low": interval.low if known else None,
            f"{metric}_high": interval.high if known else None,
            f"{metric}_interval": by if known else None,
        }
    return result

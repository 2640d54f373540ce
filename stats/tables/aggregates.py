"""Tables of methods over several tasks, from comparable scores of their runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.measures.improvement import probability_of_improvement
from audit.measures.stratified import RESAMPLES, stratified_bootstrap
from stats.measures.aggregates import (
    interquartile_mean,
    mean_score,
    median_score,
    optimality_gap,
    shares_above,
    task_means,
)
from stats.measures.ranks import kendall_w, mean_ranks, rank_shares
from stats.measures.scores import Comparison
from stats.tables.metrics import Row, number

AGGREGATE_COLUMNS: Final = (
    *("condition", "variant", "metric", "reference", "tasks", "runs", "iqm", "iqm_low", "iqm_high", "mean", "median"),
    *("optimality_gap", "optimality_gap_low", "optimality_gap_high"),
    *("probability_of_improvement", "probability_of_improvement_low", "probability_of_improvement_high"),
    *("mean_rank", "mean_rank_low", "mean_rank_high", "note"),
)
PROFILE_COLUMNS: Final = ("condition", "variant", "metric", "tasks", "runs", "tau", "share", "low", "high", "note")
RANK_COLUMNS: Final = ("condition", "variant", "metric", "tasks", "runs", "kendall_w", "rank", "share", "note")

_NAMED: Final = 3
"""Single runs that are named one by one."""

Samples = list[NDArray[np.float64]]


def aggregate(
    comparisons: Sequence[Comparison], metric: str, reference: str, *, resamples: int = RESAMPLES
) -> list[Row]:
    """Sum up every method over the tasks of its condition.

    Args:
        comparisons: as `stats.measures.scores.comparisons` makes them, one row per run.
        metric: what the scores are made of.
        reference: the method whose probability of improvement over the others is found.
        resamples: of the bootstrap.

    Returns:
        One row per (condition, variant), with 95% intervals. None marks what cannot be computed, and `note` states
        why, and what was left out.
    """
    return [row for comparison in comparisons for row in _aggregated(comparison, metric, reference, resamples)]


def _aggregated(comparison: Comparison, metric: str, reference: str, resamples: int) -> Iterator[Row]:
    samples = {method: comparison.samples(method) for method in comparison.methods}
    ranks = mean_ranks(list(samples.values()), resamples=resamples) if comparison.tasks else None
    for place, (method, tasks) in enumerate(samples.items()):
        row = _identity(comparison, method, tasks, metric) | {"reference": reference}
        if tasks:
            middle = stratified_bootstrap(tasks, _middle_and_gap, resamples=resamples)
            row |= _estimate("iqm", *(end[0] for end in middle))
            row |= _estimate("optimality_gap", *(end[1] for end in middle))
            row |= {"mean": number(float(mean_score(tasks))), "median": number(float(median_score(tasks)))}
        if tasks and reference in samples and method != reference:
            chance = probability_of_improvement(samples[reference], tasks, resamples=resamples)
            row |= _estimate("probability_of_improvement", *chance)
        if ranks:
            row |= _estimate("mean_rank", *(end[place] for end in ranks))
        notes = [] if reference in samples else [f"no runs of {reference}"]
        row["note"] = note(comparison, method, samples, notes)
        yield dict.fromkeys(AGGREGATE_COLUMNS) | row


def _middle_and_gap(tasks: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.stack([interquartile_mean(tasks), optimality_gap(tasks)])


def _estimate(name: str, value: Any, low: Any, high: Any) -> Row:
    return {name: number(float(value)), f"{name}_low": number(float(low)), f"{name}_high": number(float(high))}


def profile(
    comparisons: Sequence[Comparison], metric: str, thresholds: Sequence[float], *, resamples: int = RESAMPLES
) -> list[Row]:
    """Performance profiles: the share of a method's runs above each threshold.

    Args:
        comparisons: as `aggregate` has them.
        metric: what the scores are made of.
        thresholds: normalised scores.
        resamples: of the bootstrap.

    Returns:
        One row per (condition, variant, tau), the ends of the 95% interval in `low` and `high`.
    """
    taus = np.asarray(thresholds, dtype=float)
    return [row for comparison in comparisons for row in _profiled(comparison, metric, taus, resamples)]


def _profiled(comparison: Comparison, metric: str, taus: NDArray[np.float64], resamples: int) -> Iterator[Row]:
    samples = {method: comparison.samples(method) for method in comparison.methods}
    for method, tasks in samples.items():
        row = _identity(comparison, method, tasks, metric) | {
            "note": note(comparison, method, samples, concerned=[method])
        }
        unknown = np.full((3, len(taus)), math.nan)
        cost = len(taus) + sum(task.size for task in tasks)
        found = (
            stratified_bootstrap(tasks, lambda drawn: shares_above(drawn, taus), resamples=resamples, cost=cost)
            if tasks
            else unknown
        )
        for tau, share, low, high in zip(taus, *found, strict=True):
            ends = {"low": number(float(low)), "high": number(float(high))}
            yield row | {"tau": float(tau), "share": number(float(share))} | ends


def ranks(comparisons: Sequence[Comparison], metric: str, *, resamples: int = RESAMPLES) -> list[Row]:
    """How often each method takes each rank by interquartile mean when runs are resampled.

    Args:
        comparisons: as `aggregate` has them.
        metric: what the scores are made of.
        resamples: of the bootstrap.

    Returns:
        One row per (condition, variant, rank), 1 being the best. `kendall_w` is how far the tasks of the condition
        agree in their ranking, and is the same in all its rows.
    """
    return [row for comparison in comparisons for row in _ranked(comparison, metric, resamples)]


def _ranked(comparison: Comparison, metric: str, resamples: int) -> Iterator[Row]:
    samples = {method: comparison.samples(method) for method in comparison.methods}
    shares, agreement = None, math.nan
    if comparison.tasks:
        shares = rank_shares(list(samples.values()), resamples=resamples)
        agreement = kendall_w(np.stack([task_means(tasks) for tasks in samples.values()]))
    for place, (method, tasks) in enumerate(samples.items()):
        row = _identity(comparison, method, tasks, metric) | {"kendall_w": number(agreement)}
        row["note"] = note(comparison, method, samples)
        for rank in range(len(samples)):
            yield row | {"rank": rank + 1, "share": None if shares is None else float(shares[place, rank])}


def _identity(comparison: Comparison, method: str, tasks: Samples, metric: str) -> Row:
    return {
        "condition": comparison.condition,
        "variant": method,
        "metric": metric,
        "tasks": len(tasks),
        "runs": sum(len(task) for task in tasks),
    }


def note(
    comparison: Comparison,
    method: str,
    samples: dict[str, Samples],
    others: Sequence[str] = (),
    *,
    concerned: Sequence[str] | None = None,
) -> str | None:
    """What a reader of a method's row must know of the runs behind it.

    Args:
        comparison: of its condition.
        method: the row's.
        samples: scores of every method.
        others: what else to note.
        concerned: methods whose runs the row depends on; all, if not given.
    """
    parts = [*comparison.remarks, *others, *comparison.note_missing(method)]
    if not comparison.tasks:
        parts.append("no task is left")
    sizes = sorted({len(task) for task in samples[method]})
    if len(sizes) > 1:
        parts.append(f"{sizes[0]} to {sizes[-1]} runs a task")
    single = [
        f"{other} on {task}"
        for other in concerned or comparison.methods
        for task, runs in zip(comparison.tasks, samples[other], strict=True)
        if len(runs) == 1
    ]
    if single:
        more = [f"{len(single) - _NAMED} more"] if len(single) > _NAMED else []
        parts.append(f"no interval from a single run: {', '.join(single[:_NAMED] + more)}")
    return "; ".join(parts) or None


def parts_of_notes(rows: Sequence[Row]) -> Iterator[tuple[str, str, list[str]]]:
    """Each part of the notes of rows once: its condition, its words, and which methods it is about unless it is all."""
    methods: dict[str, set[str]] = {}
    about: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        methods.setdefault(row["condition"], set()).add(row["variant"])
        for part in filter(None, (row["note"] or "").split("; ")):
            about.setdefault((row["condition"], part), {})[row["variant"]] = None
    for (condition, part), those in about.items():
        yield condition, part, [] if those.keys() == methods[condition] else list(those)

"""Recorded against fresh means, by condition, task and method: how much of a method's numbers is luck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Unpack

import numpy as np

from audit.measures.bootstrap import cluster_bootstrap
from audit.measures.rounding import sign_of_change
from audit.options import Data, RunSelection, options_of
from audit.output.numbers import known
from audit.output.rows import Table
from audit.rerun import rescoring
from audit.rerun.opening import opened, report_skipped
from audit.rerun.rescoring import Scored, by_group, root_mean_square

COLUMNS: Final = (
    *("condition", "env", "variant", "runs", "iterations", "revisions", "rollouts"),
    *("mean_recorded", "mean_fresh", "mean_luck", "mean_luck_low", "mean_luck_high"),
    *("best_recorded", "best_fresh", "best_luck", "best_luck_low", "best_luck_high"),
    *("initial_recorded", "initial_fresh", "revised_recorded", "revised_fresh"),
    *("regressions_pct", "regressions_fresh_pct", "kept_worse", "kept_worse_pct", "fresh_se"),
)
ESSENTIAL: Final = (
    *("condition", "env", "variant", "mean_recorded", "mean_fresh", "mean_luck", "best_recorded", "best_fresh"),
    "best_luck",
)

Row = dict[str, Any]


def rescore(
    data: Data,
    *,
    rollouts: int = 1000,
    sample: int | None = None,
    seed: int = 0,
    each: bool = False,
    task_modules: Sequence[str | Path] = (),
    workers: int | None = None,
    **keywords: Unpack[RunSelection],
) -> Table:
    """Run recorded policies again on fresh seeds: how much of the recorded mean and best returns is luck?

    Foreign logs too: parameters are enough. Results are kept, so that a second run is fast.

    Args:
        data: records.
        rollouts: fresh rollouts of each policy, at least two.
        sample: only so many iterations, drawn evenly over runs; None for all.
        seed: of the fresh seeds and of the sample.
        each: a row for every candidate instead of every method.
        task_modules: Python files with tasks of your own.
        workers: threads or processes; None for one per core.
        keywords: which groups, and how records are opened.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
        UsageError: a file of tasks cannot be used.
    """
    options = options_of(data, RunSelection, keywords)
    with opened(options, task_modules) as (records, runs):
        done = rescoring.rescore(
            records, runs, rollouts=rollouts, sample=sample, seed=seed, cache=options.cache, workers=workers
        )
        caption = report_skipped(options, records, runs, done.skipped)
    notes = [caption] if caption else []
    if each:
        return Table(
            columns=rescoring.CANDIDATE_COLUMNS,
            rows=[scored.row() for scored in done.scored],
            title="Candidates on fresh seeds",
            caption=caption,
            notes=notes,
        )
    return Table(
        columns=COLUMNS,
        rows=fairness(done.scored, rollouts),
        title=f"Recorded and fresh means ({rollouts} fresh rollouts a policy); luck is recorded - fresh",
        essential=ESSENTIAL,
        caption=caption,
        notes=notes,
    )


def fairness(scored: Sequence[Scored], rollouts: int) -> list[Row]:
    """One row per condition, task and method.

    `mean` is of the kept candidates, over iterations and then runs; `best` is each run's best kept candidate by its
    recorded mean, over runs. Luck is recorded minus fresh, with a 95% interval by bootstrap over runs. `kept_worse` are
    revisions whose kept candidate has the lower fresh mean. `fresh_se` is the typical standard error of a fresh mean.

    Args:
        scored: candidates with fresh scores.
        rollouts: number of rollouts per fresh score.
    """
    return [
        {**dict(zip(COLUMNS, group, strict=False)), "rollouts": rollouts, **_row(list(runs.values()))}
        for group, runs in by_group(scored).items()
        if any(each.kept for run in runs.values() for each in run)
    ]


def _row(runs: Sequence[Sequence[Scored]]) -> Row:
    kept = [found for run in runs if (found := [each for each in run if each.kept])]
    best = [max(run, key=lambda each: (each.recorded, -each.iteration)) for run in kept]
    means = [(fmean(each.recorded for each in run), fmean(each.fresh.mean for each in run)) for run in kept]
    pairs = [pair for run in runs for pair in _pairs(run)]
    worse = sum(_is_lower(_kept(pair).fresh.mean, _other(pair).fresh.mean) for pair in pairs)
    return {
        "runs": len(runs),
        "iterations": sum(map(len, kept)),
        "revisions": len(pairs),
        **_against("mean", means),
        **_against("best", [(each.recorded, each.fresh.mean) for each in best]),
        **_both("initial", [each for run in runs for each in run if each.role == "initial"]),
        **_both("revised", [each for run in runs for each in run if each.role == "revised"]),
        "regressions_pct": _share(
            sum(_is_lower(pair["revised"].recorded, pair["initial"].recorded) for pair in pairs), pairs
        ),
        "regressions_fresh_pct": _share(
            sum(_is_lower(pair["revised"].fresh.mean, pair["initial"].fresh.mean) for pair in pairs), pairs
        ),
        "kept_worse": worse,
        "kept_worse_pct": _share(worse, pairs),
        "fresh_se": root_mean_square([each.fresh.error for run in runs for each in run]),
    }


def _is_lower(one: float, other: float) -> bool:
    return sign_of_change(other, one) < 0


def _against(name: str, values: Sequence[tuple[float, float]]) -> Row:
    """Recorded and fresh values, one pair per run, and how they differ."""
    luck = [recorded - fresh for recorded, fresh in values]
    low, high = cluster_bootstrap(np.array([(each, 1.0) for each in luck]), lambda sums: sums[:, 0] / sums[:, 1])
    return {
        f"{name}_recorded": fmean(recorded for recorded, _ in values),
        f"{name}_fresh": fmean(fresh for _, fresh in values),
        f"{name}_luck": fmean(luck),
        f"{name}_luck_low": known(low),
        f"{name}_luck_high": known(high),
    }


def _both(role: str, candidates: Sequence[Scored]) -> Row:
    if not candidates:
        return {f"{role}_recorded": None, f"{role}_fresh": None}
    return {
        f"{role}_recorded": fmean(each.recorded for each in candidates),
        f"{role}_fresh": fmean(each.fresh.mean for each in candidates),
    }


def _pairs(run: Sequence[Scored]) -> list[Mapping[str, Scored]]:
    """Both candidates of each iteration that has two, by role."""
    iterations: dict[int, dict[str, Scored]] = {}
    for each in run:
        iterations.setdefault(each.iteration, {})[each.role] = each
    return [pair for pair in iterations.values() if len(pair) == 2]


def _kept(pair: Mapping[str, Scored]) -> Scored:
    return next(each for each in pair.values() if each.kept)


def _other(pair: Mapping[str, Scored]) -> Scored:
    return next(each for each in pair.values() if not each.kept)


def _share(number: int, of: Sequence[Any]) -> float | None:
    return 100 * number / len(of) if of else None

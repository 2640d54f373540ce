"""Recorded policies run on fresh seeds: how much of their returns is luck."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from audit.arguments import Data, RunSelection, request_of
from audit.output.rows import Table
from audit.rerun import fairness, rescoring
from audit.rerun.opening import opened, report_skipped
from audit.rerun.running import check_workers


def rescore(
    data: Data,
    *,
    rollouts: int = 1000,
    sample: int | None = None,
    seed: int = 0,
    each: bool = False,
    task_modules: Sequence[str | Path] = (),
    workers: str | None = None,
    **options: Unpack[RunSelection],
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
        workers: where policies are run, as `--workers` has it: `local` or a number.
        options: which groups, and how records are opened.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
        UsageError: a file of tasks cannot be used, or `workers` makes no sense.
    """
    check_workers(workers)
    request = request_of(data, RunSelection, options)
    with opened(request, task_modules) as (records, runs):
        done = rescoring.rescore(
            records, runs, rollouts=rollouts, sample=sample, seed=seed, cache=request.cache, workers=workers
        )
        caption = report_skipped(request, records, runs, done.skipped, "candidate")
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
        columns=fairness.COLUMNS,
        rows=fairness.fairness(done.scored, rollouts),
        title=f"Recorded and fresh means ({rollouts} fresh rollouts a policy); luck is recorded - fresh",
        essential=fairness.ESSENTIAL,
        caption=caption,
        notes=notes,
    )

"""Recorded policies run on other seeds or changed: how much of their returns is luck, and what a revision did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from audit.arguments import Data, RunSelection, request_of
from audit.output.rows import Table
from audit.rerun import anchors, fairness, rescoring
from audit.rerun.opening import opened, report_skipped


def rescore(
    data: Data,
    *,
    rollouts: int = 1000,
    sample: int | None = None,
    seed: int = 0,
    each: bool = False,
    task_modules: Sequence[str | Path] = (),
    workers: int | None = None,
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
        workers: threads or processes that run policies; None for one per core.
        options: which groups, and how records are opened.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
        UsageError: a file of tasks cannot be used.
    """
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


def anchor(
    data: Data,
    *,
    controls: int = 19,
    sample: int | None = None,
    seed: int = 0,
    placebo: bool = False,
    each: bool = False,
    task_modules: Sequence[str | Path] = (),
    workers: int | None = None,
    **options: Unpack[RunSelection],
) -> Table:
    """Does a revised policy do better on the worst rollout's own seed than elsewhere, more than random edits do?

    Args:
        data: records.
        controls: control edits for each revision, at least 19.
        sample: only so many iterations, drawn evenly over runs; None for all.
        seed: of the control edits and of the sample.
        placebo: measure random edits in the place of revisions, for the false-positive rate.
        each: a row for every revision instead of every method.
        task_modules: Python files with tasks of your own.
        workers: threads or processes that run policies; None for one per core.
        options: which groups, and how records are opened.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
        UsageError: a file of tasks cannot be used.
    """
    request = request_of(data, RunSelection, options)
    with opened(request, task_modules) as (records, runs):
        done = anchors.measure(
            records,
            runs,
            controls=controls,
            sample=sample,
            seed=seed,
            placebo=placebo,
            cache=request.cache,
            workers=workers,
        )
        caption = report_skipped(request, records, runs, done.skipped, "revision")
    notes = [caption] if caption else []
    if placebo:
        caption = "\n".join([*notes, "Random edits in place of revisions: whatever is found is false."])
    if each:
        return Table(
            columns=anchors.REVISION_COLUMNS,
            rows=[revision.row() for revision in done.revisions],
            title="Revisions",
            caption=caption,
            notes=notes,
        )
    return Table(
        columns=anchors.COLUMNS,
        rows=anchors.summarise(done),
        title=f"Gains on the initial candidate's seeds, against {controls} control edits",
        essential=anchors.ESSENTIAL,
        caption=caption,
        notes=notes,
    )

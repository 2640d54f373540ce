"""Opens records for commands that run policies again, and reports what was left out of them."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from audit.options import Options
from audit.output.errors import NAMED, count, refuse_problems
from audit.output.notes import note, print_notes, simulated
from audit.records.lines import RecordedRun, Records, open_records
from audit.rerun.rollouts import load_tasks

Skipped = Counter[tuple[str, str]]
"""Number of items that could not be run again, by reason and by condition, task and method."""


@contextlib.contextmanager
def opened(
    options: Options, task_modules: Sequence[str | Path], *, judged: bool = True
) -> Iterator[tuple[Records, list[RecordedRun]]]:
    """Open records, and select runs.

    Args:
        options: where to read, and which groups.
        task_modules: files of users' tasks.
        judged: see `open_records`.

    Raises:
        AuditError: a path holds no records.
        UsageError: a file of tasks cannot be used.
    """
    load_tasks([Path(path) for path in task_modules])
    with open_records(options.paths, judged=judged, cache=options.cache) as records:
        yield records, options.choose(records)


def report_problems(options: Options, records: Records) -> None:
    """Report on standard error what was left out of the records that have been read.

    Raises:
        AuditError: something was, and `strict` is set.
    """
    if options.strict:
        refuse_problems(records.problems)
    print_notes([], records.problems)


def reasons(skipped: Skipped, noun: str, fate: str) -> Iterator[str]:
    """How much was skipped for each reason, and in which groups."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for reason, group in sorted(skipped):
        grouped[reason].append(group)
    for reason, groups in grouped.items():
        number = sum(skipped[reason, group] for group in groups)
        more = f" and {len(groups) - NAMED} more" if len(groups) > NAMED else ""
        yield f"{count(number, noun)} {fate}, {reason}: {', '.join(groups[:NAMED])}{more}"


def report_skipped(options: Options, records: Records, runs: Sequence[RecordedRun], skipped: Skipped) -> str | None:
    """Report which candidates were left out of records and results; returns the notes for the rows."""
    if not runs:
        note("nothing to run: no such runs in the records")
    report_problems(options, records)
    for line in reasons(skipped, "candidate", "left out"):
        note(line)
    return simulated((run.identity[0], run.run.backend if run.run else None) for run in runs)

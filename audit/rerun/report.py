"""From records to what `audit replay` and `audit verify` print: results on standard output, notes beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from audit.ingest.recorded import find_run, open_records
from audit.output.errors import AuditError, UsageError, count, report
from audit.output.formats import WRITERS
from audit.output.rows import LONGEST_TABLE
from audit.output.tables import print_table
from audit.request import Request, note, tell
from audit.rerun.replay import as_text, replay_rollout
from audit.rerun.rollouts import NotRerunnableError, load_tasks
from audit.rerun.verify import COLUMNS, Verification, verify

ESSENTIAL: Final = ("env", "variant", "run", "iteration", "candidate", "rollout", "difference")
"""Columns of a table for people."""

SUFFIXES: Final = {".json": "json", ".csv": "csv"}
"""What a file is written as where no format is named."""


def tell_replay(
    path: Path,
    run: tuple[str, str, int, str | None],
    iteration: int,
    rollout: int,
    *,
    revised: bool,
    task_modules: Sequence[Path],
    output: str,
    out: Path | None,
    force: bool,
) -> None:
    """Replay a rollout of a run, given by task, method, number and condition, and print or save it.

    Raises:
        UsageError: no such iteration or rollout, a file that is there already or has no known format, or a file of
            tasks that cannot be used.
        AuditError: the rollout cannot be run again, or came out otherwise than recorded; it is told nevertheless.
    """
    if out is not None:
        output = _file_format(out, output, force=force)
    load_tasks(task_modules)
    with open_records([path], judged=False) as records:
        env, variant, number, condition = run
        named = Request(
            paths=[path],
            env=[env],
            variant=[variant],
            run=[number],
            condition=None if condition is None else [condition],
        )
        try:
            named.choose(records)
            replay = replay_rollout(records, find_run(records, *run), iteration, rollout, revised=revised)
        except NotRerunnableError as error:
            raise AuditError(f"the rollout cannot be run again: {error}") from None
        finally:
            tell([], records.problems)
    if out is not None:
        out.write_text(as_text(replay, output), encoding="utf-8")
    else:
        sys.stdout.write(as_text(replay, output))
    if difference := replay.difference():
        sys.stdout.flush()
        raise AuditError(difference)


def tell_verification(request: Request, *, sample: int | None, seed: int, task_modules: Sequence[Path]) -> bool:
    """Verify records, and print what differs; whether nothing does is the result.

    The summary stands below a table for people, and on standard error beside other formats.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
    """
    with open_records(request.paths, judged=False) as records:
        runs = request.choose(records)
        verification = verify(records, runs, sample=sample, seed=seed, task_modules=task_modules)
        if request.strict and records.problems:
            told = "\n".join(report(records.problems))
            raise AuditError(f"{count(len(records.problems), 'problem')} in the records, and --strict:\n{told}")
        tell([], records.problems)
        if not runs:
            note("nothing to verify: no such runs in the records")
        if request.output == "table":
            _print_table(verification)
        else:
            WRITERS[request.output](COLUMNS, verification.differences(), sys.stdout, None)
            for line in verification.summary():
                note(line)
    if runs and not verification.checked:
        note("no rollout could be run again")
    if versions := verification.versions():
        note(versions)
    return verification.agrees


def _print_table(verification: Verification) -> None:
    differences = verification.differences()
    rows = list(islice(differences, LONGEST_TABLE))
    more = sum(1 for _ in differences)
    notes = verification.summary()
    if more:
        notes.insert(0, f"First {LONGEST_TABLE} of {LONGEST_TABLE + more} rows; the other formats have all.")
    if rows:
        print_table(ESSENTIAL, rows, title="Differences", caption="\n".join(notes))
    else:
        sys.stdout.write("\n".join(notes) + "\n")


def _file_format(out: Path, output: str, *, force: bool) -> str:
    if output == "table":
        if out.suffix not in SUFFIXES:
            raise UsageError(f"--out {out}: say --format json or csv, or give the file one of these endings")
        output = SUFFIXES[out.suffix]
    if out.exists() and not force:
        raise UsageError(f"--out {out}: the file is there already; overwrite it with --force")
    return output

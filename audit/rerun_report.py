"""From records to what `audit replay` and `audit verify` print: results on standard output, notes beside it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from audit.formats import WRITERS
from audit.problems import AuditError, Problem, UsageError, count, report
from audit.recorded import RecordedRun, find_run, open_records
from audit.replay import as_text, replay_rollout
from audit.rerun import NotRerunnableError, load_tasks
from audit.tables import print_table
from audit.verify import COLUMNS, Verification, verify

LONGEST_TABLE: Final = 500
"""Rows that a table for people has at most; the other formats have all."""

ESSENTIAL: Final = ("env", "variant", "run", "iteration", "candidate", "rollout", "difference")
"""Columns of a table for people."""

SUFFIXES: Final = {".json": "json", ".csv": "csv"}
"""What a file is written as where no format is named."""


class Filters(NamedTuple):
    """Which tasks, methods and conditions; None for all."""

    env: Sequence[str] | None
    variant: Sequence[str] | None
    condition: Sequence[str] | None

    def select(self, runs: Sequence[RecordedRun]) -> list[RecordedRun]:
        """The runs that are meant."""
        return [run for run in runs if all(not values or held in values for held, values in self._held(run))]

    def absent(self, runs: Sequence[RecordedRun]) -> str:
        """Why no run is meant."""
        for place, name in enumerate(self._fields):
            held = {self._held(run)[place][0] for run in runs}
            missing = [value for value in self[place] or () if value not in held]
            if missing:
                return f"no --{name} {', '.join(missing)} in the records; they hold {', '.join(sorted(held))}"
        return "nothing to verify: no such runs in the records"

    def _held(self, run: RecordedRun) -> list[tuple[str, Sequence[str] | None]]:
        condition, env, variant, _ = run.identity
        return list(zip((env, variant, condition), self, strict=True))


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
    with open_records([path]) as records:
        try:
            replay = replay_rollout(records, find_run(records, *run), iteration, rollout, revised=revised)
        except NotRerunnableError as error:
            raise AuditError(f"the rollout cannot be run again: {error}") from None
        finally:
            _tell_problems(records.problems)
    if out is not None:
        out.write_text(as_text(replay, output), encoding="utf-8")
    else:
        sys.stdout.write(as_text(replay, output))
    if difference := replay.difference():
        sys.stdout.flush()
        raise AuditError(difference)


def tell_verification(
    paths: Sequence[Path],
    filters: Filters,
    *,
    sample: int | None,
    seed: int,
    task_modules: Sequence[Path],
    strict: bool,
    output: str,
) -> bool:
    """Verify records, and print what differs; whether nothing does is the result.

    The summary stands below a table for people, and on standard error beside other formats.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
    """
    with open_records(paths) as records:
        runs = filters.select(records.runs)
        verification = verify(records, runs, sample=sample, seed=seed, task_modules=task_modules)
        if strict and records.problems:
            told = "\n".join(report(records.problems))
            raise AuditError(f"{count(len(records.problems), 'problem')} in the records, and --strict:\n{told}")
        _tell_problems(records.problems)
        if not runs:
            _note(filters.absent(records.runs))
        if output == "table":
            _print_table(verification)
        else:
            WRITERS[output](COLUMNS, verification.differences(), sys.stdout, None)
            for line in verification.summary():
                _note(line)
    if runs and not verification.checked:
        _note("no rollout could be run again")
    if versions := verification.versions():
        _note(versions)
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


def _tell_problems(problems: Sequence[Problem]) -> None:
    if problems:
        _note(f"{count(len(problems), 'problem')} in the records, left out:")
        for line in report(problems):
            _note(f"  {line}")


def _note(text: str) -> None:
    sys.stderr.write(f"audit: {text}\n")

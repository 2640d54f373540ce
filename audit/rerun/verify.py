"""Are the records true? Recorded rollouts are run again, and what records state about returns is computed again.

Every line is read, and its mean returns and evidence are compared with its returns; all rollouts, or a sample
drawn evenly over runs, are run again.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, tee
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.options import Data, RunSelection, options_of
from audit.output.errors import count
from audit.output.formats import WRITERS
from audit.output.notes import note
from audit.output.progress import PrintedProgress, tracked
from audit.output.rows import Table
from audit.output.tables import LONGEST_TABLE
from audit.records.lines import RecordedRun, Records
from audit.rerun.evidence_check import disagreements
from audit.rerun.opening import Skipped, opened, reasons, report_problems
from audit.rerun.rollouts import (
    Job,
    NotRerunnableError,
    Outcome,
    Rollout,
    rollouts_of,
    run_again,
    task_of,
    version_note,
    what_is_missing,
)
from audit.rerun.running import run_each
from audit.sources.iterations import Iteration
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from collector.tasks import Task

COLUMNS: Final = (
    *("condition", "env", "variant", "run", "iteration", "candidate", "rollout", "check"),
    *("recorded_return", "replayed_return", "recorded_length", "replayed_length", "recorded_ended", "replayed_ended"),
    "difference",
)
"""Of a difference. `check` is rollout, mean or evidence; for the latter two nothing is replayed."""

ESSENTIAL: Final = ("env", "variant", "run", "iteration", "candidate", "rollout", "difference")
"""Columns of a table for people."""

WARM_UP: Final = "warm-up"
"""The value of `candidate` for a warm-up trial; `rollout` is then its index."""

Row = dict[str, Any]


@dataclass(eq=False)
class Verification:
    """A check of records, as far as it has come: rollouts are run again as `differences` is read.

    Attributes:
        records: where the runs are from.
        sample: how many rollouts to run again; None for all.
        seed: of the draw.
        workers: threads or processes; None for one per core.
        runs: runs that were read.
        candidates: candidates whose mean return was computed again.
        checked, differing: rollouts that were run again, and those of them that differ.
        skipped: rollouts that cannot be run again, by reason and by condition, task and method.
        inconsistencies: rows about means and evidence that do not agree with the returns.
    """

    records: Records
    sample: int | None
    seed: int
    workers: int | None
    runs: int = 0
    candidates: int = 0
    checked: int = 0
    differing: int = 0
    skipped: Skipped = field(default_factory=Counter)
    inconsistencies: list[Row] = field(default_factory=list)
    _sizes: dict[RunKey, int] = field(default_factory=dict)
    _tasks: dict[RunKey, Task] = field(default_factory=dict)
    _differing_runs: dict[RunKey, RecordedRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._differences = self._compare()

    @property
    def agrees(self) -> bool:
        """Whether everything came out as recorded; what was not run again yet is run now."""
        deque(self._differences, 0)
        return not (self.differing or self.inconsistencies)

    def differences(self) -> Iterator[Row]:
        """Every difference, once, as a row with `COLUMNS`; those of rollouts as soon as they are run again."""
        return self._differences

    def print(
        self,
        output: str = "table",
        *,
        columns: Sequence[str] | None = None,
        sort: Sequence[str] = (),
        limit: int | None = None,
    ) -> None:
        """Print the differences, and a summary: below a table for people, beside other formats on standard error.

        Args:
            output: table, json, csv, markdown or latex.
            columns: which columns, None for all; as `Table.select` takes them.
            sort: columns to sort by.
            limit: at most so many rows.
        """
        # Wrong names are refused before anything is run again.
        Table(columns=COLUMNS, rows=[]).select(columns, sort=sort)
        if not self.runs:
            note("nothing to verify: no such runs in the records")
        is_whole = columns is None and not sort and limit is None
        if is_whole and output == "table":
            self._print_table()
        else:
            notes: Sequence[str] = ()
            if is_whole and output in WRITERS:
                WRITERS[output](COLUMNS, self.differences(), sys.stdout)
            else:
                every = Table(columns=COLUMNS, rows=list(self._differences), title="Differences", essential=ESSENTIAL)
                table = every.select(columns, sort=sort, limit=limit)
                table.print(output)
                notes = table.notes
            for line in (*notes, *self.summary()):
                note(line)
        if self.runs and not self.checked:
            note("no rollout could be run again")
        if versions := self.versions():
            note(versions)

    def _print_table(self) -> None:
        rows = list(islice(self._differences, LONGEST_TABLE))
        more = sum(1 for _ in self._differences)
        notes = self.summary()
        if more:
            notes.insert(0, f"First {LONGEST_TABLE} of {LONGEST_TABLE + more} rows; the other formats have all.")
        if rows:
            Table(columns=ESSENTIAL, rows=rows, title="Differences", caption="\n".join(notes)).print()
        else:
            sys.stdout.write("\n".join(notes) + "\n")

    def _compare(self) -> Iterator[Row]:
        yield from self.inconsistencies
        runs = {run.identity: run for run in self.records.runs}
        every = sum(self._sizes.values())
        with PrintedProgress() as progress:
            progress.begin(min(every, self.sample or every), "running rollouts again", counted=False)
            for outcomes, job in self._run(self._jobs(runs)):
                self.checked += len(outcomes)
                progress.advance(len(outcomes))
                for rollout, outcome in zip(job.rollouts, outcomes, strict=True):
                    if not outcome.agrees(rollout):
                        self.differing += 1
                        row = _rollout_row(job, rollout, outcome)
                        identity = _identity(row)
                        self._differing_runs[identity] = runs[identity]
                        yield row

    def _run(self, jobs: Iterator[Job]) -> Iterator[tuple[list[Outcome], Job]]:
        jobs, others = tee(jobs)
        work = ((job.task, (job.params, [rollout.seed for rollout in job.rollouts])) for job in others)
        outcomes = run_each(run_again, work, workers=self.workers, tasks=self._tasks.values())
        with contextlib.closing(outcomes):
            yield from zip(outcomes, jobs, strict=True)

    def summary(self) -> list[str]:
        """What was checked, found and skipped, in a few lines for people."""
        lines = [
            f"{count(self.checked, 'rollout')} run again, {self.differing} differ; "
            f"{count(self.candidates, 'candidate')} of {count(self.runs, 'run')} read, "
            f"{count(len(self.inconsistencies), 'statement')} about means or evidence that the returns contradict."
        ]
        return [*lines, *(f"{line}." for line in reasons(self.skipped, "rollout", "skipped"))]

    def versions(self) -> str | None:
        """How versions differ between records and this machine, where a rollout did not come out as recorded."""
        runs = [run.run for run in self._differing_runs.values() if run.run is not None]
        return version_note(runs) if runs else None

    def survey(self, run: RecordedRun) -> None:
        """Read a run: what disagrees within its records, and how many of its rollouts can be run again."""
        self.runs += 1
        group = " ".join(run.identity[:3])
        task, reason = None, None
        try:
            task = task_of(run)
        except NotRerunnableError as error:
            reason = str(error)
        rollouts: Counter[str | None] = Counter()
        if run.run is not None:
            rollouts[reason] += len(run.run.warmup)
        for iteration in self.records.iterations(run):
            for role, rollout, check, text in disagreements(iteration, task, rounds=run.run is None):
                self.inconsistencies.append(_record_row(run, iteration, role, rollout, check, text))
            for _, candidate in iteration.candidates():
                self.candidates += 1
                rollouts[reason or what_is_missing(candidate)] += len(candidate.returns)
        self._sizes[run.identity] = rollouts.pop(None, 0)
        if task is not None:
            self._tasks[run.identity] = task
        for why, number in rollouts.items():
            assert why is not None
            if number:
                self.skipped[why, group] += number

    def _jobs(self, runs: dict[RunKey, RecordedRun]) -> Iterator[Job]:
        chosen = None if self.sample is None else draw(self._sizes, self.sample, self.seed)
        for identity, size in self._sizes.items():
            if size and (chosen is None or chosen[identity]):
                yield from self._jobs_of(runs[identity], None if chosen is None else chosen[identity])

    def _jobs_of(self, recorded: RecordedRun, chosen: set[int] | None) -> Iterator[Job]:
        """The jobs of a run: all rollouts, or those at the chosen places, warm-up first, in recorded order."""
        task, run, place = self._tasks[recorded.identity], recorded.run, 0
        assert run is not None
        for index, trial in enumerate(run.warmup):
            if chosen is None or place in chosen:
                yield Job(
                    run, task, None, WARM_UP, trial.params, [Rollout(index, trial.seed, trial.return_, None, None)]
                )
            place += 1
        for iteration in self.records.iterations(recorded):
            for role, candidate in iteration.candidates():
                if what_is_missing(candidate) is not None:
                    continue
                every = rollouts_of(candidate)
                rollouts = [rollout for rollout in every if chosen is None or place + rollout.place in chosen]
                place += len(every)
                if rollouts:
                    yield Job(run, task, iteration.iteration, role, candidate.params, rollouts)


def verify(
    data: Data,
    *,
    sample: int | None = 200,
    seed: int = 0,
    task_modules: Sequence[str | Path] = (),
    workers: int | None = None,
    **keywords: Unpack[RunSelection],
) -> Verification:
    """Read runs, and prepare to run their rollouts again.

    Mean returns and evidence are also compared with the recorded returns, in every record.

    Args:
        data: records.
        sample: how many rollouts to run again, drawn evenly over runs; None for all.
        seed: of the draw.
        task_modules: Python files with tasks of your own.
        workers: threads or processes that run rollouts; None for one per core.
        keywords: which groups, and how records are opened.

    Raises:
        AuditError: a path holds no records, or `strict` and something is wrong with them.
        UsageError: a file of tasks cannot be used.
    """
    options = options_of(data, RunSelection, keywords)
    with contextlib.ExitStack() as resources:
        records, runs = resources.enter_context(opened(options, task_modules, judged=False))
        verification = Verification(records, sample, seed, workers)
        for run in tracked(runs, "comparing returns and evidence"):
            verification.survey(run)
        report_problems(options, records)
        weakref.finalize(verification, resources.pop_all().close)
    return verification


def draw(sizes: dict[RunKey, int], sample: int, seed: int) -> dict[RunKey, set[int]]:
    """Choose places in runs, as many in each as can be, and each run's share within one of every other's.

    A run that is smaller than its share is chosen whole, and the others make up for it. What is drawn depends on the
    seed and the runs, not on the order in which they are given.

    Args:
        sizes: number of rollouts in each run.
        sample: how many to choose; all, if there are fewer.
        seed: of the draw.
    """
    from collector import seeding

    names = sorted(sizes)
    order = [names[index] for index in seeding.generator(seed, "verify").permutation(len(names))]
    shares: Counter[RunKey] = Counter()
    left = min(sample, sum(sizes.values()))
    while left:
        open_runs = [name for name in order if shares[name] < sizes[name]][:left]
        shares.update(open_runs)
        left -= len(open_runs)
    return {
        name: set(
            seeding.generator(seed, "verify", *name).choice(sizes[name], size=shares[name], replace=False).tolist()
        )
        for name in sizes
    }


def _identity(row: Row) -> RunKey:
    return RunKey(row["condition"], row["env"], row["variant"], row["run"])


def _rollout_row(job: Job, recorded: Rollout, outcome: Outcome) -> Row:
    pairs = {
        "return": (recorded.return_, outcome.return_),
        "length": (recorded.length, outcome.length),
        "ended": (recorded.ended, outcome.ended),
    }
    if outcome.error is None:
        texts = [f"{name} {a} recorded, {b} replayed" for name, (a, b) in pairs.items() if a is not None and a != b]
    else:
        texts = [f"cannot be run again ({outcome.error})"]
    run = job.run
    values = (run.condition, run.env, run.variant, run.run, job.iteration, job.candidate, recorded.place, "rollout")
    return dict(zip(COLUMNS, (*values, *(x for pair in pairs.values() for x in pair), "; ".join(texts)), strict=True))


def _record_row(run: RecordedRun, iteration: Iteration, role: str, rollout: int | None, check: str, text: str) -> Row:
    values = (*run.identity, iteration.iteration, role, rollout, check)
    return dict(zip(COLUMNS, (*values, *[None] * 6, text), strict=True))

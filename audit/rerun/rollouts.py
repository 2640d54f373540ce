"""Recorded rollouts run again: which can be, and whether they come out as recorded.

A rollout is a function of task, parameters and seed, so what is compared is compared exactly. The simulator is imported
when a rollout is run, and by nothing else of the audit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from audit.ingest.runs import RecordedRun
from audit.output.errors import AuditError, UsageError
from audit.sources.iterations import Candidate
from audit.vocabulary.methods import BASELINES

if TYPE_CHECKING:
    from collector.records import Run
    from collector.rollouts.workers import Workers
    from collector.tasks import Task

NO_SEEDS: Final = "no seeds are recorded"
NO_PARAMETERS: Final = "no parameters are recorded"
TEXTS: Final = "candidates are texts, so there is nothing to run"
NO_RETURNS: Final = "no returns of single rollouts are recorded"
DECISIVE: Final = ("salience-audit", "gymnasium", "mujoco", "numpy")
"""Packages whose versions can change what a rollout returns."""
FEW: Final = 400
"""Rollouts up to which they are run in this process: starting others would take longer."""
_BATCH: Final = 256


class NotRerunnableError(AuditError):
    """A run whose rollouts cannot be run again; the message is the reason."""


class Rollout(NamedTuple):
    """One rollout as recorded, at its place among its candidate's, from 0; None is what the record does not state."""

    place: int
    seed: int
    return_: float
    length: int | None
    ended: str | None


class Outcome(NamedTuple):
    """What a rollout gave when run again, or the error that it ended in."""

    return_: float | None
    length: int | None
    ended: str | None
    error: str | None = None

    def agrees(self, recorded: Rollout) -> bool:
        """Whether everything that is recorded came out again, exactly."""
        return (
            self.error is None
            and self.return_ == recorded.return_
            and recorded.length in {None, self.length}
            and recorded.ended in {None, self.ended}
        )


@dataclass(frozen=True, slots=True)
class Job:
    """Rollouts of one parameter vector. `candidate` is initial, revised, or warm-up, which has no iteration."""

    run: Run
    task: Task
    iteration: int | None
    candidate: str
    params: Sequence[float]
    rollouts: Sequence[Rollout]


def load_tasks(task_modules: Sequence[Path]) -> None:
    """Make the tasks of installed packages and of users' modules known.

    Raises:
        UsageError: a module cannot be imported, or holds no task that can be added.
    """
    from collector import errors
    from collector.tasks import plugins

    try:
        plugins.load_tasks(task_modules)
    except errors.UsageError as error:
        raise UsageError(str(error)) from None


def task_of(recorded: RecordedRun) -> Task:
    """The task that a run's rollouts are run again on, under the run's switches.

    Raises:
        NotRerunnableError: the run is of texts, a baseline or a foreign log, or its task is not known here.
    """
    from collector import errors
    from collector.spec import recorded_task

    env, variant = recorded.identity[1], recorded.identity[2]
    if variant.startswith(BASELINES):
        raise NotRerunnableError("a baseline's policy is a network, of which no parameters are recorded")
    if recorded.is_text:
        raise NotRerunnableError(TEXTS)
    if recorded.run is None:
        raise NotRerunnableError(NO_SEEDS)
    try:
        return recorded_task(recorded.run)
    except errors.UsageError:
        raise NotRerunnableError(f"task {env} is not known here, name its file with --task-module") from None


def what_is_missing(candidate: Candidate) -> str | None:
    """Why a candidate's rollouts cannot be run again and compared, as far as its record is the reason; else None."""
    if not candidate.returns:
        return NO_RETURNS
    if not candidate.params:
        return NO_PARAMETERS
    return NO_SEEDS if candidate.seeds is None else None


def rollouts_of(candidate: Candidate) -> list[Rollout]:
    """The rollouts of a candidate from which nothing is missing, in order."""
    assert candidate.seeds is not None
    number = len(candidate.seeds)
    lengths: Sequence[int | None] = candidate.lengths or [None] * number
    ended: Sequence[str | None] = candidate.ended or [None] * number
    each = zip(range(number), candidate.seeds, candidate.returns, lengths, ended, strict=True)
    return [Rollout(*values) for values in each]


def run_rollout(task: Task, params: Sequence[float], seed: int) -> Outcome:
    """Run one rollout; an error in it is its outcome, since records may hold anything."""
    from collector.rollouts.evaluate import evaluate

    try:
        result = evaluate(task, params, [seed])
    except Exception as error:  # an environment can raise anything on an invalid action
        return Outcome(None, None, None, f"{type(error).__name__}: {error}")
    return Outcome(result.returns[0], result.lengths[0], result.ended[0])


def run_job(job: Job) -> list[Outcome]:
    """The outcomes of a job's rollouts, in their order."""
    return [run_rollout(job.task, job.params, rollout.seed) for rollout in job.rollouts]


def run_jobs(jobs: Iterable[Job], task_modules: Sequence[Path] = ()) -> Iterator[tuple[Job, list[Outcome]]]:
    """Run jobs, each with its outcomes, in the order given: few in this process, many in one per core.

    Args:
        jobs: the jobs; they are taken as they are needed.
        task_modules: files of users' tasks, which other processes need as well.

    Raises:
        AuditError: a worker process died.
    """
    from collector.errors import WorkerError
    from collector.rollouts.evaluate import is_compiled
    from collector.rollouts.workers import Workers
    from collector.system.cores import cores

    remaining = iter(jobs)
    first = list(islice(remaining, _BATCH))
    few = len(first) < _BATCH and sum(len(job.rollouts) for job in first) <= FEW
    if few or cores() == 1:
        for job in chain(first, remaining):
            yield job, run_job(job)
        return
    for task in {job.task.id: job.task for job in first}.values():
        is_compiled(task)  # if it is not, the reason is printed here, once; workers print nothing
    try:
        with Workers(task_modules=task_modules) as workers:
            batch = first
            while batch:
                yield from zip(batch, asyncio.run(_together(workers, batch)), strict=True)
                batch = list(islice(remaining, _BATCH))
    except WorkerError as error:
        raise AuditError(str(error)) from None


async def _together(workers: Workers, jobs: Sequence[Job]) -> list[list[Outcome]]:
    return await asyncio.gather(*(workers(run_job, job) for job in jobs))


def version_note(runs: Iterable[Run]) -> str:
    """How the versions that the runs were recorded with differ from those installed here, in words."""
    from collector.system.versions import versions

    here = versions()
    recorded: dict[str, set[str]] = {}
    for run in runs:
        for package in DECISIVE:
            if (version := run.versions.get(package, "an unknown version")) != here[package]:
                recorded.setdefault(package, set()).add(version)
    if not recorded:
        return f"recorded with the versions that are installed here of {', '.join(DECISIVE)}"
    each = [f"{package} {' and '.join(sorted(found))}, here {here[package]}" for package, found in recorded.items()]
    return f"recorded with {'; '.join(each)}"

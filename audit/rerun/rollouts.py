"""Recorded rollouts run again: which can be, and whether they come out as recorded.

A rollout is a function of task, parameters and seed, so what is compared is compared exactly. The simulator is imported
when a rollout is run, and by nothing else of the audit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from audit.output.errors import AuditError, UsageError
from audit.records.lines import RecordedRun
from audit.sources.iterations import Candidate
from audit.vocabulary.methods import BASELINES

if TYPE_CHECKING:
    from collector.records import Run
    from collector.tasks import Task

NO_SEEDS: Final = "no seeds are recorded"
NO_PARAMETERS: Final = "no parameters are recorded"
TEXTS: Final = "candidates are texts, so there is nothing to run"
NO_RETURNS: Final = "no returns of single rollouts are recorded"
DECISIVE: Final = ("salience-audit", "gymnasium", "mujoco", "numpy")
"""Packages whose versions can change what a rollout returns."""


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


def run_again(task: Task, policy: tuple[Sequence[float], Sequence[int]]) -> list[Outcome]:
    """Run a policy once for each seed; an error in a rollout is its outcome, since records may hold anything.

    Args:
        task: the task.
        policy: its parameters and the seeds.
    """
    from collector.rollouts.evaluate import evaluate

    params, seeds = policy
    try:
        found = evaluate(task, params, seeds)
    except Exception as error:  # an environment can raise anything on an invalid action
        if len(seeds) == 1:
            return [Outcome(None, None, None, f"{type(error).__name__}: {error}")]
        return [outcome for seed in seeds for outcome in run_again(task, (params, [seed]))]
    return list(starmap(Outcome, zip(found.returns, found.lengths, found.ended, strict=True)))


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

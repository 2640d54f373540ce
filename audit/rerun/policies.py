"""Recorded policies made ready to run: which task, which parameters."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from audit.records.lines import RecordedRun
from audit.rerun.rollouts import DECISIVE, NO_SEEDS, NotRerunnableError, task_of
from audit.vocabulary.methods import BASELINES

if TYPE_CHECKING:
    from collector.tasks import Task

Floats = NDArray[np.float64]


def task_to_run(recorded: RecordedRun) -> Task:
    """The task that a run's policies are run on; of foreign logs too, since parameters are enough for fresh seeds.

    Raises:
        NotRerunnableError: the run is of a baseline, or its task is not known here.
    """
    from collector import errors
    from collector.tasks import get_task

    try:
        return task_of(recorded)
    except NotRerunnableError as error:
        env, variant = recorded.identity[1], recorded.identity[2]
        if str(error) != NO_SEEDS or variant.startswith(BASELINES):
            raise
        try:
            return get_task(env)
        except errors.UsageError:
            raise NotRerunnableError(f"task {env} is not known here, name its file with --task-module") from None


def fingerprint(task: Task) -> str:
    """A digest of all that decides what a policy's rollouts on a task return, seeds aside."""
    from collector.system.versions import versions

    here = versions()
    compiled = "" if task.dynamics is None else _source_of(task)
    settings = (task.id, task.gym_id, repr(task.space), repr(task.make_options), task.step_cap, task.clip_actions)
    return key_of(*settings, *(here[package] for package in DECISIVE), compiled)


class Fingerprints:
    """Fingerprints of tasks, each computed once."""

    def __init__(self) -> None:
        # With each its task: an id is valid only as long as the object exists.
        self._known: dict[int, tuple[Task, str]] = {}

    def of(self, task: Task) -> str:
        """The fingerprint of a task."""
        if id(task) not in self._known:
            self._known[id(task)] = task, fingerprint(task)
        return self._known[id(task)][1]


def _source_of(task: Task) -> str:
    from collector.rollouts.compiled.rollouts import fingerprint as source

    assert task.dynamics is not None
    return source(task.dynamics)


def key_of(*parts: object) -> str:
    """A key for a result: a digest of everything that it depends on."""
    return hashlib.blake2b(msgspec.json.encode(parts), digest_size=16).hexdigest()


def returns_of(task: Task, params: Sequence[float], seeds: Sequence[int]) -> Floats:
    """The returns of a policy, one for each seed.

    Raises:
        NotRerunnableError: the task cannot take these parameters.
    """
    from collector.rollouts.evaluate import evaluate

    try:
        return np.array(evaluate(task, params, seeds).returns)
    except Exception as error:  # an environment can raise anything on an invalid action
        raise NotRerunnableError(f"{type(error).__name__}: {error}") from None

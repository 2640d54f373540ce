"""What a worker on another machine must repeat to the bit before its numbers are trusted.

Compiled loops are made for each processor, and libraries compute a cosine in more than one way: a worker that is equal
in all its versions may still differ in a last digit, and the records would no longer be those of one process.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from collector import seeding
from collector.errors import TaskError
from collector.policy import random_params
from collector.rollouts.evaluate import evaluate, replay
from collector.system.versions import versions
from collector.tasks import Task

POLICIES: Final = 2
SEEDS: Final = 3
STEPS: Final = 200
"""Steps of a rollout at most, so that a slow task is proven quickly."""

Proof: TypeAlias = dict[str, str]
"""Versions by package, and outcomes by task."""


def prove(tasks: Sequence[Task], packages: Sequence[str] = ()) -> Proof:
    """Roll out fixed policies with fixed seeds, to be compared with what another process finds.

    Args:
        tasks: those in use.
        packages: what else has to be of the same version.

    Returns:
        The version of each package, and for each task the exact returns of its rollouts and a hash of one rollout's
        observations and actions.
    """
    return versions(*packages) | {f"rollouts of {task.id}": _outcome(task) for task in tasks}


def _outcome(task: Task) -> str:
    short = dataclasses.replace(task, step_cap=min(task.step_cap or STEPS, STEPS))
    found: list[str] = []
    for policy in range(POLICIES):
        params = random_params(task.space, seeding.generator(0, "canary", task.id, policy))
        seeds = seeding.seeds(0, SEEDS, "canary", task.id, policy)
        try:
            found += [value.hex() for value in evaluate(short, params, seeds).returns]
            shown = replay(short, params, seeds[0])
        except TaskError as error:  # a task that fails in the same way everywhere is reported by its run
            found.append(str(error))
        else:
            found.append(_digest(shown.observations) + _digest(shown.actions))
    return " ".join(found)


def _digest(values: Sequence[object]) -> str:
    digest = hashlib.sha256()
    for value in values:
        digest.update(np.asarray(value).tobytes())
    return digest.hexdigest()[:16]


def difference(theirs: Proof, ours: Proof) -> str:
    """What another process's proof differs in, in words; empty where it is the same."""
    different = [
        f"its {name} differ in their numbers"
        if name.startswith("rollouts of ")
        else f"it has {name} {theirs.get(name, 'none')}, not {value}"
        for name, value in ours.items()
        if theirs.get(name) != value
    ]
    return ", ".join(different)

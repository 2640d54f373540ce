"""What the rollout benchmarks run: for each task policies whose rollouts run long, and random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from collector import seeding
from collector.policy import Params, random_params
from collector.tasks import TASKS, Task

ROLLOUTS = 20
POLICIES = 5

LONG: dict[str, Params] = {
    "pong": [1, -1, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5],  # up or down, wherever the ball is
    "mountaincarcontinuous": [0.0, 2.0, 0.0],  # with the movement, but too gently to get over the hill
    "mountaincar": [0, 0, 0, -1, 0, 1, 0, 0.1, 0],  # coasts
    "cartpole": [0.0, 0.3, 0.0, 1.0, 0.0, 6.0, 0.0, 6.0, 0.0, 0.0],
    "invertedpendulum": [0.6, 6.0, 0.9, 1.3, 0.0],
    "inverteddoublependulum": [-0.2, -1.8, -5.6, 0.0, 0.0, -0.3, -0.9, -0.8, 0.0, 0.0],
}
"""Policies that balance, return the ball, or do not arrive. Elsewhere random ones show all there is."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Policies of one task, each with its seeds."""

    task: Task
    kind: str
    policies: list[tuple[Params, list[int]]]


def workloads() -> Iterator[Workload]:
    """All of them, task by task."""
    for task in TASKS.values():
        if task.id in LONG:
            yield Workload(task, "long", [(LONG[task.id], _seeds(task, 0))])
        drawn = [random_params(task.space, seeding.generator(0, "benchmark", task.id, i)) for i in range(POLICIES)]
        yield Workload(task, "random", [(params, _seeds(task, number)) for number, params in enumerate(drawn)])


def _seeds(task: Task, number: int) -> list[int]:
    return seeding.seeds(0, ROLLOUTS, "benchmark", task.id, number)

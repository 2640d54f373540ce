"""The tasks, one module each; this registry is the only place that lists them."""

from __future__ import annotations

from collector.errors import UsageError
from collector.tasks import (
    cartpole,
    frozenlake,
    inverteddoublependulum,
    invertedpendulum,
    maze,
    mountaincar,
    mountaincarcontinuous,
    nim,
    pong,
    swimmer,
)
from collector.tasks.task import LinearSpace, ParameterSpace, TabularSpace, Task

TASKS: dict[str, Task] = {
    module.TASK.id: module.TASK
    for module in (
        nim,
        pong,
        swimmer,
        mountaincarcontinuous,
        mountaincar,
        inverteddoublependulum,
        invertedpendulum,
        frozenlake,
        cartpole,
        maze,
    )
}

__all__ = ["TASKS", "LinearSpace", "ParameterSpace", "TabularSpace", "Task", "get_task"]


def get_task(task_id: str) -> Task:
    """The task of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    try:
        return TASKS[task_id]
    except KeyError:
        raise UsageError(f"unknown task '{task_id}'; choose from {', '.join(TASKS)}") from None

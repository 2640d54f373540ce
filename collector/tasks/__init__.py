"""The tasks, one module each; this registry is the only place that lists them."""

from __future__ import annotations

from importlib import import_module

from collector.errors import UsageError
from collector.system.naming import meant
from collector.tasks.task import LinearSpace, ParameterSpace, TabularSpace, Task

_NAMES = (
    *("nim", "pong", "swimmer", "mountaincarcontinuous", "mountaincar", "inverteddoublependulum"),
    *("invertedpendulum", "frozenlake", "cartpole", "maze"),
)
TASKS: dict[str, Task] = {name: import_module(f"collector.tasks.{name}").TASK for name in _NAMES}

__all__ = ["TASKS", "LinearSpace", "ParameterSpace", "TabularSpace", "Task", "get_task"]


def get_task(task_id: str) -> Task:
    """The task of that name.

    Raises:
        UsageError: there is none; the message lists those there are.
    """
    try:
        return TASKS[meant(task_id, TASKS)]
    except KeyError:
        raise UsageError(f"unknown task '{task_id}'; choose from {', '.join(TASKS)}") from None

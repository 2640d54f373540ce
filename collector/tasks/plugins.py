"""Tasks that are not the project's: a user's module, or one that an installed package offers."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

from collector.errors import UsageError
from collector.tasks import TASKS
from collector.tasks.task import Task

GROUP: Final = "salience_audit.tasks"
"""Entry points of installed packages; each names a module that holds a `TASK`."""
_files: dict[str, Path] = {}

_MODULE: Final = "salience_audit_task_"
"""What the names of users' modules begin with."""


def load_tasks(paths: Iterable[Path] = ()) -> list[str]:
    """Add the tasks of installed packages and of the given modules to the registry.

    Args:
        paths: Python files, each with a `TASK`. Importing one may register a Gymnasium environment.

    Returns:
        Ids of the tasks added.

    Raises:
        UsageError: a module cannot be imported, holds no `TASK`, or names a task that exists already.
    """
    added = [_add(entry.load(), f"entry point {entry.name}") for entry in _offered(tuple(sys.path))]
    for path in paths:
        added.append(_add(_import(path), str(path)))
        _files[added[-1]] = path.resolve()
    return added


@functools.cache
def _offered(_: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """What packages in some places offer; to find it, the metadata of all of them are read."""
    return tuple(entry_points(group=GROUP))


def files_of(tasks: Iterable[str]) -> list[Path]:
    """The files that tasks were loaded from, each once; the project's own and those of packages have none."""
    return list(dict.fromkeys(_files[task] for task in tasks if task in _files))


def _import(path: Path) -> ModuleType:
    if not path.is_file():  # before it is resolved, which a link to itself cannot be
        raise UsageError(f"{path} is no Python file")
    name = f"{_MODULE}{path.stem}"
    if name in sys.modules and sys.modules[name].__file__ == str(path.resolve()):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Gymnasium imports an environment's entry point by the module's name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if type(error) is KeyboardInterrupt:
            raise
        line = _line_in(path, error)
        raise UsageError(f"{path}{line}: {type(error).__name__}: {error}") from None
    return module


def _line_in(path: Path, error: BaseException) -> str:
    """`:line` of the last place in that file which the error passed through."""
    line, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path.resolve()):
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line


def _add(module: ModuleType, where: str) -> str:
    task = getattr(module, "TASK", None)
    if not isinstance(task, Task):
        raise UsageError(f"{where} holds no TASK of type collector.tasks.Task")
    known = TASKS.get(task.id)
    if known is not None and known != task:
        raise UsageError(f"{where}: there is a task '{task.id}' already; choose another id")
    TASKS[task.id] = task
    return task.id

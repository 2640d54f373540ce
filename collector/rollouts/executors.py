"""Where rollouts run: in processes of this machine, or in those of a Ray cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar

from collector.errors import UsageError

if TYPE_CHECKING:
    from collector.tasks import Task

T = TypeVar("T")

WORKERS_HELP: Final = "Where rollouts run: local (a process per core), a number of processes, ray, or ray://HOST:PORT."
"""Help of the option `--workers`. It is never recorded: results do not depend on it."""
WORKERS_METAVAR: Final = "local|N|ray|ray://HOST:PORT"
"""What the option takes."""
MOST: Final = 1024
"""Processes of one machine at most."""


RAY: Final = "ray"
_CLUSTER: Final = re.compile(r"ray://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


class Offload(Protocol):
    """Runs a function of picklable arguments outside the event loop."""

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """The function's result."""
        ...


class Executor(Offload, Protocol):
    """Runs pure functions of picklable arguments elsewhere. Use as a context manager."""

    @property
    def size(self) -> int:
        """Calls that run at once."""
        ...

    def __enter__(self) -> Self:
        """Start, or prepare to."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End everything that was started."""
        ...


def check_workers(workers: str | None) -> None:
    """Refuse a value of `--workers` that is none, before anything is begun.

    Raises:
        UsageError: the value is none of those in the help, or needs a package that is not installed.
    """
    if workers in {None, "local"} or _count(workers):
        return
    if is_ray(workers):
        missing = [module for module in ("ray", *(["grpc"] if workers != RAY else [])) if find_spec(module) is None]
        if missing:
            raise UsageError(f'--workers {workers} needs Ray, not installed here: in a clone, pip install ".[ray]"')
        return
    raise UsageError(f"--workers {workers} is not local, a number from 1 to {MOST}, ray or ray://HOST:PORT")


def executor(
    workers: str | None = None,
    task_modules: Sequence[Path] = (),
    tasks: Sequence[Task] = (),
    packages: Sequence[str] = (),
    note: Callable[[str], None] | None = None,
) -> Executor:
    """The executor that `--workers` names; it starts when it is entered.

    Args:
        workers: None or `local` for a process per core, `N` for N processes, `ray` for a Ray cluster on this machine,
            `ray://HOST:PORT` for that one.
        task_modules: Python files of users' tasks, which the workers need as well.
        tasks: those whose rollouts a Ray worker must repeat to the bit before it is used.
        packages: what a Ray worker must have in the same version, beside what rollouts need.
        note: is called with a line for the user that stops nothing; by default it is printed on standard error.

    Raises:
        UsageError: as `check_workers` does.
    """
    check_workers(workers)
    if is_ray(workers):
        from collector.rollouts.ray_workers import RayWorkers

        return RayWorkers(None if workers == RAY else workers, task_modules, tasks, packages, note)
    from collector.rollouts.workers import Workers

    return Workers(_count(workers), task_modules)


def is_ray(workers: str | None) -> bool:
    """Whether the workers are Ray's."""
    return workers is not None and (workers == RAY or _CLUSTER.fullmatch(workers) is not None)


def _count(workers: str | None) -> int | None:
    """The number of processes, if it is one."""
    if workers is None or not (workers.isascii() and workers.isdigit()):
        return None
    return int(workers) if len(workers) <= len(str(MOST)) and 1 <= int(workers) <= MOST else None

"""Where rollouts run: in processes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self, TypeVar

from collector.errors import UsageError

T = TypeVar("T")

WORKERS_HELP: Final = "Where rollouts run: local (a process per core), or a number of processes."
"""Help of the option `--workers`. It is never recorded: results do not depend on it."""
WORKERS_METAVAR: Final = "local|N"
"""What the option takes."""
MOST: Final = 1024
"""Processes of one machine at most."""


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
        UsageError: the value is none of those in the help.
    """
    if workers not in {None, "local"} and not _count(workers):
        raise UsageError(f"--workers {workers} is not local or a number from 1 to {MOST}")


def executor(workers: str | None = None, task_modules: Sequence[Path] = ()) -> Executor:
    """The executor that `--workers` names; it starts when it is entered.

    Args:
        workers: None or `local` for a process per core, `N` for N processes.
        task_modules: Python files of users' tasks, which the workers need as well.

    Raises:
        UsageError: as `check_workers` does.
    """
    check_workers(workers)
    from collector.rollouts.workers import Workers

    return Workers(_count(workers), task_modules)


def _count(workers: str | None) -> int | None:
    """The number of processes, if it is one."""
    if workers is None or not (workers.isascii() and workers.isdigit()):
        return None
    return int(workers) if len(workers) <= len(str(MOST)) and 1 <= int(workers) <= MOST else None

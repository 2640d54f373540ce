"""Worker processes for rollouts, so that the event loop is free to wait for models."""

from __future__ import annotations

import asyncio
import multiprocessing
import multiprocessing.connection
import os
import signal
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from collector.compiled import PlainLoopWarning
from collector.cores import cores
from collector.tasks.plugins import load_tasks

T = TypeVar("T")


class Workers:
    """A pool of processes that run functions of picklable arguments. Use as a context manager.

    Args:
        processes: how many; by default one per core that this process may use.
        task_modules: Python files of users' tasks, which the processes need as well.
    """

    def __init__(self, processes: int | None = None, task_modules: Sequence[Path] = ()) -> None:
        # Spawned rather than forked: the parent has threads and an event loop.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            processes or cores(), mp_context=context, initializer=_prepare, initargs=(tuple(task_modules),)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in one of the processes."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *args)


def _prepare(task_modules: Sequence[Path]) -> None:
    """Leave Ctrl-C to the parent, and do not outlive it: a killed parent cannot close its pool."""
    warnings.simplefilter("ignore", PlainLoopWarning)  # the parent has said so
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        multiprocessing.connection.wait([sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    load_tasks(task_modules)

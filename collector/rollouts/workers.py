"""Worker processes for rollouts, so that the event loop is free to wait for models."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import traceback
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from collector.errors import CollectorError, TaskError, WorkerError
from collector.rollouts.compiled import PlainLoopWarning
from collector.system.cores import cores
from collector.system.processes import Process
from collector.tasks.plugins import load_tasks

T = TypeVar("T")
Pipe: TypeAlias = "Connection[Any, Any]"


class Offload(Protocol):
    """Runs a function of picklable arguments outside the event loop."""

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """The function's result."""
        ...


class Workers:
    """A pool of processes that run functions of picklable arguments. Use as a context manager.

    A pipe leads to each process, so that a caller waiting for an answer notices when it dies. In the standard library's
    pool the processes share their queues, and it can wait for ever then.

    Args:
        processes: how many at most; by default one per core that this process may use.
        task_modules: Python files of users' tasks, which the processes need as well.
    """

    def __init__(self, processes: int | None = None, task_modules: Sequence[Path] = ()) -> None:
        self._most = processes or cores()
        self._task_modules = tuple(task_modules)
        self._processes: list[Process] = []
        self._busy = 0
        self._is_ending = False
        self._idle: SimpleQueue[Pipe] = SimpleQueue()
        self._threads = ThreadPoolExecutor(self._most, thread_name_prefix="workers")

    @property
    def size(self) -> int:
        """Calls that run at once."""
        return self._most

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, whatever they do; the threads that wait for them end with them."""
        self._is_ending = True
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.join()

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in one of the processes.

        Raises:
            WorkerError: the process died.
            Exception: what the function raises.
        """
        self._busy += 1
        try:
            if len(self._processes) < min(self._busy, self._most):
                self._start()
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, function, args)
        finally:
            self._busy -= 1

    def _start(self) -> None:
        # Spawned rather than forked: the parent has threads and an event loop.
        ours, theirs = multiprocessing.Pipe()
        process = Process(target=serve, args=(theirs, self._task_modules), daemon=True)
        process.start()
        theirs.close()
        self._processes.append(process)
        if self._is_ending:  # in another thread, which may not have seen this process
            process.kill()
        self._idle.put(ours)

    def _run(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        pipe = self._idle.get()
        try:
            pipe.send((function, args))
            result, error = pipe.recv()
        except (EOFError, ConnectionError):
            raise WorkerError("a worker process was killed, for want of memory perhaps") from None
        finally:
            self._idle.put(pipe)
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]


def serve(pipe: Pipe, task_modules: Sequence[Path]) -> None:
    """Do what comes through a pipe, and send back the result or the error, until the parent is gone."""
    warnings.simplefilter("ignore", PlainLoopWarning)  # already reported by the parent
    with contextlib.suppress(EOFError, ConnectionError):
        try:
            load_tasks(task_modules)
        except CollectorError as error:  # a module that the parent could load
            while pipe.recv_bytes():
                pipe.send((None, error))
        while True:
            function, args = pipe.recv()
            pipe.send(outcome(function, args))


def outcome(function: Callable[..., T], args: Sequence[Any]) -> tuple[T | None, Exception | None]:
    """What a function returns, or the error that it raises, with where it was raised as a note."""
    try:
        return function(*args), None
    except CollectorError as error:
        return None, error
    except Exception as error:
        error.add_note(traceback.format_exc())
        return None, error
    except BaseException as error:  # such as SystemExit: it is a task's, and must not end the parent
        return None, TaskError(f"{type(error).__name__}: {error}")

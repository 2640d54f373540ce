"""Processes that apply a function to batches of rows, so that all cores read answers.

A pool of the standard library imports the caller's main module in each process. That fails where it is read from
standard input, and runs a script again that has no guard, so these processes are started as commands of their own.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from itertools import chain, islice
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from audit.engine.interrupting import result_of
from audit.output.errors import AuditError
from collector.system.cores import cores
from collector.system.stopping import left_to_parent

Rows: TypeAlias = Sequence[dict[str, Any]]
Function: TypeAlias = Callable[[Rows], bytes]

ALONE: Final = 0.3
"""Processor seconds for which a function runs here, about what starting a process takes: there may be no more to do."""
FEW: Final = 10
"""Batches that one process has read about when others have started."""
_AHEAD: Final = 2
"""Batches in flight for each process."""
_ALONE: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""In the environment of a process: with one per core, threads of linear algebra would only wait for one another."""
_COMMAND: Final = (
    "import sys; sys.path[:] = sys.argv[1:]; from audit.python_models.workers import serve; serve()"
)  # fmt: skip


class Workers:
    """A pool of processes, started when there is work for them. Use as a context manager.

    A pipe leads to each process and one from it: when the parent ends, however it ends, the process reads the end of
    the first, and ends too.

    Args:
        processes: how many; by default one per core that this process may use.
    """

    def __init__(self, processes: int | None = None) -> None:
        self._size = processes or cores()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        self._threads = ThreadPoolExecutor(self._size, thread_name_prefix="workers")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, whatever they do; the threads that wait for them end with them."""
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            with contextlib.suppress(BrokenPipeError), process:  # closes the pipes, where a request may still wait
                pass

    def map(self, function: Function, batches: Iterable[Rows]) -> Iterator[bytes]:
        """The function's results in the order of the batches, of which only a few are held at once.

        Where there is little to do, one core, or no process can be started, the function runs here.

        Args:
            function: of a module, which the processes import.
            batches: lists of rows that can be pickled.

        Raises:
            AuditError: a process was killed.
            Exception: what the function raises.
        """
        remaining = iter(batches)
        spent = math.inf if self._processes else 0.0
        while spent < ALONE and (batch := next(remaining, None)) is not None:
            begun = time.thread_time()
            result = function(batch)
            spent += time.thread_time() - begun
            yield result
        first = list(islice(remaining, FEW)) if self._size > 1 else []
        if len(first) < FEW or not self._start():
            yield from map(function, chain(first, remaining))
            return
        results: deque[Future[bytes]] = deque()
        try:
            for batch in chain(first, remaining):
                results.append(self._threads.submit(self._run, function, batch))
                if len(results) > _AHEAD * self._size:
                    yield result_of(results.popleft())
            while results:
                yield result_of(results.popleft())
        finally:
            for future in results:
                future.cancel()

    def _start(self) -> bool:
        """Start the processes, unless they run; False where the system refuses."""
        command = [sys.executable, "-c", _COMMAND, *map(str, sys.path)]
        environment = {**os.environ, **_ALONE}
        try:
            with left_to_parent():
                while len(self._processes) < self._size:
                    process = subprocess.Popen(  # noqa: S603
                        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
                    )
                    self._processes.append(process)
                    self._idle.put(process)
        except (OSError, ValueError):
            return False
        return True

    def _run(self, function: Function, batch: Rows) -> bytes:
        process = self._idle.get()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((function.__module__, function.__qualname__, batch), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            result: bytes | None = pickle.load(process.stdout)  # noqa: S301 - written by `serve`
        except (EOFError, OSError, pickle.UnpicklingError):
            raise AuditError("a process that reads answers was killed, for want of memory perhaps") from None
        finally:
            self._idle.put(process)
        return function(batch) if result is None else result  # what it raises there, it raises here


_shared: ContextVar[Workers | None] = ContextVar("_shared", default=None)


@contextlib.contextmanager
def kept_workers() -> Iterator[None]:
    """Within the block `on_all_cores` uses one pool, whose processes end behind it."""
    with Workers() as workers:
        token = _shared.set(workers)
        try:
            yield
        finally:
            _shared.reset(token)


def on_all_cores(function: Function, batches: Iterable[Rows]) -> Iterator[bytes]:
    """The results of a function in the order of the batches, by `Workers.map`."""
    shared = _shared.get()
    if shared is not None:
        yield from shared.map(function, batches)
        return
    with Workers() as workers:
        yield from workers.map(function, batches)


def serve() -> None:
    """Apply functions to what comes through standard input, and write results, until the parent is gone."""
    requests: SimpleQueue[tuple[str, str, Rows]] = SimpleQueue()
    threading.Thread(target=_receive, args=(requests,), daemon=True).start()
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing but results is written there
    while True:
        module, name, batch = requests.get()
        try:
            result = getattr(importlib.import_module(module), name)(batch)
        except Exception:
            result = None  # the parent repeats it, and raises the error
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(result, results, pickle.HIGHEST_PROTOCOL)
            results.flush()


def _receive(requests: SimpleQueue[tuple[str, str, Rows]]) -> None:
    """Receive requests in a thread, so that a process in the middle of one ends with its parent all the same."""
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            requests.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - written by the parent
    os._exit(0)

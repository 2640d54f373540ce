"""Many policies at once, in threads and processes of this machine.

What is run is a pure function of a task and an argument, so that results depend neither on where it is run nor on how
often it is begun.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from audit.output.errors import AuditError, UsageError

if TYPE_CHECKING:
    from collector.rollouts.workers import Workers
    from collector.tasks import Task

T = TypeVar("T")
R = TypeVar("R")

BATCH_SECONDS: Final = 0.1
"""Work of one call: handing over a call takes about a millisecond, and the last one is waited for."""
LARGEST: Final = 512
"""Arguments of one call at most."""
GROWTH: Final = 4
"""A batch has at most so many times as many arguments as the one before: policies differ in how long they run."""
AHEAD: Final = 2
"""Calls under way and waiting for each that runs; no more of the work is taken until one is done."""
START_SECONDS: Final = 2.0
"""Work that is done in this process before others are started: starting them takes about as long."""


class Batch(NamedTuple, Generic[T, R]):
    """A function to be called with a task and each of some arguments: the arguments of `_run`."""

    task: Task
    function: Callable[[Task, T], R]
    items: list[T]


def run_each(
    function: Callable[[Task, T], R],
    work: Iterable[tuple[Task, T]],
    *,
    workers: int | None = None,
    tasks: Iterable[Task],
) -> Generator[R]:
    """The results of a function, in the order of the work.

    Args:
        function: of a module, and pure. What it raises ends everything.
        work: what it is called with, taken as it is needed; arguments and results can be pickled.
        workers: how many; None for one per core. They are threads for tasks that are compiled, processes for the
            others.
        tasks: those of the work, in any number; processes are given the files of users' ones.

    Raises:
        AuditError: a process died.
    """
    remaining = iter(work)
    first = next(remaining, None)
    if first is None:
        return
    batches = _Batches(function, chain([first], remaining))
    under_way: deque[tuple[Batch[T, R], Future[tuple[list[R], float]]]] = deque()
    with _reported(), _pool(workers, tasks) as pool:
        while True:
            while len(under_way) < AHEAD * pool.size and (batch := batches.take()):
                under_way.append((batch, pool.submit(batch)))
            if not under_way:
                return
            batch, future = under_way.popleft()
            results, seconds = future.result()
            batches.measured(batch, seconds)
            yield from results


def _run(task: Task, function: Callable[[Task, T], R], items: Sequence[T]) -> tuple[list[R], float]:
    """Results, and how many seconds they took; compiling the task, or loading it, does not count."""
    from collector.rollouts.evaluate import is_compiled

    is_compiled(task)
    started = time.perf_counter()
    results = [function(task, item) for item in items]
    return results, time.perf_counter() - started


class _Batches(Generic[T, R]):
    """Cuts work into batches of one task each, whose size follows from the time that earlier ones took."""

    def __init__(self, function: Callable[[Task, T], R], work: Iterator[tuple[Task, T]]) -> None:
        self._function, self._work = function, work
        self._next = next(work, None)
        self._sizes: dict[str, int] = {}

    def take(self) -> Batch[T, R] | None:
        """The next batch; None where no work is left."""
        if self._next is None:
            return None
        task = self._next[0]
        items: list[T] = []
        size = self._sizes.get(task.id, 1)
        while self._next is not None and len(items) < size and _same(self._next[0], task):
            items.append(self._next[1])
            self._next = next(self._work, None)
        return Batch(task, self._function, items)

    def measured(self, batch: Batch[T, R], seconds: float) -> None:
        """Take into account how long a batch took."""
        fitting = BATCH_SECONDS * len(batch.items) / max(seconds, 1e-9)
        most = min(GROWTH * len(batch.items), LARGEST)
        self._sizes[batch.task.id] = max(1, min(round(fitting), most))


def _pool(workers: int | None, tasks: Iterable[Task]) -> _Pool:
    from collector.rollouts.workers import Workers
    from collector.tasks.plugins import files_of

    return _Pool(Workers(workers, files_of({task.id for task in tasks})), limited=workers is not None)


class _Pool:
    """Threads of this process for compiled rollouts, which release the interpreter's lock, and processes for others.

    Processes are started when others have taken this process `START_SECONDS`.

    Args:
        processes: those that may be started; there are as many threads.
        limited: whether they are fewer than there are cores, so that MuJoCo's own threads are as well.
    """

    def __init__(self, processes: Workers, *, limited: bool) -> None:
        self.size = processes.size
        self._processes, self._limited = processes, limited
        self._spent = 0.0

    def __enter__(self) -> _Pool:
        from collector.system.cores import limit_cores

        self._resources = contextlib.ExitStack()
        if self._limited:
            limit_cores(self.size)
            self._resources.callback(limit_cores, None)
        self._threads = self._resources.enter_context(_ended(ThreadPoolExecutor(self.size, "policies")))
        self._elsewhere: _Elsewhere | None = None
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def submit(self, batch: Batch[T, R]) -> Future[tuple[list[R], float]]:
        from collector.rollouts.evaluate import is_compiled

        if is_compiled(batch.task):  # if it is not, the reason is printed here, once; workers print nothing
            return self._threads.submit(_run, batch.task, batch.function, batch.items)
        if self.size > 1 and self._spent > START_SECONDS:
            if self._elsewhere is None:
                self._elsewhere = self._resources.enter_context(_Elsewhere(self._processes))
            return self._elsewhere.submit(batch)
        done: Future[tuple[list[R], float]] = Future()
        done.set_result(_run(*batch))
        self._spent += done.result()[1]
        return done


@contextlib.contextmanager
def _ended(threads: ThreadPoolExecutor) -> Iterator[ThreadPoolExecutor]:
    try:
        yield threads
    finally:
        threads.shutdown(cancel_futures=True)


class _Elsewhere:
    """Processes for callers without an event loop; the loop runs in a thread of its own."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="workers", daemon=True)

    @property
    def size(self) -> int:
        return self._workers.size

    def __enter__(self) -> _Elsewhere:
        self._workers.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop).result()
        finally:
            self._workers.__exit__(*error)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def submit(self, batch: Batch[T, R]) -> Future[tuple[list[R], float]]:
        return asyncio.run_coroutine_threadsafe(self._workers(_run, *batch), self._loop)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _same(task: Task, other: Task) -> bool:
    return task is other or task == other


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Report the collector's errors as the audit's."""
    from collector import errors

    try:
        yield
    except errors.UsageError as error:
        raise UsageError(str(error)) from None
    except errors.CollectorError as error:
        raise AuditError(str(error)) from None

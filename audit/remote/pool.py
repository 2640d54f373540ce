"""Threads that fetch: what is waited for comes before what is read ahead; and many requests at once."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from collector.system.stopping import is_stopped

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE: Final = 16
"""Requests at once."""
DEMANDED: Final = 0
AHEAD: Final = 1
_PAUSE: Final = 0.1
"""Seconds between two moments at which Ctrl-C is noticed."""


class Pool:
    """Threads are daemons, made when they are first needed: a request that hangs keeps no program from ending."""

    def __init__(self) -> None:
        self._jobs: queue.PriorityQueue[tuple[int, int, Future[Any]]] = queue.PriorityQueue()
        self._functions: dict[Future[Any], Callable[[], Any]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._threads = 0

    def submit(self, function: Callable[[], Any], urgency: int) -> Future[Any]:
        """Have a function called in another thread, the more urgent ones first."""
        from concurrent.futures import Future

        future: Future[Any] = Future()
        with self._lock:
            self._functions[future] = function
            if self._threads < AT_ONCE:
                self._threads += 1
                threading.Thread(target=self._work, daemon=True, name="audit-remote").start()
        self._jobs.put((urgency, next(self._numbers), future))
        return future

    def hurry(self, futures: Iterable[Future[Any]]) -> None:
        """Have calls that are waiting made before all that is read ahead."""
        for future in futures:
            if not future.running() and not future.done():
                self._jobs.put((DEMANDED, next(self._numbers), future))

    def _work(self) -> None:
        while True:
            self._work_once()

    def _work_once(self) -> None:
        """Make one call. Nothing of it is held afterwards: its error's traceback leads to DuckDB's connections."""
        _, _, future = self._jobs.get()
        with self._lock:
            function = self._functions.pop(future, None)
        if function is None:  # it was hurried, and is done or under way
            return
        future.set_running_or_notify_cancel()
        try:
            result = function()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)


POOL: Final = Pool()


def result_of(future: Future[Any]) -> Any:
    """The result of a call, waited for in short intervals, so that Ctrl-C is noticed.

    Raises:
        KeyboardInterrupt: the command has received a signal to stop, whichever thread this is: those of DuckDB wait
            for one another.
    """
    from concurrent.futures import wait

    while not future.done():
        wait([future], timeout=_PAUSE)
        if is_stopped():
            raise KeyboardInterrupt
    return future.result()


def together(function: Callable[[Item], Result], items: Iterable[Item], at_once: int = AT_ONCE) -> Iterator[Result]:
    """The results of a function, in the order in which they are ready; the first error ends all, and so does Ctrl-C."""
    from concurrent.futures import FIRST_COMPLETED, wait

    waiting = iter(items)
    running = {POOL.submit(partial(function, item), DEMANDED) for item in itertools.islice(waiting, at_once)}
    while running:
        done, running = wait(running, timeout=_PAUSE, return_when=FIRST_COMPLETED)
        for future in done:
            running |= {POOL.submit(partial(function, item), DEMANDED) for item in itertools.islice(waiting, 1)}
            yield future.result()

"""Many requests at once, which Ctrl-C can leave."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE: Final = 16
_PAUSE: Final = 0.1
"""Seconds between two moments at which Ctrl-C is noticed."""


def together(function: Callable[[Item], Result], items: Sequence[Item], at_once: int = AT_ONCE) -> Iterator[Result]:
    """The results of a function, in the order in which they are ready; the first error ends all.

    Threads are daemons: a request that hangs does not keep a program from ending.
    """
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    for item in items:
        waiting.put(item)
    done: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    stopped = threading.Event()

    def work() -> None:
        while not stopped.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((function(item), None))
            except BaseException as error:
                done.put((None, error))

    for _ in range(min(at_once, len(items))):
        threading.Thread(target=work, daemon=True, name="audit-remote").start()
    try:
        for _ in items:
            result, error = _next(done)
            if error is not None:
                raise error
            yield result
    finally:
        stopped.set()


def _next(done: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            return done.get(timeout=_PAUSE)
        except queue.Empty:
            continue

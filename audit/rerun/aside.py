"""A process beside this one, for work that can crash, hang, or must not share a thread."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from audit.output.errors import AuditError

if TYPE_CHECKING:
    from collector.rollouts.workers import Pipe
    from collector.system.processes import Process

T = TypeVar("T")


class AsideError(AuditError):
    """The process took too long, or died; the message says which."""


class Aside:
    """One process, started by the first call and again after it died. Calls from several threads take turns.

    Args:
        task_modules: Python files of users' tasks, which the process needs as well.
    """

    def __init__(self, task_modules: Sequence[Path] = ()) -> None:
        self._task_modules = tuple(task_modules)
        self._turn = threading.Lock()
        self._running: tuple[Process, Pipe] | None = None

    def run(self, function: Callable[..., T], *args: Any, seconds: float) -> T:
        """The result of a function, run in the process.

        Args:
            function: importable there, as its arguments and its result must be picklable.
            args: its arguments.
            seconds: how long it may take, the start of the process included.

        Raises:
            AsideError: it took longer, or the process died. The next call starts another.
            Exception: what the function raises.
        """
        with self._turn:
            process, pipe = self._running = self._running or self._start()
            try:
                pipe.send((function, args))
                if pipe.poll(seconds):
                    result, error = pipe.recv()
                else:
                    result, error = None, AsideError(f"it took more than {seconds:g} seconds")
                    self._end()
            except (EOFError, ConnectionError):
                process.join(1)
                self._end()
                raise AsideError(f"the process that ran it ended with status {process.exitcode}") from None
            except BaseException:
                self._end()
                raise
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._running is not None:
            self._running[0].kill()  # a call that waits for it notices, and clears up
        with self._turn:
            self._end()

    def _start(self) -> tuple[Process, Pipe]:
        from collector.rollouts.workers import serve
        from collector.system.processes import Process

        ours, theirs = multiprocessing.Pipe()
        process = Process(target=serve, args=(theirs, self._task_modules), daemon=True)
        process.start()
        theirs.close()
        return process, ours

    def _end(self) -> None:
        if self._running is not None:
            process, pipe = self._running
            self._running = None
            process.kill()
            process.join()
            pipe.close()

"""Workers of a Ray cluster, or of a Ray that is started on this machine. Nothing here imports Ray."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from collector.errors import CollectorError, WorkerError
from collector.rollouts.canary import prove
from collector.rollouts.ray_driver import ATTEMPTS, drive
from collector.rollouts.ray_runner import Call, Done, Lost, Note, Ready, Work
from collector.system.processes import Process
from collector.system.sessions import end_session
from collector.tasks import Task

T = TypeVar("T")

SHORT: Final = 12
"""Characters of the temporary folder at most: Ray makes sockets below it, whose names have 107 at most."""
FAREWELL: Final = 10.0
"""Seconds in which the driver must have ended."""


class _Driver(Process):
    """Ends what it has started, and then itself, when the parent is gone; it does not just end."""

    def run(self) -> None:
        """Run the target, in the process itself."""
        SpawnProcess.run(self)


class RayWorkers:
    """Runs pure functions of picklable arguments in the workers of a Ray cluster. Use as a context manager.

    A worker that dies is replaced, and its call made again, a few times. What a function raises is raised here, and
    not tried again.

    Args:
        address: `ray://HOST:PORT`; None for the cluster that `RAY_ADDRESS` names, as in a Ray job, or else a Ray of
            this machine, with a worker for each core, which is started here and ended here.
        task_modules: Python files of users' tasks; their content is sent to the workers.
        tasks: whose rollouts a worker must repeat to the bit, or it is refused.
        packages: of which a worker must have the same version, beside those that rollouts need.
        note: is called with a line for the user that stops nothing, such as a worker that is refused.
    """

    def __init__(
        self,
        address: str | None = None,
        task_modules: Sequence[Path] = (),
        tasks: Sequence[Task] = (),
        packages: Sequence[str] = (),
        note: Callable[[str], None] | None = None,
    ) -> None:
        named = os.environ.get("RAY_ADDRESS")
        self._address = address or (None if named in {None, "", "local"} else "auto")
        self._task_modules, self._tasks, self._packages = tuple(task_modules), tuple(tasks), tuple(packages)
        self._note = note or (lambda text: print(text, file=sys.stderr))
        self._size = 0
        self._lock = threading.Lock()
        self._answers: dict[int, Future[bytes]] = {}
        self._numbers = itertools.count()
        self._lost: str | None = None

    @property
    def size(self) -> int:
        """Calls that run at once; known once the workers have started."""
        return self._size

    def __enter__(self) -> Self:
        """Start or join Ray, and have its workers prove themselves.

        Raises:
            CollectorError: there is no cluster, or none of its workers can be used.
        """
        place = tempfile.gettempdir()
        place = place if len(place) <= SHORT else "/tmp"  # noqa: S108
        self._folder = Path(tempfile.mkdtemp(prefix=f"salience-ray-{os.getpid()}-", dir=place))
        # Spawned rather than forked: the parent has threads and an event loop.
        self._pipe, theirs = multiprocessing.Pipe()
        self._driver = _Driver(target=drive, args=(theirs, self._address, self._folder), daemon=True)
        try:
            self._driver.start()
            theirs.close()
            modules = [(str(path.resolve()), path.read_bytes()) for path in self._task_modules]
            work = Work(modules, pickle.dumps(self._tasks), self._packages)
            expected = prove(self._tasks, self._packages)
            with contextlib.suppress(OSError):  # the driver has ended meanwhile, and its reason is waiting
                self._pipe.send((work, expected))
            self._begin()
        except (EOFError, OSError):
            self._end()
            raise CollectorError("Ray does not start: its driver died") from None
        except BaseException:
            self._end()
            raise
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def _begin(self) -> None:
        while not isinstance(message := self._pipe.recv(), Ready):
            if isinstance(message, Lost):
                raise CollectorError(message.text)
            assert isinstance(message, Note)
            self._note(message.text)
        self._size = message.size

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End a Ray that was started here, or leave the cluster."""
        self._end()

    def _end(self) -> None:
        with contextlib.suppress(OSError):  # it is gone
            self._pipe.send(None)
        if self._driver.pid is not None:
            wait([self._driver.sentinel], FAREWELL)
            self._driver.kill()
            end_session(self._driver.pid)  # before the driver is waited for, as its number is not used again until then
            self._driver.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in one of the workers.

        Raises:
            WorkerError: several workers died of the call, or all have died, or the cluster is gone.
            Exception: what the function raises.
        """
        pickled = pickle.dumps((function, args), protocol=pickle.HIGHEST_PROTOCOL)
        kind = getattr(function, "__qualname__", repr(type(function))), getattr(args[0], "id", None) if args else None
        answer: Future[bytes] = Future()
        with self._lock:
            if self._lost is not None:
                raise WorkerError(self._lost)
            number = next(self._numbers)
            self._answers[number] = answer
            with contextlib.suppress(OSError):  # the driver has ended, as the listener finds out
                self._pipe.send(Call(number, kind, pickled))
        outcome: bytes = await asyncio.wrap_future(answer)
        result, error = pickle.loads(outcome)  # noqa: S301
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def _listen(self) -> None:
        try:
            while True:
                match self._pipe.recv():
                    case Done(outcomes):
                        for number, outcome in outcomes.items():
                            died = f"{ATTEMPTS} Ray workers died of the same call, for want of memory perhaps"
                            self._finish(number, WorkerError(died) if outcome is None else outcome)
                    case Lost(text):
                        self._lose(text)
                    case Note(text):
                        self._note(text)
        except (EOFError, OSError):
            self._lose("Ray is gone: its driver died")

    def _finish(self, number: int, outcome: bytes | WorkerError) -> None:
        with self._lock:
            answer = self._answers.pop(number)
        if answer.set_running_or_notify_cancel():
            if isinstance(outcome, WorkerError):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

    def _lose(self, text: str) -> None:
        with self._lock:
            self._lost = text
        for number in list(self._answers):
            self._finish(number, WorkerError(text))

"""Runs attempts of all parts in processes that are watched, and reports their outcomes."""

from __future__ import annotations

import importlib
import multiprocessing
import multiprocessing.connection
import os
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

from benchmarks.torture.parts import PARTS
from benchmarks.torture.report import Tally
from benchmarks.torture.trial import PATIENCE, Failure, Trial, environment
from benchmarks.torture.watching import end_session

_MEMORY: Final = 8 * 2**30
_STARTING: Final = 120.0


@dataclass
class _Worker:
    """A process that makes attempts, one after another; a session of its own, so that all it started ends with it."""

    process: BaseProcess
    pipe: Connection
    number: int | None = None
    doing: str = ""
    until: float = field(default_factory=lambda: time.monotonic() + _STARTING)

    def kill(self) -> None:
        if self.process.pid is not None:
            end_session(self.process.pid)
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Campaign:
    """Attempts of parts, `jobs` at a time.

    Args:
        seed: all is drawn from it.
        jobs: processes.
        keep: folder for what failures need to be seen again; made when there is one.
        patience: seconds after which a step is a hang.
    """

    def __init__(self, seed: int, jobs: int, keep: Path, patience: float = PATIENCE) -> None:
        self._seed, self._jobs, self._keep, self._patience = seed, jobs, keep, patience
        self._room = Path(tempfile.mkdtemp(prefix="torture-"))
        self._workers: list[_Worker] = []

    def run(self, name: str, *, tries: Sequence[int] | None = None, seconds: float | None = None) -> Tally:
        """Make attempts of a part: those of the given numbers, or as many as begin within some seconds."""
        began = time.monotonic()
        tally = Tally(PARTS[name].title, PARTS[name].unit)
        numbers = iter(range(10**9) if tries is None else tries)
        count = self._jobs if tries is None else min(self._jobs, len(tries))
        try:
            while True:
                in_time = seconds is None or time.monotonic() - began < seconds or tally.attempts < 1
                for worker in [each for each in self._workers if each.number is None]:
                    self._give(worker, name, next(numbers, None) if in_time else None)
                while in_time and len(self._workers) < count and (number := next(numbers, None)) is not None:
                    self._workers.append(self._start())
                    self._give(self._workers[-1], name, number)
                if not self._workers:
                    break
                ready = multiprocessing.connection.wait([each.pipe for each in self._workers], timeout=0.5)
                for worker in [each for each in self._workers if each.pipe in ready]:
                    self._hear(worker, name, tally)
                for worker in [each for each in self._workers if time.monotonic() > each.until]:
                    again = worker.doing or self._again(name, worker.number)
                    tally.fail(Failure("a hang", f"too long: {worker.doing}", again))
                    self._end(worker, tally)
        finally:
            for worker in list(self._workers):
                self._end(worker, None)
        tally.seconds = time.monotonic() - began
        return tally

    def close(self) -> None:
        """Remove the folders of attempts."""
        shutil.rmtree(self._room, ignore_errors=True)

    def _give(self, worker: _Worker, name: str, number: int | None) -> None:
        if number is None:
            self._end(worker, None)
            return
        worker.number, worker.until = number, time.monotonic() + _STARTING
        worker.pipe.send((name, PARTS[name].module, number))

    def _hear(self, worker: _Worker, name: str, tally: Tally) -> None:
        try:
            event = worker.pipe.recv()
        except EOFError:
            worker.process.join(5)
            tally.fail(self._death(name, worker))
            self._end(worker, tally)
            return
        if event[0] == "step":
            worker.doing, worker.until = event[1], time.monotonic() + event[2] * self._patience / PATIENCE
        elif event[0] == "count":
            tally.tried += event[1]
        elif event[0] == "failed":
            tally.fail(event[1])
        elif event[0] == "done":
            tally.attempts += 1
            worker.number = None

    def _end(self, worker: _Worker, tally: Tally | None) -> None:
        if tally is not None:
            tally.attempts += 1
        self._workers.remove(worker)
        worker.kill()

    def _again(self, name: str, number: int | None) -> str:
        return f"python -m benchmarks torture --part {name} --seed {self._seed} --try {number}"

    def _death(self, name: str, worker: _Worker) -> Failure:
        status = worker.process.exitcode or 0
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return Failure(f"the process died: {how}", worker.doing, worker.doing or self._again(name, worker.number))

    def _start(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        folder = Path(tempfile.mkdtemp(dir=self._room))
        process = context.Process(target=_work, args=(theirs, self._seed, folder, self._keep), daemon=False)
        process.start()
        theirs.close()
        return _Worker(process, ours)


def _work(pipe: Connection, seed: int, folder: Path, keep: Path) -> None:
    os.setsid()
    # Not ignored, which the commands would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.environ.update(environment(folder / "own"))
    tempfile.tempdir = None
    while True:
        try:
            name, module, number = pipe.recv()
        except EOFError:
            return
        own = folder / f"try-{number}"
        own.mkdir()
        trial = Trial(name, seed, number, own, keep, pipe.send)
        trial.step(trial.again)
        try:
            importlib.import_module(module).attempt(trial)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"
            trial.fail(kind, traceback.format_exc(limit=-6))
        shutil.rmtree(own, ignore_errors=True)
        pipe.send(("done",))

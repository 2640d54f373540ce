"""Runs attempts of all parts in processes that are watched, and tells what became of them."""

from __future__ import annotations

import argparse
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
from random import Random
from typing import Any, Final

from benchmarks.torture.report import Tally, print_report
from benchmarks.torture.trial import PATIENCE, Failure, Trial, environment
from benchmarks.torture.watching import end_session

_MEMORY: Final = 8 * 2**30
_STARTING: Final = 120.0


@dataclass(frozen=True, slots=True)
class Part:
    """A way to attack: the module of that name has `attempt(trial)`; a thing tried is a `unit`."""

    module: str
    title: str
    unit: str
    share: float


PARTS: Final = {
    "records": Part("records", "mutated records against a strict reading", "records", 3.0),
    "readers": Part("readers", "every reading command on mutated records", "commands", 3.0),
    "kills": Part("kills", "commands that write, killed at any moment", "kills", 3.0),
    "cuts": Part("cuts", "power cuts while commands write", "cuts", 2.0),
    "servers": Part("servers", "faults of a model's server", "replies", 2.0),
    "lines": Part("lines", "random command lines", "command lines", 3.0),
    "names": Part("names", "odd names and texts in every output", "outputs", 1.5),
    "processes": Part("processes", "processes killed under a command, and signals", "processes", 2.0),
}


@dataclass
class _Worker:
    """A process that makes attempts, one after another; a leader of its own group, so that all it started ends with it."""

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

    def run(self, name: str, *, tries: Sequence[int] | None = None, seconds: float | None = None) -> Tally:
        """Make attempts of a part: those of the given numbers, or as many as begin within some seconds."""
        began = time.monotonic()
        tally = Tally(PARTS[name].title, PARTS[name].unit)
        numbers = iter(tries if tries is not None else range(10**9))
        workers: list[_Worker] = []

        def next_one(worker: _Worker) -> bool:
            late = seconds is not None and time.monotonic() - began > seconds and tally.attempts > 0
            number = None if late else next(numbers, None)
            worker.number = number
            if number is None:
                return False
            worker.until = time.monotonic() + max(self._patience, PATIENCE)
            worker.pipe.send((name, number))
            return True

        def replace(worker: _Worker) -> None:
            workers.remove(worker)
            worker.kill()
            new = self._start()
            if next_one(new):
                workers.append(new)
            else:
                new.kill()

        try:
            for _ in range(self._jobs if tries is None else min(self._jobs, len(tries))):
                worker = self._start()
                workers.append(worker)
                next_one(worker)
            while workers:
                ready = multiprocessing.connection.wait([each.pipe for each in workers], timeout=0.5)
                for worker in [each for each in workers if each.pipe in ready]:
                    try:
                        event = worker.pipe.recv()
                    except EOFError:
                        worker.process.join(5)
                        tally.attempts += 1
                        tally.fail(self._death(name, worker))
                        replace(worker)
                        continue
                    if event[0] == "step":
                        worker.doing, worker.until = event[1], time.monotonic() + event[2] * self._patience / PATIENCE
                    elif event[0] == "count":
                        tally.tried += event[1]
                    elif event[0] == "failed":
                        tally.fail(event[1])
                    elif event[0] == "done":
                        tally.attempts += 1
                        if not next_one(worker):
                            workers.remove(worker)
                            worker.kill()
                for worker in [each for each in workers if time.monotonic() > each.until]:
                    tally.attempts += 1
                    again = worker.doing or self._again(name, worker.number)
                    tally.fail(Failure("a hang", f"nothing for {self._patience:.0f} s: {worker.doing}", again))
                    replace(worker)
        finally:
            for worker in workers:
                worker.kill()
        tally.seconds = time.monotonic() - began
        return tally

    def close(self) -> None:
        """Remove the folders of attempts."""
        shutil.rmtree(self._room, ignore_errors=True)

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.environ.update(environment(folder / "own"))
    tempfile.tempdir = None
    while True:
        try:
            name, number = pipe.recv()
        except EOFError:
            return
        own = folder / f"try-{number}"
        own.mkdir()
        trial = Trial(name, seed, number, own, keep, pipe.send)
        trial.step(trial.again)
        try:
            importlib.import_module(f"benchmarks.torture.{PARTS[name].module}").attempt(trial)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"
            trial.fail(kind, traceback.format_exc(limit=-6))
        shutil.rmtree(own, ignore_errors=True)
        pipe.send(("done",))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `python -m benchmarks torture`; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks torture", description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="in all; default 2")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; repeatable")
    parser.add_argument("--seed", type=int, default=None, help="of all that is drawn; default a new one, which is printed")
    parser.add_argument("--tries", type=int, help="so many attempts of each part, whatever time they take")
    parser.add_argument("--try", type=int, dest="one", help="only the attempt of that number, to see a failure again")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="attempts at a time; default one per core")
    parser.add_argument("--keep", type=Path, default=Path("torture-failures"), help="folder for what failures need")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds after which something hangs")
    given = parser.parse_args(arguments)
    seed = Random().randrange(2**32) if given.seed is None else given.seed
    chosen = given.part or list(PARTS)
    print(f"seed {seed}, {given.jobs} at a time", flush=True)
    campaign = Campaign(seed, given.jobs, given.keep.absolute(), given.patience)
    tallies: dict[str, Tally] = {}
    whole = sum(PARTS[name].share for name in chosen)
    try:
        for name in chosen:
            numbers = [given.one] if given.one is not None else range(given.tries) if given.tries else None
            seconds = None if numbers is not None else given.minutes * 60 * PARTS[name].share / whole
            tallies[name] = campaign.run(name, tries=numbers, seconds=seconds)
            print(tallies[name].line(name), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        campaign.close()
    print_report(tallies)
    return 1 if any(tally.failures for tally in tallies.values()) else 0



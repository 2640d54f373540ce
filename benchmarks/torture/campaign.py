"""Attempts of all parts: drawn, made small and kept by Hypothesis, each in a process of its own that is watched."""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import itertools
import json
import multiprocessing
import os
import resource
import shlex
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, NoReturn

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity, strategies
from hypothesis.database import DirectoryBasedExampleDatabase
from hypothesis.errors import HypothesisException

from benchmarks.torture.watching import end_session

PATIENCE: Final = 30.0
"""Seconds that anything may take; longer is a hang."""
_MEMORY: Final = 8 * 2**30


@dataclass(frozen=True, slots=True)
class Part:
    """A way to attack: the function of its name in a module tries things, each a `unit`, for a `share` of the time.

    An attempt makes so many `examples`; what fails is made small if that is worth its time, and fails each time.
    """

    module: str
    title: str
    unit: str
    share: float
    examples: int
    shrinks: bool = True


def _part(module: str, *rest: Any) -> Part:
    return Part(f"benchmarks.torture.{module}", *rest)


PARTS: Final = {
    "records": _part("records", "mutated records against a strict reading", "records", 3.0, 5),
    "kills": _part("disturbing", "commands that write, killed at any moment", "kills", 3.0, 3, False),
    "cuts": _part("disturbing", "power cuts while commands write", "cuts", 2.0, 3, False),
    "processes": _part("disturbing", "processes killed under a command, and signals", "processes", 2.0, 2, False),
    "workers": _part("disturbing", "Ray and local workers killed, and their command", "kills", 2.0, 2, False),
}


class FailedError(Exception):
    """Something that should not be; each kind has a class of its own, by which Hypothesis tells failures apart."""


@dataclass
class Trial:
    """What an attempt of a part is given.

    Attributes:
        name, seed, number: what it is drawn from; the same three draw the same.
        room: a folder that all attempts of a campaign share.
        keep: where what shows a failure stays.
        patience: seconds that make `PATIENCE`.
    """

    name: str
    seed: int
    number: int
    room: Path
    keep: Path
    patience: float
    found: dict[str, float] = field(default_factory=dict)
    log: Any = None

    @property
    def folder(self) -> Path:
        """Its own, empty at the begin of each example."""
        return self.room / f"{self.name}-{self.number}"

    @property
    def again(self) -> str:
        """The command that makes this attempt again."""
        return f"python -m benchmarks torture --part {self.name} --seed {self.seed} --try {self.number}"

    def tell(self, **event: Any) -> None:
        """Tell the campaign of an event."""
        with self.folder.with_suffix(".events").open("a") as file:
            file.write(json.dumps(event) + "\n")

    def step(self, doing: str, seconds: float = PATIENCE) -> None:
        """Tell what is done next, and how long that may take: should it hang, or kill this process, that is known."""
        self.tell(doing=doing)
        faulthandler.dump_traceback_later(seconds * self.patience / PATIENCE, exit=True, file=self.log)

    def count(self, tried: int = 1) -> None:
        """Count so many more things as tried."""
        self.tell(tried=tried)

    def fail(self, kind: str, what: str, reproduce: str = "", shown: Path | None = None) -> NoReturn:
        """Report that something does not hold, as `check` does."""
        self.check([(kind, what)], reproduce, shown)
        raise AssertionError

    def check(self, faults: Iterable[tuple[str, str]], reproduce: str = "", shown: Path | None = None) -> None:
        """Report all that does not hold.

        Args:
            faults: kinds, the same for all failures that are one, and particulars.
            reproduce: a shell command; the attempt itself if there is none shorter. The path of `shown` in it becomes
                that of what is kept.
            shown: a file or folder that it needs, which is kept.

        Raises:
            FailedError: there is a fault.
        """
        kinds = dict(reversed(list(faults)))
        for kind, what in kinds.items():
            again = reproduce
            if shown is not None:
                kept = self.keep / f"{self.name}-{self.number}-{list({**self.found, kind: 0}).index(kind)}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(shown, kept, symlinks=True)
                again = again.replace(str(shown), shlex.quote(str(kept)))
            self.tell(kind=kind, what=what[:3000], reproduce=again or self.again)
            self.found.setdefault(kind, time.monotonic())
        if kinds:
            kind = min(kinds)
            raise type("FailedError", (FailedError,), {"kind": kind})(f"{kind}: {kinds[kind]}")


def where(error: BaseException) -> str:
    """The kind of an exception that nobody has caught."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"


def environment(folder: Path) -> dict[str, str]:
    """The environment of commands: nothing of the user's is read or written, and no server elsewhere is asked."""
    inherited = {name: value for name, value in os.environ.items() if not name.upper().endswith(("_PROXY", "_API_KEY"))}
    for name in ("tmp", "cache", "home"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    own = {"TMPDIR": "tmp", "SALIENCE_AUDIT_CACHE": "cache", "HOME": "home", "MPLCONFIGDIR": "home"}
    nowhere = "http://127.0.0.1:9"
    path = os.pathsep.join(filter(None, (str(Path.cwd()), os.environ.get("PYTHONPATH", ""))))
    fixed = {"OLLAMA_HOST": nowhere, "OPENAI_BASE_URL": f"{nowhere}/v1", "COLUMNS": "100", "PYTHONPATH": path}
    compiled = {"NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(folder.parent / "numba"))}
    return inherited | {name: str(folder / place) for name, place in own.items()} | fixed | compiled


def make_attempt(part: Part, trial: Trial) -> None:
    """Make the examples of an attempt, in this process."""
    os.setsid()
    # Not ignored, which the commands would inherit.
    signal.signal(signal.SIGINT, lambda *_: None)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    os.environ.update(environment(trial.room / "own"))
    tempfile.tempdir = None
    trial.log = trial.folder.with_suffix(".log").open("w")
    faulthandler.enable(trial.log)
    phases = [Phase.generate, *([Phase.shrink] if part.shrinks else []), *([] if trial.number else [Phase.reuse])]
    attempt = getattr(importlib.import_module(part.module), trial.name)

    @hypothesis.seed(f"{trial.seed}/{trial.name}/{trial.number}")
    @hypothesis.settings(
        max_examples=part.examples,
        database=DirectoryBasedExampleDatabase(trial.keep / "examples" / trial.name),
        phases=phases,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )
    @hypothesis.given(strategies.data())
    def test(data: Any) -> None:
        if trial.found and time.monotonic() - min(trial.found.values()) > 2 * trial.patience:
            return  # small enough
        shutil.rmtree(trial.folder, ignore_errors=True)
        trial.folder.mkdir(parents=True)
        trial.step(trial.again, 4 * PATIENCE)
        try:
            attempt(trial, data.draw)
        except (FailedError, HypothesisException):
            raise
        except Exception as error:
            trial.fail(where(error), traceback.format_exc(limit=-6))

    try:
        test()
    except Exception:
        if not trial.found:
            raise
    shutil.rmtree(trial.folder, ignore_errors=True)


@dataclass
class Tally:
    """The outcome of a part; of each kind of failure how often, its smallest particulars, and how to see it again."""

    tried: int = 0
    attempts: int = 0
    seconds: float = 0.0
    failures: dict[str, tuple[int, str, str]] = field(default_factory=dict)

    def fail(self, kind: str, what: str, reproduce: str) -> None:
        """One more failure."""
        count, least, again = self.failures.get(kind, (0, what, reproduce))
        smaller = (what, reproduce) if len(what) <= len(least) else (least, again)
        self.failures[kind] = (count + 1, *smaller)


class Campaign:
    """Attempts of parts, `jobs` at a time.

    Args:
        seed: all is drawn from it.
        jobs: processes.
        keep: folder for what failures need to be seen again.
        patience: seconds after which a step is a hang.
    """

    def __init__(self, seed: int, jobs: int, keep: Path, patience: float = PATIENCE) -> None:
        self._seed, self._jobs, self._keep, self._patience = seed, jobs, keep, patience
        self._room = Path(tempfile.mkdtemp(prefix="torture-"))

    def run(self, name: str, *, tries: Sequence[int] | None = None, seconds: float = float("inf")) -> Tally:
        """Make attempts of a part: those of the given numbers, or as many as begin within some seconds."""
        began, tally = time.monotonic(), Tally()
        numbers = iter(tries) if tries is not None else itertools.count()

        def work(_: int) -> None:
            while (time.monotonic() - began < seconds or not tally.attempts) and not self._is_over:
                if (number := next(numbers, None)) is None:
                    return
                self._attempt(name, number, tally)

        self._is_over = False
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                list(pool.map(work, range(self._jobs)))
            except KeyboardInterrupt:
                self._is_over = True
                raise
        tally.seconds = time.monotonic() - began
        return tally

    def _attempt(self, name: str, number: int, tally: Tally) -> None:
        trial = Trial(name, self._seed, number, self._room, self._keep, self._patience)
        process = multiprocessing.get_context("spawn").Process(target=make_attempt, args=(PARTS[name], trial))
        process.start()
        process.join()
        end_session(process.pid or 0)
        events = trial.folder.with_suffix(".events")
        doing, log = trial.again, trial.folder.with_suffix(".log")
        for event in map(json.loads, events.read_text().splitlines() if events.exists() else ()):
            tally.tried += event.get("tried", 0)
            doing = event.get("doing", doing)
            if "kind" in event:
                tally.fail(event["kind"], event["what"], event["reproduce"])
        if process.exitcode:
            died = signal.Signals(-process.exitcode).name if process.exitcode < 0 else f"exit status {process.exitcode}"
            text = log.read_text() if log.exists() else ""
            tally.fail(
                "a hang" if "Timeout (" in text else f"the process died: {died}", f"{doing}\n{text[-1500:]}", doing
            )
        tally.attempts += 1

    def close(self) -> None:
        """Remove the folders of attempts."""
        shutil.rmtree(self._room, ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `python -m benchmarks torture`; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks torture", description=main.__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=2.0, help="in all; default 2")
    add("--part", action="append", choices=PARTS, help="only this part; repeatable")
    add("--seed", type=int, help="of all that is drawn; default a new one, which is printed")
    add("--tries", type=int, help="so many attempts of each part, whatever time they take")
    add("--try", type=int, dest="one", help="only the attempt of that number, to see a failure again")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="attempts at a time; default one per core")
    add("--keep", type=Path, default=Path("torture-failures"), help="folder for what failures need")
    add("--patience", type=float, default=PATIENCE, help="seconds after which something hangs")
    given = parser.parse_args(arguments)
    seed = Random().randrange(2**32) if given.seed is None else given.seed
    chosen = given.part or list(PARTS)
    print(f"seed {seed}, {given.jobs} at a time", flush=True)
    campaign = Campaign(seed, given.jobs, given.keep.absolute(), given.patience)
    tallies: dict[str, Tally] = {}
    try:
        for name in chosen:
            numbers = [given.one] if given.one is not None else range(given.tries) if given.tries else None
            share = PARTS[name].share / sum(PARTS[each].share for each in chosen)
            seconds = given.minutes * 60 * share if numbers is None else float("inf")
            tallies[name] = campaign.run(name, tries=numbers, seconds=seconds)
            print(f"{name}: {PARTS[name].title}: done in {tallies[name].seconds:.0f} s", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        campaign.close()
    for name, tally in tallies.items():
        for kind, (count, what, reproduce) in tally.failures.items():
            print(f"\n{name}: {kind} ({count:,} times)\n  " + "\n  ".join(what.rstrip().splitlines()[:20]))
            print(f"  $ {reproduce}")
    print("\n| part | tried | kinds of failure | seconds |\n|---|---:|---:|---:|")
    for name, tally in tallies.items():
        print(f"| {name} | {tally.tried:,} {PARTS[name].unit} | {len(tally.failures)} | {tally.seconds:.0f} |")
    return 1 if any(tally.failures for tally in tallies.values()) else 0

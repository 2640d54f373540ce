"""Commands that write, killed, signalled or cut off from power at any moment; then the same command again."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture.campaign import PATIENCE, Trial
from benchmarks.torture.chores import CHORES, PARALLEL, Chore, Scene, scene
from benchmarks.torture.records import SEEDS
from benchmarks.torture.watching import Seen, kill, left_over, of_folder

Draw = Callable[..., Any]
# In the order of attempts; what takes long comes less often.
KILLED: Final = (
    *("collect", "pack", "import", "collect, served", "judge", "cache", "pack", "collect", "import", "figures"),
)
CUT: Final = ("collect", "collect, served", "import", "pack", "judge", "collect", "cache")

STATUSES: Final = {"the command": {0, -9}, "its group": {0, -9}, "any process": {0, 1, -9}, "a worker": {0, 1}}
STATUSES |= {"a Ray worker": {0}, "Ctrl-C": {0, 130}, "a polite kill": {0, 130, -signal.SIGTERM}}
"""Who is killed, or how a command is signalled, and how it may end then."""
SIGNALS: Final = {"its group": signal.SIGKILL, "Ctrl-C": signal.SIGINT, "a polite kill": signal.SIGTERM}
WORKERS: Final = {"any process": "", "a worker": "spawn_main", "a Ray worker": "ray::_Actor"}


def kills(trial: Trial, draw: Draw) -> None:
    """Kill a command up to five times, let it end, and compare."""
    name = KILLED[trial.number % len(KILLED)]
    _disturbed(trial, draw, name, CHORES[name], ("the command", "the command", "its group"), 5)


def processes(trial: Trial, draw: Draw) -> None:
    """Kill a worker of a command, or signal all of it: one line, soon, and nothing lost."""
    name = ("collect, in workers", "verify --all")[trial.number % 2]
    _disturbed(trial, draw, name, CHORES[name], ("a worker", "a worker", "Ctrl-C", "a polite kill"), 1)


def workers(trial: Trial, draw: Draw) -> None:
    """Kill workers, Ray's and local ones, or the command itself up to three times, let it end, and compare."""
    kind, worker = (("ray", "a Ray worker"), ("2", "a worker"))[trial.number % 2]
    chore = replace(CHORES["collect, in workers"], arguments=f"{PARALLEL} --workers {kind}")
    victims = (worker, worker, "the command", "its group", "any process", "any process")
    _disturbed(trial, draw, f"collect, workers {kind}", chore, victims, 3)


def _disturbed(trial: Trial, draw: Draw, name: str, chore: Chore, victims: tuple[str, ...], most: int) -> None:
    happened = []
    # The simplest, which Hypothesis tries first, is in the middle.
    moments = st.integers(0, 1300).map(lambda share: (share + 500) % 1301)
    drawn = st.tuples(moments, st.sampled_from(victims), SEEDS)
    with scene(trial, name, chore) as stage:
        for share, victim, seed in draw(st.lists(drawn, min_size=1, max_size=most)):
            paid, asked = chore.recorded(stage.folder), len(stage.server.asked) if stage.server else 0
            pid, status, struck = _struck(stage, share / 1000 * stage.seconds, victim, Random(seed))
            happened.append(f"{victim} after {share / 1000 * stage.seconds:.2f} s")
            what = f"{name}: {', '.join(happened)}"
            trial.count(struck)
            _look(stage, victim, pid, status, what)
            trial.check(stage.paid_twice(paid, asked, what))
            if status == 0 or chore.is_done(stage.folder):
                break
        stage.finish(", ".join(happened))


def _struck(stage: Scene, moment: float, victim: str, rng: Random) -> tuple[int, int, bool]:
    """Start the command, and strike after some seconds; returns its number, how it ends, and whether it was struck."""
    stage.trial.step(f"{stage.name}: {victim} after {moment:.2f} s  # {stage.trial.again}", 8 * PATIENCE)
    process = stage.chore.start(stage.folder, stage.server)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    began, was_running, struck = time.monotonic(), process.poll() is None, False
    while process.poll() is None and not struck and time.monotonic() < began + 60.0:
        if victim in WORKERS:
            found = [each for each in of_folder(stage.folder) if WORKERS[victim] in each.command]
            kill([rng.choice(found)] if found else [])
            struck = bool(found)
            time.sleep(0.02)
        else:
            os.killpg(process.pid, SIGNALS[victim]) if victim in SIGNALS else process.kill()
            struck = True
    began = time.monotonic()
    status = process.wait()
    if struck and status and time.monotonic() - began > 10.0:
        stage.trial.fail(f"{stage.name}: {victim}: ends late", f"{time.monotonic() - began:.0f} s after the signal")
    # Before the first line of the program runs, the interpreter itself is ended.
    is_early = was_running and not stage.err() and status == -SIGNALS.get(victim, signal.SIGKILL)
    return process.pid, -signal.SIGKILL if is_early else status, struck


def _look(stage: Scene, victim: str, pid: int, status: int, what: str) -> None:
    """Report how a command may not end, and what it may not leave."""
    kind, err = f"{stage.name}: {victim}", stage.err()
    faults = []
    if status not in STATUSES[victim] | {-signal.SIGKILL}:
        faults.append((f"{kind}: exit status {status}", f"{what}\n{err[-1200:]}"))
    if "Traceback" in err or "ExceptionGroup" in err or (len(err.strip().splitlines()) > 4 and "ray" not in stage.name):
        faults.append((f"{kind}: more than a line", f"{what}\n{err[-1200:]}"))
    left: list[Seen] = left_over(stage.folder, 20.0)
    kill(left)
    if left:
        faults.append((f"{kind}: processes outlive the command", "\n".join(each.command[:200] for each in left)))
    if found := [str(each) for each in Path("/tmp").glob(f"salience-ray-{pid}-*")]:  # noqa: S108
        faults.append((f"{kind}: a folder is left over", ", ".join(found)))
    stage.trial.check(faults, shlex.join([stage.chore.program, *stage.chore.arguments.split()]))


# Power cuts ----------------------------------------------------------------------------------------------------------


def cuts(trial: Trial, draw: Draw) -> None:
    """Cut the power once or twice, let the command end, and compare."""
    name = CUT[trial.number % len(CUT)]
    with scene(trial, name, CHORES[name]) as stage:
        counted = trial.room / f"events {name}"
        command = (sys.executable, "-m", "benchmarks.torture.cutting")
        if not counted.exists():
            own = trial.folder / "counted"
            own.mkdir()
            stage.chore.prepare(trial, own)
            replace(stage, folder=own).run("counted", *command, "0", "", str(counted))
        events, happened = int(counted.read_text()), []
        # The end is where drafts take their places.
        moments = st.integers(0, min(7, events - 1)).map(lambda back: events - back) | st.integers(1, events)
        for event, seed in draw(st.lists(st.tuples(moments, SEEDS), min_size=1, max_size=2)):
            happened.append(event)
            own = (str(event), str(seed), str(trial.folder / "events"))
            if stage.run(f"cut before event {event}", *command, *own) != 99:
                break
            trial.count()
            if stage.chore.is_done(stage.folder):
                break
        stage.finish(f"power cuts before events {happened} of {events}")

"""Processes killed under a command, and signals: one line, soon, and nothing lost."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Final

from benchmarks.torture.chores import CHORES, Chore, finish, undisturbed
from benchmarks.torture.readers import base
from benchmarks.torture.trial import PATIENCE, Trial, typed
from benchmarks.torture.watching import command_of, descendants, gone

COLLECT: Final = (
    *(
        "--env",
        "swimmer",
        "--variant",
        "threetraj",
        "--runs",
        "2",
        "--iterations",
        "3",
        "--rollouts",
        "2",
        "--warmup",
        "1",
    ),
    *("--step-cap", "200", "--condition", "c", "--out", "out", "--quiet"),
)


def _many(trial: Trial, folder: Path) -> None:
    """Records of so many rollouts that worker processes run them."""
    for number in range(COPIES):
        copy = folder / "data" / str(number)
        shutil.copytree(base(trial), copy)
        for path in copy.rglob("*.json*"):
            path.write_text(path.read_text().replace('"simulated"', f'"copy-{number}"'))


def _chores() -> dict[str, Chore]:
    collect = CHORES["collect"]
    return {
        "collect, with workers": Chore("collect", COLLECT, collect.prepare, ("out",)),
        "verify --all": Chore("audit", ("verify", "data", "--all"), _many, ()),
    }


COPIES: Final = 30
SIGNALS: Final = {"a worker killed": signal.SIGKILL, "Ctrl-C": signal.SIGINT, "a polite kill": signal.SIGTERM}


def _disturb(trial: Trial, process: subprocess.Popen[bytes], how: str, seconds: float) -> None:
    if how != "a worker killed":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, SIGNALS[how])
        return
    after = trial.rng.uniform(0.0, 1.0)
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        # The tracker of resources, which multiprocessing starts as well, does no work.
        if workers := [pid for pid in descendants(process.pid) if "spawn_main" in command_of(pid)]:
            time.sleep(after)
            with contextlib.suppress(ProcessLookupError):
                os.kill(trial.rng.choice(workers), signal.SIGKILL)
            return
        time.sleep(0.01)


def attempt(trial: Trial) -> None:
    """Start a command, kill one of its processes or signal all of it, and look how it ends."""
    rng = trial.rng
    CHORES.update(_chores())
    name = list(_chores())[trial.number % 2]
    how = rng.choices(list(SIGNALS), (3, 2, 1))[0]
    chore, whole = CHORES[name], undisturbed(trial, name)
    folder = trial.folder / "disturbed"
    folder.mkdir()
    chore.prepare(trial, folder)
    moment = rng.uniform(0.0, whole.seconds)
    trial.step(f"{name}: {how} after {moment:.2f} s", 120.0)
    process = chore.start(folder, None)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)
    if process.poll() is None:
        _disturb(trial, process, how, whole.seconds)
    began = time.monotonic()
    was_running = process.poll() is None
    kind = f"{name}: {how}"
    line = f"{typed(chore.program, *chore.arguments)}  # {how} after {moment:.2f} s"
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        trial.fail(f"{kind}: a hang", f"nothing for {PATIENCE:.0f} s", line)
        os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    took = time.monotonic() - began
    trial.count()
    err = folder.with_suffix(".err").read_text()
    lines = err.strip().splitlines()
    if "Traceback" in err or "ExceptionGroup" in err or len(lines) > 4:
        trial.fail(f"{kind}: more than a line", f"after {moment:.2f} s, {len(lines)} lines:\n{err[-1200:]}", line)
    expected = {"a worker killed": {0, 1}, "Ctrl-C": {0, 130}, "a polite kill": {0, 130, -signal.SIGTERM}}[how]
    # Before the first line of the program runs, the interpreter itself is ended.
    if (
        was_running
        and status not in expected
        and not (status == -SIGNALS[how] and how != "a worker killed" and not lines)
    ):
        trial.fail(f"{kind}: exit status {status}", f"after {moment:.2f} s\n{err[-600:]}", line)
    if took > 10.0:
        trial.fail(f"{kind}: ends late", f"{took:.1f} s after the signal", line)
    if not gone(process.pid, 15.0):
        trial.fail(f"{kind}: processes outlive the command", "", line)
        os.killpg(process.pid, signal.SIGKILL)
    finish(trial, name, folder, None, f"{how} after {moment:.2f} s", Counter())

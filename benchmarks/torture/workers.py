"""Workers, Ray's and local ones, or the command itself killed at random, some times; then the same command again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Final

from benchmarks.torture.chores import CHORES, finish, undisturbed
from benchmarks.torture.trial import Trial
from benchmarks.torture.watching import command_of, of_folder

MOST: Final = 3
"""Kills before the command may end."""
COLLECT: Final = (
    *("--env", "swimmer", "--env", "invertedpendulum", "--variant", "r2po", "--runs", "1", "--iterations", "8"),
    *("--rollouts", "10", "--warmup", "2", "--step-cap", "200", "--condition", "c", "--out", "out", "--quiet"),
)
KINDS: Final = {"ray": "ray", "local": "2"}
UNDISTURBED: Final = "collect, in local workers"
START: Final = 6.0
"""Seconds that Ray takes to start, about."""
VICTIMS: Final = {"a worker": 3, "the command": 2, "any process": 2}
"""Who is killed, and how often."""


def attempt(trial: Trial) -> None:
    """Kill processes of a command some times, let it end, and compare."""
    rng = trial.rng
    CHORES[UNDISTURBED] = replace(CHORES["collect"], arguments=COLLECT)
    seconds = undisturbed(trial, UNDISTURBED).seconds
    kind = list(KINDS)[trial.number % len(KINDS)]
    chore, name = replace(CHORES["collect"], arguments=(*COLLECT, "--workers", KINDS[kind])), f"collect, {kind}"
    if kind == "ray":
        seconds += START
    folder = trial.folder / "killed"
    folder.mkdir()
    killed: list[str] = []
    for _ in range(rng.randint(1, MOST)):
        moment = rng.uniform(0.0, seconds)
        victim = rng.choices(list(VICTIMS), list(VICTIMS.values()))[0]
        what = f"{name}: {victim} killed"
        trial.step(f"{what} after {moment:.2f} s", 240.0)
        process = chore.start(folder, None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        if process.poll() is None and _kill(trial, process, folder, victim):
            killed.append(f"{victim} after {moment:.2f} s")
            trial.count()
        status = process.wait()
        err = folder.with_suffix(".err").read_text()
        allowed = {"a worker": {0} if "ray" in name else {0, 1}, "the command": {0, -9}, "any process": {0, 1, -9}}
        if status not in allowed[victim]:
            trial.fail(f"{what}: exit status {status}", f"after {moment:.2f} s\n{err[-1200:]}")
        if "Traceback" in err:
            trial.fail(f"{what}: a traceback", err[-1200:])
        _look_for_leftovers(trial, what, process.pid, folder)
        if status == 0:
            break
    what = f"{name}: {', '.join(killed) or 'nothing'} killed"
    trial.step(f"{what}, again", 240.0)
    process = chore.start(folder, None)
    if process.wait() != 0:
        trial.fail(f"{name}: cannot be continued", f"{what}\n{folder.with_suffix('.err').read_text()[-1200:]}")
    _look_for_leftovers(trial, what, process.pid, folder)
    finish(trial, UNDISTURBED, folder, None, what, Counter())
    shutil.rmtree(folder, ignore_errors=True)


def _kill(trial: Trial, process: subprocess.Popen[bytes], folder: Path, victim: str) -> bool:
    if victim == "the command":
        os.killpg(process.pid, signal.SIGKILL) if trial.rng.random() < 0.5 else process.kill()
        return True
    until = time.monotonic() + 60.0
    while process.poll() is None and time.monotonic() < until:
        found = of_folder(folder)
        if victim == "a worker":
            ray = "ray" in process.args[-1]  # type: ignore[operator,index]
            found = [pid for pid in found if _works(command_of(pid), ray=ray)]
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(trial.rng.choice(found), signal.SIGKILL)
                return True
        time.sleep(0.05)
    return False


def _works(command: str, *, ray: bool) -> bool:
    return command.startswith("ray::_Actor") if ray else "spawn_main" in command


def _look_for_leftovers(trial: Trial, what: str, command: int, folder: Path) -> None:
    until = time.monotonic() + 20.0
    while (left := of_folder(folder)) and time.monotonic() < until:
        time.sleep(0.1)
    if left:
        trial.fail(
            f"{what}: processes outlive the command", "\n".join(f"{pid} {command_of(pid)[:200]}" for pid in left)
        )
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if found := list(Path("/tmp").glob(f"salience-ray-{command}-*")):  # noqa: S108
        trial.fail(f"{what}: a folder is left over", str(found))

"""SIGKILL at any moment of the commands that write; then the same command again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from typing import Final

from benchmarks.torture.chores import CHORES, finish, served, undisturbed
from benchmarks.torture.trial import Trial
from benchmarks.torture.watching import gone

MOST: Final = 5
"""Kills before the command may end."""
# In the order of attempts; what takes long comes less often.
ORDER: Final = (
    "collect",
    "pack",
    "import",
    "collect, served",
    "judge",
    "cache",
    "pack",
    "collect",
    "import",
    "figures",
)


def attempt(trial: Trial) -> None:
    """Kill a command some times, let it end, and compare."""
    rng = trial.rng
    name = ORDER[trial.number % len(ORDER)]
    chore, whole = CHORES[name], undisturbed(trial, name)
    folder = trial.folder / "killed"
    folder.mkdir()
    chore.prepare(trial, folder)
    moments: list[float] = []
    with served(chore) as server:
        paid = chore.recorded(folder)
        for _ in range(rng.randint(1, MOST)):
            asked = len(server.asked) if server else 0
            moment = rng.uniform(0.0, whole.seconds * rng.choice((1.0, 1.0, 1.3)))
            trial.step(f"{name}, to be killed after {moment:.2f} s", 120.0)
            process = chore.start(folder, server)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(moment)
            is_over = process.poll() is not None
            if not is_over:
                os.killpg(process.pid, signal.SIGKILL) if rng.random() < 0.3 else process.kill()
                process.wait()
                moments.append(moment)
                trial.count()
            if not gone(process.pid, 15.0):
                trial.fail(f"{name}: processes outlive a killed command", f"killed after {moments} s")
                os.killpg(process.pid, signal.SIGKILL)
            if server is not None and any(paid[prompt] for prompt in server.asked[asked:]):
                trial.fail(f"{name}: an answer is paid for twice", f"killed after {moments} s")
            paid = chore.recorded(folder)
            if is_over or (chore.refuses and any((folder / place).exists() for place in chore.writes)):
                break
        finish(trial, name, folder, server, f"kills after {[round(each, 2) for each in moments]} s", paid)
    shutil.rmtree(folder, ignore_errors=True)

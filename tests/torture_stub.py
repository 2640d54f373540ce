"""Attempts that go wrong in every way, for the test of the campaign itself."""

from __future__ import annotations

import os
import signal
import time


def attempt(trial):
    if trial.number == 1:
        trial.step("sleep", seconds=1.0)
        time.sleep(600)
    elif trial.number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    elif trial.number == 3:
        raise ValueError
    elif trial.number == 4:
        path = trial.folder / "shown.txt"
        path.write_text("what shows it")
        trial.fail("something", "its particulars", "cat {}", path)
    else:
        trial.count()

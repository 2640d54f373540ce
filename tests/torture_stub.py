"""Attempts that go wrong in every way, for the test of the campaign itself."""

from __future__ import annotations

import os
import signal
import time

from hypothesis import strategies as st


def stub(trial, draw):
    number = draw(st.integers(0, 10**6))
    if trial.number == 1:
        trial.step("sleep", seconds=1.0)
        time.sleep(600)
    elif trial.number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    elif trial.number == 3:
        raise ValueError
    elif trial.number == 4:
        (trial.folder / "shown").mkdir()
        (trial.folder / "shown" / "shown.txt").write_text("what shows it")
        trial.fail("something", "its particulars", f"cat {trial.folder / 'shown'}", trial.folder / "shown")
    elif trial.number == 0 and number >= 1000:
        trial.fail("a large number", str(number))

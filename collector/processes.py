"""Child processes, spawned so that they leave Ctrl-C to their parent."""

from __future__ import annotations

import signal
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnProcess


class Process(SpawnProcess):
    """A spawned process that Ctrl-C never reaches: the parent, to which it is left, ends its children.

    The signal is blocked before the process exists. Were it ignored by the process itself, Ctrl-C during its imports,
    which come before any code of its own, would end it with a traceback.
    """

    def start(self) -> None:
        """Start it."""
        resource_tracker.ensure_running()  # else `start` does that, and unblocks the signal
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

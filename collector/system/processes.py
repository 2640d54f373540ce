"""Child processes that leave Ctrl-C to their parent, and do not outlive it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
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

    def run(self) -> None:
        """Run the target, in the process itself."""
        when_parent_ends(lambda: os._exit(1))
        super().run()


def when_parent_ends(action: Callable[[], object]) -> None:
    """Do something in a thread as soon as the parent is gone: a killed parent cannot end its children."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel

    def watch() -> None:
        wait([sentinel])
        action()

    threading.Thread(target=watch, daemon=True).start()

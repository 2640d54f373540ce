"""Child processes that leave Ctrl-C to their parent, and do not outlive it."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess

from collector.system.stopping import left_to_parent


class Process(SpawnProcess):
    """A spawned process that no signal to stop ever reaches."""

    def start(self) -> None:
        """Start it."""
        resource_tracker.ensure_running()  # else `start` does that, and unblocks signals
        with left_to_parent():
            super().start()

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

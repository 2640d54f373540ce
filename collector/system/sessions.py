"""Sessions of processes, as `setsid` makes them: all that a process has started, whatever its name or its parent."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Final

_PATIENCE: Final = 5.0
"""Seconds in which the processes of a session must have ended."""


def members(session: int) -> list[int]:
    """Process ids of a session, other than this process and those that have ended; none where there is no `/proc`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The command's name, in parentheses, may hold anything.
            state, _, _, its_session = entry.read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(int(entry.parent.name))
    return [pid for pid in found if pid != os.getpid()]


def end_session(session: int) -> None:
    """Kill the processes of a session that this user has made, but not this process."""
    deadline = time.monotonic() + _PATIENCE
    while (left := members(session)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)

"""Processes of this machine, as /proc lists them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Seen(NamedTuple):
    """A living process."""

    pid: int
    parent: int
    group: int
    session: int
    folder: str
    command: str


def living() -> list[Seen]:
    """All processes but those that have ended and are not yet waited for."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (rest := (entry / "stat").read_text().rpartition(")")[2].split())[0] != "Z":
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                with contextlib.suppress(PermissionError):
                    found.append(Seen(int(entry.name), *map(int, rest[1:4]), str((entry / "cwd").readlink()), command))
    return found


def of_folder(folder: Path) -> list[Seen]:
    """Processes that work in a folder, whatever their group and session: those of a command started there."""
    return [each for each in living() if each.folder == str(folder)]


def kill(processes: Iterable[Seen]) -> None:
    """Kill processes that may have ended."""
    for each in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each.pid, signal.SIGKILL)


def end_session(session: int) -> None:
    """Kill all processes of a session."""
    kill(each for each in living() if each.session == session)


def left_over(folder: Path, seconds: float) -> list[Seen]:
    """Processes in a folder that have not ended after so many seconds."""
    until = time.monotonic() + seconds
    while (left := of_folder(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    return left

"""Processes of this machine, as /proc lists them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path


def _facts() -> Iterator[tuple[int, int, int, int, str]]:
    """Number, parent, group, session and state of each process."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                rest = (entry / "stat").read_bytes().rpartition(b")")[2].split()
            except OSError:
                continue
            yield int(entry.name), int(rest[1]), int(rest[2]), int(rest[3]), rest[0].decode()


def descendants(root: int) -> list[int]:
    """Living processes that a process started, and that those did."""
    parents = {pid: parent for pid, parent, _, _, state in _facts() if state != "Z"}
    found: list[int] = []
    for pid in parents:
        above = parents.get(pid)
        while above is not None and above != root and above in parents:
            above = parents[above]
        if above == root:
            found.append(pid)
    return found


def of_group(group: int) -> list[int]:
    """Living processes of a group."""
    return [pid for pid, _, its, _, state in _facts() if its == group and state != "Z"]


def of_folder(folder: Path) -> list[int]:
    """Living processes that work in a folder, whatever their group and session: those of a command started there."""
    found = []
    for pid, _, _, _, state in _facts():
        with contextlib.suppress(OSError):
            if state != "Z" and Path(f"/proc/{pid}/cwd").readlink() == folder:
                found.append(pid)
    return found


def command_of(pid: int) -> str:
    """The command line of a process, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def end_session(session: int) -> None:
    """Kill all processes of a session."""
    for pid, _, _, its, _ in list(_facts()):
        if its == session:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def gone(group: int, seconds: float) -> bool:
    """Wait until a group has no living process, for so long at most."""
    until = time.monotonic() + seconds
    while of_group(group):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True

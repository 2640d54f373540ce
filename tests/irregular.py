"""Files that are no regular ones, put where a program looks for its own; and an end to waiting for them."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

PATIENCE: Final = 120
"""Seconds after which something that should end at once is taken to wait for ever."""


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_socket(path: Path) -> None:
    """The name has to be short, so that it is bound from its folder."""
    here = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(path.name)
    finally:
        os.chdir(here)


def huge(path: Path) -> None:
    """Larger than any file that is read as a whole, though nothing of it is on the disk."""
    path.touch()
    os.truncate(path, 2**40)


IRREGULAR: Final[dict[str, tuple[Callable[[Path], None], str]]] = {
    "pipe": (pipe, "a pipe, not a regular file; write its contents to a file first"),
    "device": (device, "a device, not a regular file"),
    "socket": (a_socket, "a socket, not a regular file"),
    "huge": (huge, "larger than "),
}
"""How to make each kind, and the message about it."""


@contextmanager
def impatiently() -> Iterator[None]:
    """Fail what has not ended in two minutes."""

    def give_up(number: int, frame: object) -> None:
        pytest.fail(f"still waiting after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

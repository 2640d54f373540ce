"""Opening files from untrusted folders: only regular ones, so that none blocks and none is endless."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO, Final

RUN: Final = 16 * 2**20
"""Bytes of the largest `run.json` that is read."""
RECORDS: Final = 2**30
"""Bytes of the largest file of one run's records that is read as a whole."""

_KINDS: Final = {
    stat.S_IFIFO: "a pipe, not a regular file; write its contents to a file first",
    stat.S_IFSOCK: "a socket, not a regular file",
    stat.S_IFCHR: "a device, not a regular file",
    stat.S_IFBLK: "a device, not a regular file",
}
_PIECE: Final = 2**20


def open_regular(path: Path, mode: str = "rb") -> IO[bytes]:
    """Open a regular file, and nothing else: a pipe, socket or device is refused at once.

    Args:
        path: the file; links are followed.
        mode: as for `open`, binary. Files for appending are opened without a buffer.

    Raises:
        OSError: the file cannot be opened, or is not a regular one; `strerror` names what it is.
    """
    try:
        file: IO[bytes] = open(path, mode, buffering=0 if "a" in mode else -1, opener=_at_once)  # noqa: SIM115
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket, or a pipe without a reader
            _refuse(path.stat(), path)
        raise
    try:
        _refuse(os.fstat(file.fileno()), path)
    except BaseException:
        file.close()
        raise
    return file


def read_regular(path: Path, most: int) -> bytes:
    """Read a whole regular file of at most so many bytes.

    Raises:
        OSError: the file cannot be read, is not a regular one, or is larger.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _too_large(most)
        return read_all(file, most)


def read_all(file: IO[bytes], most: int) -> bytes:
    """Read an open file to its end, which comes after at most so many bytes.

    Raises:
        OSError: the file cannot be read, or is larger.
    """
    pieces, left = [], most + 1
    while left and (piece := file.read(min(left, _PIECE))):
        pieces.append(piece)
        left -= len(piece)
    if not left:
        raise _too_large(most)
    return b"".join(pieces)


def _too_large(most: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {most >> 20} MiB")


def _at_once(path: str, flags: int) -> int:
    # Opening a pipe waits for its other end without this; regular files do not know it, nor does Windows.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def _refuse(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not a regular file")
        raise OSError(errno.EINVAL, kind, str(path))

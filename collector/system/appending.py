"""Files that only grow, a line at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO


def append_line(file: IO[bytes], line: bytes) -> None:
    """Append a line and sync it; a line that the disk has no room for leaves nothing behind.

    Args:
        file: open for appending, without a buffer.
        line: with its line break.

    Raises:
        OSError: it cannot be written.
    """
    _, error = append_lines(file, [line])
    if error is not None:
        raise error


def append_lines(file: IO[bytes], lines: Sequence[bytes]) -> tuple[int, OSError | None]:
    """Append lines and sync them together, up to the first that cannot be written, of which nothing is left behind.

    Args:
        file: open for appending, without a buffer.
        lines: with their line breaks.

    Returns:
        How many were written, and why the next was not; if they cannot be synced, it is none.
    """
    start = end = os.fstat(file.fileno()).st_size
    count, failed = 0, None
    for line in lines:
        try:
            _write(file, line)
        except OSError as error:
            os.ftruncate(file.fileno(), end)
            failed = error
            break
        count, end = count + 1, end + len(line)
    try:
        os.fsync(file.fileno())
    except OSError as error:
        os.ftruncate(file.fileno(), start)
        return 0, error
    return count, failed


def _write(file: IO[bytes], line: bytes) -> None:
    written = 0
    while written < len(line):
        written += file.write(line[written:])

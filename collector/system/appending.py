"""Files that only grow, a line at a time."""

from __future__ import annotations

import os
from typing import IO


def append_line(file: IO[bytes], line: bytes) -> None:
    """Append a line and sync it; a line that the disk has no room for leaves nothing behind.

    Args:
        file: open for appending, without a buffer.
        line: with its line break.

    Raises:
        OSError: it cannot be written.
    """
    start = os.fstat(file.fileno()).st_size
    try:
        written = 0
        while written < len(line):
            written += file.write(line[written:])
        os.fsync(file.fileno())
    except OSError:
        os.ftruncate(file.fileno(), start)
        raise

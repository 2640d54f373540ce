"""Checksums of the blocks of a Parquet file, so that damage is noticed where the file is read and nowhere else is read.

They stand between the last column and the footer, where readers of Parquet look for nothing: a CRC-32 for each block of
what is before them, then one for what is behind. A reader checks the blocks that it reads. CRC-32 finds damage, not
forgery.
"""

from __future__ import annotations

import errno
import os
import struct
from array import array
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import IO, Final, Self
from zlib import crc32

from audit.output.errors import AuditError

BLOCK: Final = 32 * 2**10
"""Bytes that have one checksum, at the places of their multiples."""

_AT_ONCE: Final = 32 * BLOCK
_MAGIC: Final = b"PAR1"
_END: Final = struct.Struct("<QII8s")
"""Bytes before the checksums, the checksum of what is behind, that of the checksums and the place, and `_OURS`."""
_OURS: Final = b"CRC32\x00\x00\x01"
_LENGTH: Final = 8
"""Bytes at the end of a Parquet file: the footer's length, and `_MAGIC`."""


class DamagedError(AuditError):
    """Bytes are not what was written."""


class Checksums:
    """The checksums of one file.

    Args:
        of_blocks: those of the blocks of the columns.
        end: after the last byte of the columns.
    """

    def __init__(self, of_blocks: array[int], end: int) -> None:
        self._of_blocks = of_blocks
        self._end = end

    @classmethod
    def of(cls, read: Callable[[int, int], bytes], size: int) -> Self | None:
        """Read the checksums of a file, and check its footer and themselves.

        Args:
            read: gives the bytes from one place to before another.
            size: of the file.

        Returns:
            The checksums; None if there are none.

        Raises:
            DamagedError: they, or the footer, are damaged.
        """
        if size < _LENGTH:
            return None
        last = read(size - _LENGTH, size)
        footer = size - _LENGTH - int.from_bytes(last[:4], "little")
        if last[4:] != _MAGIC or footer < _END.size:
            return None
        start = max(footer - _END.size - 4 * _blocks(footer), 0)
        tail = read(start, size)
        end, of_footer, of_list, ours = _END.unpack_from(tail, footer - _END.size - start)
        if ours != _OURS:
            return None
        held = tail[max(end - start, 0) : footer - _END.size - start]
        if (
            end + len(held) + _END.size != footer
            or len(held) != 4 * _blocks(end)
            or crc32(held + end.to_bytes(8, "little")) != of_list
            or crc32(memoryview(tail)[footer - start :]) != of_footer
        ):
            raise DamagedError("damaged, in its footer or its checksums")
        return cls(_array(held), end)

    def check(self, start: int, *pieces: bytes) -> None:
        """Check whole blocks.

        Args:
            start: the place of the first, a multiple of `BLOCK`.
            pieces: the blocks, one piece after the other; the last block may be cut off by the end of the file.

        Raises:
            DamagedError: one is not what was written.
        """
        places = [*accumulate(map(len, pieces), initial=start)]
        views = [(at, memoryview(piece)) for at, piece in zip(places, pieces, strict=False)]
        for place in range(start, min(places[-1], self._end), BLOCK):
            end = min(place + BLOCK, self._end)
            found = 0
            for at, view in views:
                found = crc32(view[max(place - at, 0) : max(end - at, 0)], found)
            if found != self._of_blocks[place // BLOCK]:
                raise DamagedError(f"damaged, at bytes {place:,} to {end:,}")


def check_all(path: Path) -> bool:
    """Read all of a file, and compare it with its checksums.

    Returns:
        Whether it has any.

    Raises:
        DamagedError: it is damaged.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:

        def read(start: int, end: int) -> bytes:
            file.seek(start)
            return file.read(end - start)

        checksums = Checksums.of(read, size)
        if checksums is not None:
            for place in range(0, size, _AT_ONCE):
                checksums.check(place, read(place, place + _AT_ONCE))
        return checksums is not None


def add_checksums(path: Path) -> None:
    """Write the checksums of a Parquet file, which has none, into it.

    Raises:
        OSError: it cannot be read or written; it has no checksums then.
    """
    with path.open("r+b", buffering=0) as file:
        file.seek(-_LENGTH, 2)
        length = int.from_bytes(file.read(4), "little")
        end = file.seek(-_LENGTH - length, 2)
        footer = file.read()
        file.seek(0)
        held = _bytes(array("I", _sums(file, end)))
        of_list = crc32(held + end.to_bytes(8, "little"))
        more = held + _END.pack(end, crc32(footer), of_list, _OURS) + footer
        file.seek(0, 2)
        written = file.write(bytes(len(more) - len(footer)))
        if written < len(more) - len(footer):  # the disk is full: the file stays what it was
            file.truncate(end + len(footer))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        file.seek(end)
        file.write(more)


def _sums(file: IO[bytes], end: int) -> list[int]:
    return [crc32(file.read(min(BLOCK, end - place))) for place in range(0, end, BLOCK)]


def _blocks(end: int) -> int:
    return -(-end // BLOCK)


def _array(held: bytes) -> array[int]:
    return array("I", struct.unpack(f"<{len(held) // 4}I", held))


def _bytes(sums: array[int]) -> bytes:
    return struct.pack(f"<{len(sums)}I", *sums)

"""Packs that DuckDB reads through this program, as files of a file system that has nothing else.

Those elsewhere are read by ranges, and what was read once is kept in an unnamed temporary file while the program runs.
Of those here and elsewhere each block is compared with its checksum when it is read.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audit.output.errors import AuditError
from audit.remote.ahead import Ahead, Chunk
from audit.remote.checksums import BLOCK, Checksums, DamagedError, check_all
from audit.remote.file_system import Served, file_system
from audit.remote.objects import RemoteObject
from audit.remote.pool import AHEAD, DEMANDED, POOL, result_of
from audit.remote.urls import shown

if TYPE_CHECKING:
    from concurrent.futures import Future

    import duckdb

SCHEME: Final = "elsewhere"
PIECE: Final = 2**20
"""Bytes that one request asks for at most; more are several at once."""
WHOLE: Final = 32 * 2**20
"""Bytes of a pack here up to which all of it is compared at once, which takes less time than importing fsspec."""
_LAYOUT: Final = """
    select row_group_id, column_id, place, place + total_compressed_size
    from (
        select *, least(data_page_offset, coalesce(nullif(dictionary_page_offset, 0), data_page_offset)) as place
        from parquet_metadata(?)
    )
    where total_compressed_size > 0
"""

_stopped: Final = threading.Event()
_served: Final[dict[str, Served]] = {}
_names: Final[dict[str, str]] = {}
_numbers: Final = itertools.count()


def serve(local: str, remote: RemoteObject) -> None:
    """Have DuckDB read an object by ranges.

    Args:
        local: the path that stands for it.
        remote: the object.
    """
    _stopped.clear()
    known = _served.get(_names.get(local, ""))
    if isinstance(known, Ranged) and known.remote.state == remote.state:
        known.remote = remote
    else:
        name = _new_name()
        _served[name] = Ranged(remote, name, shown(local))
        _names[local] = name


def check(path: Path) -> bool:
    """Have what DuckDB reads of a pack compared with its checksums.

    A small pack is read and compared here, all of it. So is every pack here without fsspec, by whose classes alone
    DuckDB takes files from this program.

    Returns:
        Whether it has any.

    Raises:
        DamagedError: it is damaged.
        AuditError: it cannot be read from elsewhere.
        OSError: it cannot be read.
    """
    known = _served.get(_names.get(str(path), ""))
    if isinstance(known, Ranged):
        return known.checksums() is not None
    if isinstance(known, Here) and known.is_unchanged():
        return True
    _names.pop(str(path), None)
    if path.stat().st_size <= WHOLE or importlib.util.find_spec("fsspec") is None:
        return check_all(path)
    here = Here(path)
    if here.checksums is None:
        return False
    name = _new_name()
    _served[name] = here
    _names[str(path)] = name
    return True


def _new_name() -> str:
    """A name that nothing had before: databases that are open go on reading what they have read so far."""
    return f"{SCHEME}://{next(_numbers)}.pack.parquet"


def _metadata(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def read_as(local: str) -> str:
    """What DuckDB reads for a path: the address of a pack that is read through this program, or the path itself."""
    return _names.get(local, local)


def is_elsewhere(local: str) -> bool:
    """Whether a path stands for an object that is read by ranges."""
    return isinstance(_served.get(_names.get(local, "")), Ranged)


def attach(connection: duckdb.DuckDBPyConnection) -> None:
    """Make packs that are read through this program readable for a connection."""
    if _served and not connection.filesystem_is_registered(SCHEME):
        connection.register_filesystem(file_system(SCHEME, _served))


@contextlib.contextmanager
def only_asked_for(paths: Iterable[str]) -> Iterator[None]:
    """Read nothing ahead of some packs elsewhere within the block: no more is wanted than a few row groups.

    Otherwise a run in two of them would pass for the beginning of all that follow.
    """
    served = [each for path in paths if isinstance(each := _served.get(_names.get(path, "")), Ranged)]
    for each in served:
        each.reads_ahead = False
    try:
        yield
    finally:
        for each in served:
            each.reads_ahead = True


def failure() -> str | None:
    """Why a read has failed, which DuckDB reports as an error of Python's; None if none has since this was asked."""
    failed = [each.failure for each in _served.values() if each.failure is not None]
    for each in _served.values():
        each.failure = None
    return failed[0] if failed else None


def interrupted(error: BaseException) -> bool:
    """Whether an error is Ctrl-C during a read, which DuckDB reports as an error of Python's with its traceback."""
    was_stopped = _stopped.is_set()
    _stopped.clear()
    return was_stopped or any(line.startswith("KeyboardInterrupt") for line in str(error).splitlines())


class Here:
    """A pack on this machine; `checksums` is None if it has none.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._look = _metadata(path)
        self.size = self._look[0]
        self.failure: str | None = None
        self.checksums = Checksums.of(self._bytes, self.size)

    def read(self, start: int, length: int) -> bytes:
        """Bytes from a place on: fewer where the pack ends.

        Raises:
            OSError: they are damaged, or the pack is not what it was; `failure` says so.
        """
        try:
            return _checked(self._bytes, self.checksums, start, min(start + length, self.size), self.size)
        except (DamagedError, OSError) as error:
            reason = str(error) if self.is_unchanged() else "changed while it was read"
            self.failure = f"{shown(str(self._path))}: {reason}"
            raise OSError(self.failure) from None

    def is_unchanged(self) -> bool:
        """Whether the pack looks as it did."""
        try:
            return _metadata(self._path) == self._look
        except OSError:
            return False

    def _bytes(self, start: int, end: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(start)
            data = file.read(end - start)
        if len(data) < end - start:
            raise DamagedError("ends too early")
        return data


class Ranged:
    """An object by ranges."""

    def __init__(self, remote: RemoteObject, name: str, label: str) -> None:
        self.remote = remote
        self._label = label
        self.failure: str | None = None
        self.size = remote.size or 0
        self._kept: set[int] = set()
        self._coming: dict[int, Future[None]] = {}
        self._lock = threading.Lock()
        self._file = tempfile.TemporaryFile(prefix="audit-remote-")  # noqa: SIM115 - as long as this object
        weakref.finalize(self, self._file.close).atexit = False  # threads may still write
        self.reads_ahead = True
        self._ahead = Ahead(functools.partial(_layout, name))
        self._checksums: tuple[Checksums | None] | None = None

    def checksums(self) -> Checksums | None:
        """The checksums of the pack; None if it has none.

        Raises:
            AuditError: they are damaged, or cannot be had.
        """
        if self._checksums is None:
            try:
                self._checksums = (Checksums.of(self._bytes, self.size),)
            except AuditError as error:
                self._fail(error)
                raise
        return self._checksums[0]

    def read(self, start: int, length: int) -> bytes:
        """Bytes from a place on: fewer where the object ends.

        Raises:
            OSError: they cannot be had, or are damaged; `failure` says so.
        """
        end = min(start + length, self.size)
        if start >= end:
            return b""
        try:
            checksums = self.checksums()
            needed = self._request(start, end, DEMANDED)
            for first, last in self._ahead.after(start, end) if self.reads_ahead else ():
                self._request(first, last, AHEAD)
            if _stopped.is_set():
                raise OSError
            for each in needed:
                result_of(each)
            return _checked(self._pread, checksums, start, end, self.size)
        except KeyboardInterrupt:
            # DuckDB makes an error of its own of it.
            _stopped.set()
            raise OSError from None
        except AuditError as error:
            self._fail(error)
            raise OSError from None

    def _fail(self, error: AuditError) -> None:
        self.failure = f"{self._label}: {error}" if isinstance(error, DamagedError) else str(error)

    def _bytes(self, start: int, end: int) -> bytes:
        """Bytes that are not checked."""
        for each in self._request(start, end, DEMANDED):
            result_of(each)
        return self._pread(start, end)

    def _pread(self, start: int, end: int) -> bytes:
        return os.pread(self._file.fileno(), end - start, start)

    def _request(self, start: int, end: int, urgency: int) -> list[Future[None]]:
        """Have all blocks of a range fetched; those that are not here yet, as what can be waited for."""
        blocks = range(start // BLOCK, -(-min(end, self.size) // BLOCK))
        with self._lock:
            pieces = list(_pieces(each for each in blocks if each not in self._kept and each not in self._coming))
            for piece in pieces:
                future = POOL.submit(functools.partial(self._fetch, piece), urgency)
                self._coming |= dict.fromkeys(piece, future)
            found = dict.fromkeys(self._coming[block] for block in blocks if block in self._coming)
        if urgency == DEMANDED:
            POOL.hurry(found)
        return list(found)

    def _fetch(self, blocks: range) -> None:
        place = blocks.start * BLOCK
        try:
            data = self.remote.read(place, min(blocks.stop * BLOCK, self.size))
            os.pwrite(self._file.fileno(), data, place)
            with self._lock:
                self._kept.update(blocks)
        finally:
            with self._lock:
                for block in blocks:
                    del self._coming[block]


def _checked(read: Callable[[int, int], bytes], checksums: Checksums | None, start: int, end: int, size: int) -> bytes:
    """Bytes from one place to before another, of blocks that are all compared with their checksums.

    Raises:
        AuditError: one is damaged.
    """
    if checksums is None or start >= end:
        return read(start, end)
    first = start // BLOCK * BLOCK
    last = min(-(-end // BLOCK) * BLOCK, size)
    data = read(start, end)
    checksums.check(first, read(first, start), data, read(end, last))
    return data


def _pieces(blocks: Iterable[int]) -> Iterable[range]:
    """Neighbouring blocks together, up to the size of a piece."""
    piece: range | None = None
    for block in blocks:
        if piece is not None and (block != piece.stop or len(piece) >= PIECE // BLOCK):
            yield piece
            piece = None
        piece = range(block if piece is None else piece.start, block + 1)
    if piece is not None:
        yield piece


def _layout(name: str) -> list[Chunk]:
    """Where the parts of columns are in a Parquet file; nothing for other files, which their reader reports."""
    import duckdb

    with duckdb.connect() as connection:
        attach(connection)
        try:
            return connection.execute(_LAYOUT, [name]).fetchall()
        except duckdb.Error:
            return []

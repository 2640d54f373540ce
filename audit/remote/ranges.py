"""Packs elsewhere that DuckDB reads by ranges, as files of a file system that has nothing else.

What was read once is kept in an unnamed temporary file while the program runs.
"""

from __future__ import annotations

import datetime
import functools
import io
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError
from audit.remote.ahead import Ahead, Chunk
from audit.remote.objects import RemoteObject
from audit.remote.pool import AHEAD, DEMANDED, POOL, result_of

if TYPE_CHECKING:
    import duckdb

SCHEME: Final = "elsewhere"
BLOCK: Final = 32 * 2**10
"""Bytes: what is read is read in whole blocks, at the places of their multiples."""
PIECE: Final = 2**20
"""Bytes that one request asks for at most; more are several at once."""
_LAYOUT: Final = """
    select row_group_id, column_id, place, place + total_compressed_size
    from (
        select *, least(data_page_offset, coalesce(nullif(dictionary_page_offset, 0), data_page_offset)) as place
        from parquet_metadata(?)
    )
    where total_compressed_size > 0
"""

_stopped: Final = threading.Event()
_served: Final[dict[str, Ranged]] = {}
_names: Final[dict[str, str]] = {}


def serve(local: str, remote: RemoteObject) -> None:
    """Have DuckDB read an object by ranges.

    Args:
        local: the path that stands for it.
        remote: the object.
    """
    _stopped.clear()
    name = _names.setdefault(local, f"{SCHEME}://{len(_names)}.pack.parquet")
    known = _served.get(name)
    if known is None or known.remote.state != remote.state:
        _served[name] = Ranged(remote, name)
    else:
        known.remote = remote


def read_as(local: str) -> str:
    """What DuckDB reads for a path: the address of an object that is read by ranges, or the path itself."""
    return _names.get(local, local)


def attach(connection: duckdb.DuckDBPyConnection) -> None:
    """Make objects that are read by ranges readable for a connection."""
    if _served and not connection.filesystem_is_registered(SCHEME):
        connection.register_filesystem(_file_system())


def failure() -> str | None:
    """Why a read has failed, which DuckDB reports as an error of Python's; None if none has since this was asked."""
    failed = [ranged.failure for ranged in _served.values() if ranged.failure is not None]
    for ranged in _served.values():
        ranged.failure = None
    return failed[0] if failed else None


def interrupted(error: BaseException) -> bool:
    """Whether an error is Ctrl-C during a read, which DuckDB reports as an error of Python's with its traceback."""
    was_stopped = _stopped.is_set()
    _stopped.clear()
    return was_stopped or any(line.startswith("KeyboardInterrupt") for line in str(error).splitlines())


class Ranged:
    """An object by ranges; any number of threads read it."""

    def __init__(self, remote: RemoteObject, name: str) -> None:
        self.remote = remote
        self.failure: str | None = None
        self.size = remote.size or 0
        self._kept: set[int] = set()
        self._coming: dict[int, Future[None]] = {}
        self._lock = threading.Lock()
        self._file = tempfile.TemporaryFile(prefix="audit-remote-")  # noqa: SIM115 - as long as this object
        weakref.finalize(self, self._file.close).atexit = False  # threads may still write
        self._ahead = Ahead(functools.partial(_layout, name))

    def read(self, start: int, length: int) -> bytes:
        """Bytes from a place on: fewer where the object ends."""
        end = min(start + length, self.size)
        if start >= end:
            return b""
        needed = self._request(start, end, DEMANDED)
        for first, last in self._ahead.after(start, end):
            self._request(first, last, AHEAD)
        if _stopped.is_set():
            raise OSError
        try:
            for each in needed:
                result_of(each)
        except KeyboardInterrupt:
            # DuckDB makes an error of its own of it.
            _stopped.set()
            raise OSError from None
        except AuditError as error:
            self.failure = str(error)
            raise OSError from None
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


class _Handle(io.RawIOBase):
    """An open file as DuckDB uses it: several threads move and read it in turn, so each has a place of its own."""

    def __init__(self, ranged: Ranged) -> None:
        self._ranged = ranged
        self._at = threading.local()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return getattr(self._at, "place", 0)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self._ranged.size}[whence]
        self._at.place = start + offset
        return start + offset

    def read(self, size: int = -1, /) -> bytes:
        place = self.tell()
        data = self._ranged.read(place, self._ranged.size - place if size < 0 else size)
        self._at.place = place + len(data)
        return data


def _file_system() -> Any:
    from fsspec import AbstractFileSystem

    class Served(AbstractFileSystem):  # type: ignore[misc] # fsspec has no types
        """Only what has been served can be opened, and nothing can be written."""

        protocol = SCHEME
        cachable = False

        def open(self, path: str, mode: str = "rb", **_: Any) -> _Handle:
            if mode != "rb":
                raise PermissionError(path)
            return _Handle(self._of(path))

        def info(self, path: str, **_: Any) -> dict[str, Any]:
            return {"name": path, "size": self._of(path).size, "type": "file"}

        def glob(self, path: str, **_: Any) -> list[str]:
            return [path] if path in _served else []

        def exists(self, path: str, **_: Any) -> bool:
            return path in _served

        def modified(self, path: str) -> datetime.datetime:  # noqa: ARG002 - DuckDB asks
            return datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)

        def _of(self, path: str) -> Ranged:
            if path not in _served:
                raise FileNotFoundError(path)
            return _served[path]

    return Served()

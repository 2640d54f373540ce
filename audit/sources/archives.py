"""Tar archives, read from front to back within bounds: a few bytes can unpack to any number."""

from __future__ import annotations

import bz2
import contextlib
import errno
import functools
import gzip
import io
import lzma
import os
import posixpath
import shutil
import tarfile
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from collector.system.regular_files import open_regular

UNPACKED: Final = 2**30
"""Bytes that an archive may unpack to, however small it is."""
RATIO: Final = 200
"""Multiple of its own size that a larger one may unpack to; logs packed with xz reach 20 to 40 times."""
MEMBERS: Final = 1_000_000
HEADER: Final = 2**20
"""Bytes of what describes a member: its name, and whatever extensions of the format add."""
WINDOW: Final = 256 * 2**20
"""Bytes of memory that unpacking xz may take; `xz -9` needs 65 MiB."""

_PIECE: Final = 2**16
_BY_HAND: Final = "; if that is right, unpack it and name the folder"
_DAMAGE: Final = (tarfile.TarError, OSError, EOFError, lzma.LZMAError, zlib.error, RecursionError)


class Member(NamedTuple):
    """A file in an archive; it can only be opened before the next one is requested."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]


class ArchiveError(Exception):
    """An archive that cannot be read to its end; the message states why."""


def members(path: Path) -> Iterator[Member]:
    """The files in an archive in their order, then its links to them, as if they were files; devices are passed over.

    A link to a folder is passed over as it is on disk; one that leads nowhere within the archive cannot be opened.

    Raises:
        ArchiveError: it breaks off, or is larger unpacked than it should be; what came before it has been given.
    """
    links: dict[str, str] = {}
    for member, opened in _in_order(path):
        if member.isfile():
            yield Member(member.name, member.size, opened)
        elif member.issym():
            beside = posixpath.join(posixpath.dirname(member.name), member.linkname)
            links[posixpath.normpath(member.name)] = posixpath.normpath(beside)
        elif member.islnk():
            links[posixpath.normpath(member.name)] = posixpath.normpath(member.linkname)
    if links:
        yield from _linked(path, links)


def _linked(path: Path, links: Mapping[str, str]) -> Iterator[Member]:
    """The links in an archive, which is read again, since what one leads to was before it."""
    ends: defaultdict[str, list[str]] = defaultdict(list)
    for link in links:
        ends[_end(link, links)].append(link)
    found: set[str] = set()
    for member, opened in _in_order(path):
        end = posixpath.normpath(member.name)
        if member.isfile() and end in ends:
            with tempfile.TemporaryFile() as copy:
                again = functools.partial(_again, opened, copy)
                yield from (Member(link, member.size, again) for link in ends[end])
        while end and end not in found:
            found.add(end)
            end = posixpath.dirname(end)
    for end in ends.keys() - found:
        yield from (Member(link, 0, functools.partial(_nowhere, links[link])) for link in ends[end])


def _end(link: str, links: Mapping[str, str]) -> str:
    """Where a link leads to by way of others; a link in a circle leads to one of them."""
    passed: set[str] = set()
    while link in links and link not in passed:
        passed.add(link)
        link = links[link]
    return link


def _again(opened: Callable[[], IO[bytes]], copy: IO[bytes]) -> IO[bytes]:
    """Open a member for one of its links: an archive is not read backwards, so that the first one copies it."""
    if not copy.seek(0, io.SEEK_END):
        try:
            shutil.copyfileobj(opened(), copy)
            copy.flush()
        except OSError:
            copy.truncate(0)
            raise
    stream = os.fdopen(os.dup(copy.fileno()), "rb")
    stream.seek(0)
    return stream


def _nowhere(leads_to: str) -> IO[bytes]:
    raise OSError(errno.ENOENT, f"a link to {leads_to}, which is not a file of the archive")


def _in_order(path: Path) -> Iterator[tuple[tarfile.TarInfo, Callable[[], IO[bytes]]]]:
    try:
        with contextlib.ExitStack() as resources:
            packed = resources.enter_context(open_regular(path))
            most = max(UNPACKED, RATIO * packed.seek(0, io.SEEK_END))
            packed.seek(0)
            reader = _Reader(_unpacking(packed), most)
            archive = resources.enter_context(tarfile.open(fileobj=reader, mode="r:"))  # type: ignore[call-overload]
            for _ in range(MEMBERS):
                member = archive.next()
                if member is None:
                    return
                reader.check(member.offset_data + member.size)
                with reader.in_member():
                    yield member, functools.partial(_open, archive, member)
                # Otherwise it keeps what it has read.
                archive.members.clear()
                archive.pax_headers.clear()
            raise tarfile.ReadError(f"it has more than {MEMBERS:,} members{_BY_HAND}")
    except _DAMAGE as error:
        raise ArchiveError(_reason(error)) from None


def _open(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    if member.issparse():
        raise OSError(errno.EINVAL, f"the archive leaves out its holes{_BY_HAND}")
    stream = archive.extractfile(member)
    assert stream is not None
    return stream


def _unpacking(packed: IO[bytes]) -> IO[bytes]:
    """The tar archive in a file, whatever that is packed with."""
    head = packed.read(6)
    packed.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=packed)  # type: ignore[return-value]
    if head.startswith(b"BZh"):
        return bz2.BZ2File(packed)
    if head.startswith((b"\xfd7zXZ\0", b"\x5d\0\0")):
        return io.BufferedReader(_XZ(packed))
    return packed


class _Reader:
    """An unpacked archive as `tarfile` reads it, forwards only.

    Args:
        stream: the archive.
        most: bytes that it may have.
    """

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self._stream = stream
        self._most = most
        self._position = 0
        self._header_left: int | None = HEADER

    def tell(self) -> int:
        return self._position

    def seek(self, position: int) -> None:
        self.check(position)
        if self._stream.seekable():
            self._position = self._stream.seek(position)
        while self._position < position and (piece := self._read(min(_PIECE, position - self._position))):
            self._position += len(piece)

    def read(self, size: int) -> bytes:
        if self._header_left is not None:
            self._header_left -= size
            if size < 0 or self._header_left < 0:
                raise tarfile.ReadError(f"the description of a member is longer than {HEADER >> 20} MiB")
        data = self._read(size)
        if size and not data and self._header_left is None:
            raise OSError(errno.EIO, "the archive breaks off in it")
        self._position += len(data)
        return data

    def check(self, end: int) -> None:
        """Refuse to read beyond the limit, or backwards."""
        if end < self._position:
            raise tarfile.ReadError("a member of it has a negative size")
        if end > self._most:
            raise tarfile.ReadError(f"it unpacks to more than {self._most >> 20:,} MiB{_BY_HAND}")

    @contextlib.contextmanager
    def in_member(self) -> Iterator[None]:
        """While what is read is a member's own bytes, their number is known."""
        self._header_left = None
        yield
        self._header_left = HEADER

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except (EOFError, lzma.LZMAError, zlib.error) as error:
            raise OSError(errno.EIO, _reason(error)) from None


class _XZ(io.RawIOBase):
    """What `lzma.LZMAFile` is, with a limit to the memory that an archive can ask for."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._unpacker = lzma.LZMADecompressor(memlimit=WINDOW)
        self._more = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            packed = b""
            if self._unpacker.eof or self._unpacker.needs_input:
                packed = self._packed.read(_PIECE)
                if not packed and not self._unpacker.eof:
                    raise EOFError("the compressed file ends before its end was marked")
            if self._unpacker.eof:  # of one of several streams, which zeros may separate
                packed = (self._unpacker.unused_data + packed).lstrip(b"\0")
                if not packed:
                    return 0
                self._unpacker = lzma.LZMADecompressor(memlimit=WINDOW)
            data = self._unpacker.decompress(packed, len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "a member of it has too many descriptions"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)

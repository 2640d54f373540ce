"""Tar archives, unpacked within bounds: a few bytes can unpack to any number, and a name can lead anywhere."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import posixpath
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from audit.output.errors import Problem
from audit.records.locating import Located

UNPACKED: Final = 2**30
"""Bytes that an archive may unpack to, however small it is."""
RATIO: Final = 200
"""Multiple of its own size that a larger archive may unpack to; logs packed with xz reach 20 to 40 times."""
MEMBERS: Final = 1_000_000
"""Maximum number of files, folders and links in an archive."""
LINKS: Final = 10_000
"""Maximum number of links in an archive."""
NAME: Final = 4096
"""Maximum length of a member's name and of what it links to."""
DEPTH: Final = 100
"""Maximum number of folders within one another."""
HEADER: Final = 2**20
"""Maximum bytes of one description of a member: its name, and whatever extensions of the format add."""

_OPENERS: Final[dict[bytes, Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"\x5d\0\0": lzma.open,
    b"": open,
}
_BY_HAND: Final = "; if that is right, unpack it and name the folder"
_DAMAGE: Final = (tarfile.TarError, OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, RecursionError)


def unpack(located: Located, into: Path) -> tuple[Path, list[Problem]]:
    """Unpack an archive into a new folder, up to where it is damaged or too large.

    Names are taken as below that folder wherever they lead. A link to a file of the archive becomes that file, one to
    anything else leads nowhere; devices are left out.

    Args:
        located: an archive.
        into: the folder that the new one is made in.

    Returns:
        The new folder, and why the archive could not be read to its end.
    """
    folder = Path(tempfile.mkdtemp(prefix="unpacked-", dir=into))
    limit = max(UNPACKED, RATIO * located.path.stat().st_size)
    links: dict[Path, Path | None] = {}
    problems: list[Problem] = []
    broken: Path | None = None
    try:
        for member, stream in _members(located.path, min(limit, shutil.disk_usage(folder).free // 2)):
            target = _below(folder, member.name)
            if stream is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as file:
                    broken = target
                    shutil.copyfileobj(stream, file)
                broken = None
            elif member.islnk() or member.issym():
                links[target] = _linked(folder, member)
                if len(links) > LINKS:
                    raise tarfile.ReadError(f"it has more than {LINKS:,} links{_BY_HAND}")
    except _DAMAGE as error:
        if broken is not None:
            broken.unlink()
        reason = "a member of it has too many descriptions" if isinstance(error, RecursionError) else None
        reason = reason or getattr(error, "strerror", None) or str(error)
        problems.append(Problem(located.label, None, f"the archive cannot be read to its end ({reason})"))
    _link(links)
    return folder, problems


def _members(path: Path, limit: int) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    """The members of an archive in their order, as long as they are within the bounds; files with their content."""
    with path.open("rb") as packed:
        head = packed.read(6)
    opener = next(opener for start, opener in _OPENERS.items() if head.startswith(start))
    with contextlib.ExitStack() as resources:
        reader = _Forwards(resources.enter_context(opener(path, "rb")))
        archive = resources.enter_context(tarfile.open(fileobj=reader, mode="r:"))  # type: ignore[call-overload]
        size = 0
        for _ in range(MEMBERS):
            reader.left = HEADER
            member = archive.next()
            if member is None:
                if not reader.block or reader.block.strip(b"\0"):
                    raise tarfile.ReadError("it breaks off, or is damaged")  # which to `tarfile` is its end as well
                return
            size += member.size  # a file with holes is larger than what the archive has of it
            if member.size < 0:
                raise tarfile.ReadError("a member of it has a negative size")
            if max(size, archive.offset) > limit:
                raise tarfile.ReadError(f"it unpacks to more than {limit >> 20:,} MiB{_BY_HAND}")
            if len(member.name) + len(member.linkname) > NAME or member.name.count("/") > DEPTH:
                raise tarfile.ReadError("the name of a member is too long")
            reader.left = limit
            yield member, archive.extractfile(member) if member.isreg() else None
            # Otherwise it keeps what it has read.
            archive.members.clear()
            archive.pax_headers.clear()
        raise tarfile.ReadError(f"it has more than {MEMBERS:,} members{_BY_HAND}")


def _below(folder: Path, name: str) -> Path:
    return folder.joinpath(*(part for part in name.split("/") if part not in {"", ".", ".."}))


def _linked(folder: Path, member: tarfile.TarInfo) -> Path | None:
    """The file in a folder that a link names; None if it leads out."""
    start = posixpath.dirname(member.name) if member.issym() else ""
    name = posixpath.normpath(posixpath.join(start, member.linkname))
    return None if name.startswith(("/", "../")) else _below(folder, name)


def _link(links: dict[Path, Path | None]) -> None:
    """Make links, of which one can lead to another; those that lead nowhere can be found, and not be opened."""
    while ready := {link: file for link, file in links.items() if file is not None and file.is_file()}:
        for link, file in ready.items():
            with contextlib.suppress(OSError):  # there is something else
                link.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, link)
            del links[link]
    for link in links:
        with contextlib.suppress(OSError):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to("not in the archive")


class _Forwards:
    """An archive as `tarfile` reads it: never backwards, and at most `left` bytes; `block` is what it read last."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.left = HEADER
        self.block = b""

    def tell(self) -> int:
        return self._stream.tell()

    def seek(self, position: int) -> None:
        if position < self._stream.tell():
            raise tarfile.ReadError("a member of it leads back to an earlier one")
        self._stream.seek(position)

    def read(self, size: int) -> bytes:
        self.left -= size
        if size < 0 or self.left < 0:
            raise tarfile.ReadError(f"the description of a member is longer than {HEADER >> 20} MiB")
        self.block = self._stream.read(size)
        return self.block

"""Segments in the cache, and the lists beside them that state what they hold."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Collection
from pathlib import Path
from typing import Final

import msgspec

from audit.cache_folder import DAY, UNUSED, digest_of
from audit.ingest.readings import Fault
from audit.ingest.version import version
from collector.system.regular_files import read_regular

ORPHANED: Final = 7
"""Days after which an unused segment is removed if all its files are gone; a drive may be absent for a while."""
MOST: Final = 10 * 10**9
"""Bytes in total; beyond them the least recently used segments are removed first."""
LARGEST_LIST: Final = 256 * 2**20
"""Bytes of the largest list that is read."""


class Look(msgspec.Struct, frozen=True):
    """A file's metadata: if any of it changes, the file may have changed."""

    size: int
    modified: int
    changed: int
    inode: int


class Source(msgspec.Struct, frozen=True):
    """A record file that a segment holds; `judged_by` is what of its run decides which of its lines are sound."""

    path: str
    look: Look
    judged_by: str
    place: int
    faults: list[Fault]


class Contents(msgspec.Struct, frozen=True):
    """The list beside a segment: which files it holds; `version` is the program's that read them, `made` in ns.

    `content` is a digest of the segment, `digest` one of all else in the list and of its name.
    """

    version: str
    made: int
    segment: Look
    content: str
    sources: list[Source]
    digest: str = ""


_decoder = msgspec.json.Decoder(Contents)


def look_of(path: str | Path) -> Look | None:
    """How a file looks now; None if it cannot be looked at."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return Look(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def read_lists(folder: Path) -> dict[Path, Contents | None]:
    """The lists in a folder by path, oldest first; None for one that cannot be read, or is damaged.

    Those that other versions of the program have written are read as they are.
    """
    found: dict[Path, Contents | None] = {}
    for path in folder.glob("*.json"):
        try:
            held = _decoder.decode(read_regular(path, LARGEST_LIST))
            found[path] = held if held.version != version() or held == _sealed(path, held) else None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            found[path] = None
    return dict(sorted(found.items(), key=lambda item: item[1].made if item[1] else 0))


def segment_of(path: Path) -> Path:
    """The segment that a list is about."""
    return path.with_suffix(".parquet")


def write_list(path: Path, contents: Contents) -> None:
    """Write a list, all of it or nothing, with its digest."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(msgspec.json.encode(_sealed(path, contents)))
    part.replace(path)


def _sealed(path: Path, contents: Contents) -> Contents:
    plain = msgspec.structs.replace(contents, digest="")
    return msgspec.structs.replace(plain, digest=digest_of(msgspec.json.encode(plain), path.stem))


def remove(path: Path) -> None:
    """Remove a list with its segment and its derived files, as far as they exist and can be removed."""
    for file in (path, segment_of(path)):
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
    shutil.rmtree(path.with_suffix(""), ignore_errors=True)


def tidy(folder: Path, in_use: Collection[Path]) -> None:
    """Remove what is damaged, replaced, abandoned or beyond the size limit; lists `in_use` stay."""
    now = time.time()
    lists = read_lists(folder)
    newest = {(held.version, source.path): path for path, held in lists.items() if held for source in held.sources}
    kept: list[tuple[float, int, Path]] = []
    for path, held in lists.items():
        try:
            unused = (now - path.stat().st_mtime) / DAY
        except OSError:
            continue
        if path in in_use:
            kept.append((0.0, held.segment.size if held else 0, path))
        elif (
            held is None
            or unused > UNUSED
            or all(newest[held.version, source.path] != path for source in held.sources)
            or (unused > ORPHANED and not any(Path(source.path).exists() for source in held.sources))
        ):
            remove(path)
        else:
            kept.append((unused, held.segment.size, path))
    excess = sum(size for _, size, _ in kept) - MOST
    for _, size, path in sorted(kept, reverse=True):
        if excess > 0 and path not in in_use:
            remove(path)
            excess -= size
    _remove_remains(folder, now)


def _remove_remains(folder: Path, now: float) -> None:
    """Remove files that an audit left unfinished; younger ones may be another audit's that is about to finish them."""
    for path in folder.iterdir():
        is_remains = path.suffix == ".part" or (path.suffix == ".parquet" and not path.with_suffix(".json").exists())
        with contextlib.suppress(OSError):
            if is_remains and now - path.stat().st_mtime > DAY:
                path.unlink()

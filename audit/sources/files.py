"""Files in folders and archives, looked at in the same way."""

from __future__ import annotations

import errno
import functools
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from audit.engine.paths import plainly
from audit.output.errors import AuditError, UsageError, count
from audit.remote.urls import RemotePath
from audit.sources.archives import ArchiveError, Member, members
from audit.sources.intake import Intake
from audit.vocabulary.endings import ARCHIVES, PACK
from collector.system.regular_files import open_regular, read_all


def beside(path: Path, ending: str) -> Path:
    """A file beside a folder, an archive or a pack, under its name with another ending: `data/runs` + ending."""
    if isinstance(path, RemotePath):
        raise UsageError(f"{path}: nothing is read or written beside what a URL names; name the file with an option")
    given = path if path.name not in {"", ".."} else path.resolve()
    own = next((each for each in (PACK, *ARCHIVES) if given.name.endswith(each)), "")
    return given.with_name(given.name.removesuffix(own) + ending)


@dataclass(frozen=True, slots=True)
class Found:
    """A file, on disk or in an archive.

    `label` is what people know it by; `real` is the same however its folder was named; `parts` are the names of its
    folders and its own, outermost first; `path` is None in an archive, where a file can only be read before the next
    one is requested.
    """

    label: str
    real: str
    parts: tuple[str, ...]
    path: Path | None
    open: Callable[[], IO[bytes]]

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.parts[-1]

    @property
    def folder(self) -> tuple[str, ...]:
        """The folder that the file is in."""
        return self.parts[:-1]

    def read(self, most: int) -> bytes:
        """The whole file.

        Args:
            most: bytes of the largest one that is read.

        Raises:
            OSError: it cannot be read, or is larger.
        """
        with self.open() as stream:
            return read_all(stream, most)


def find_files(path: Path, intake: Intake) -> Iterator[Found]:
    """Every file below a folder or in an archive, or a pack; what cannot be looked at is a problem of the intake's.

    Raises:
        AuditError: the path does not exist, or is neither a folder nor an archive nor a pack.
    """
    if path.is_dir():
        yield from _in_folder(path, intake)
    elif path.name.endswith(ARCHIVES) and path.is_file():
        yield from _in_archive(path, intake)
    elif path.name.endswith(PACK) and path.is_file():
        parts = _parts(path)
        yield Found(
            str(path), os.path.realpath(path), parts, plainly(_local(path)), functools.partial(open_regular, path)
        )
    elif path.exists() and not path.is_file():
        raise AuditError(f"{path}: a pipe or device; write what it gives to a file, and name that")
    elif path.exists():
        raise AuditError(f"{path}: neither a folder nor an archive ({', '.join(ARCHIVES)}) nor a pack ({PACK})")
    else:
        raise AuditError(f"{path}: no such folder or archive")


def _in_folder(root: Path, intake: Intake) -> Iterator[Found]:
    def unreadable(error: OSError) -> None:
        intake.problem(str(error.filename), None, f"cannot be looked into ({error.strerror})")

    real_root = os.path.realpath(root)
    linked: list[str] = []
    for folder, folders, names in os.walk(root, onerror=unreadable):
        folders.sort()
        here = type(root)(folder)
        real = Path(real_root, here.relative_to(root))
        # The folder names above a single run folder identify it, hence the absolute path.
        parts = _parts(here)
        linked += [str(here / name) for name in folders if _leads_out(Path(folder, name), real_root)]
        # A folder that bears a record file's name is passed on, for its source to report that it cannot be read.
        for name in sorted([*names, *(folder for folder in folders if folder.endswith((".jsonl", ".json", ".txt")))]):
            path = here / name
            opened = functools.partial(open_regular, path)
            yield Found(str(path), f"{real}/{name}", (*parts, name), plainly(_local(path)), opened)
    if linked:
        more = f" and {len(linked) - 1} more" if len(linked) > 1 else ""
        intake.notes.append(f"left out: {count(len(linked), 'linked folder')} ({linked[0]}{more})")


def _leads_out(folder: Path, root: str) -> bool:
    """Whether a folder is a link to what is neither below the root, and read anyway, nor around it."""
    if not folder.is_symlink():
        return False
    real = folder.resolve()
    return not (real.is_relative_to(root) or Path(root).is_relative_to(real))


def _parts(path: Path) -> tuple[str, ...]:
    """The names of a path's folders and its own, from the root of the disk or the URL."""
    if isinstance(path, RemotePath):
        return tuple(str(path).split("/"))
    return Path(os.path.abspath(path)).parts  # noqa: PTH100 - where a link leads says nothing of its name


def _local(path: Path) -> Path:
    """The path as the rest of the program knows it, where only labels name URLs."""
    return path.as_local() if isinstance(path, RemotePath) else path


def _in_archive(path: Path, intake: Intake) -> Iterator[Found]:
    real = os.path.realpath(path)
    own = next(ending for ending in ARCHIVES if path.name.endswith(ending))
    folder = (*_parts(path)[:-1], path.name.removesuffix(own))
    room = _Room(intake.directory)
    try:
        for member in members(path):
            parts = tuple(part for part in member.name.split("/") if part not in ("", "."))
            name = "/".join(parts)
            opened = functools.partial(room.open, member)
            yield Found(f"{path}!{name}", f"{real}!{name}", (*folder, *parts), None, opened)
    except ArchiveError as error:
        intake.problem(str(path), None, f"the archive cannot be read to its end ({error})")


class _Room:
    """Keeps what is read of an archive, and may be kept in the temporary folder, from filling the disk."""

    def __init__(self, directory: Path) -> None:
        self._left = shutil.disk_usage(directory).free // 2

    def open(self, member: Member) -> IO[bytes]:
        """Open a member for which there is room."""
        self._left -= member.size
        if self._left < 0:
            raise OSError(errno.ENOSPC, "the archive would fill half of the disk with the temporary folder; set TMPDIR")
        return member.open()

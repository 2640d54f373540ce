"""What people name, a folder, an archive, a pack or a URL: where it is on this machine, and which files are in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError, Problem, UsageError, count
from audit.records.remote import copy_of, fetch, is_url, shown
from audit.vocabulary.endings import ARCHIVES, PACK
from collector.system.regular_files import read_regular

_RECORDS: Final = (".jsonl", ".json", ".txt")
"""Endings of files of records; a folder with such a name is found as if it were a file, and cannot be read."""


@dataclass(frozen=True, slots=True)
class Located:
    """Where something that was named is on this machine.

    `label` is what people know it by: the path as they gave it, or the URL without its secrets. `parts` are the names
    of the folders that it is in and its own, an archive's without the ending: they tell single runs apart.
    """

    label: str
    path: Path
    parts: tuple[str, ...]
    is_archive: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A file of records.

    `label` is what people know it by, `real` the same however its folder was named, and `parts` are the names of its
    folders and its own, outermost first.
    """

    label: str
    real: str
    parts: tuple[str, ...]
    path: Path

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
        return read_regular(self.path, most)


def label_of(given: str | Path) -> str:
    """What people know a path or a URL by."""
    return shown(str(given)) if is_url(given) else str(Path(given))


def local_path(given: str | Path) -> Path:
    """Where a path leads on this machine; a URL to the copy of what it names, which may not be made yet.

    Raises:
        UsageError: the URL names nothing.
    """
    return copy_of(str(given)) if is_url(given) else Path(given)


def locate(given: str | Path, *, cache: bool = True) -> Located:
    """Find a folder, an archive or a pack; what a URL names is copied to this machine.

    Args:
        given: a path or a URL.
        cache: whether what was copied before is used where it has not changed.

    Raises:
        UsageError: the URL is of an unknown kind, or needs packages that are not installed.
        AuditError: nothing is there, or something else.
    """
    label = label_of(given)
    path = fetch(str(given), cache=cache) if is_url(given) else Path(os.path.abspath(given))  # noqa: PTH100 - no links
    parts = tuple(label.split("/")) if is_url(given) else path.parts
    if path.is_dir():
        return Located(label, path, parts)
    if not path.exists():
        raise AuditError(f"{label}: no such folder or archive")
    if not path.is_file():
        raise AuditError(f"{label}: a pipe or device; write what it gives to a file, and name that")
    if path.name.endswith(PACK):
        return Located(label, path, parts)
    ending = next((each for each in ARCHIVES if path.name.endswith(each)), None)
    if ending is None:
        raise AuditError(f"{label}: neither a folder nor an archive ({', '.join(ARCHIVES)}) nor a pack ({PACK})")
    return Located(label, path, (*parts[:-1], parts[-1].removesuffix(ending)), is_archive=True)


def find_files(located: Located, root: Path, problems: list[Problem], notes: list[str]) -> Iterator[Found]:
    """Find every file of a folder or an unpacked archive, or the one of a pack.

    Args:
        located: what was named.
        root: its path, or the folder that an archive was unpacked into.
        problems: takes folders that cannot be looked into.
        notes: takes what is left out on purpose.
    """
    real_root = os.path.realpath(located.path)
    if root.is_file():
        yield Found(located.label, real_root, located.parts, root)
        return
    around, start = os.path.realpath(root), f"{located.label}!" if located.is_archive else _within(located.label)
    linked: list[str] = []

    def label(path: str) -> str:
        return f"{start}{path[len(str(root)) :].lstrip(os.sep)}" or located.label

    def unreadable(error: OSError) -> None:
        problems.append(Problem(label(str(error.filename)), None, f"cannot be looked into ({error.strerror})"))

    for folder, folders, names in os.walk(root, onerror=unreadable):
        folders.sort()
        linked += [label(path) for name in folders if _leads_out(path := f"{folder}{os.sep}{name}", around)]
        below = Path(folder).relative_to(root).parts
        real = f"{real_root}!" if located.is_archive else _within(real_root)
        for name in sorted([*names, *(each for each in folders if each.endswith(_RECORDS))]):
            parts = (*below, name)
            inner = "/".join(parts)
            yield Found(f"{start}{inner}", f"{real}{inner}", (*located.parts, *parts), Path(folder, name))
    if linked:
        more = f" and {len(linked) - 1} more" if len(linked) > 1 else ""
        notes.append(f"left out: {count(len(linked), 'linked folder')} ({linked[0]}{more})")


def file_of(label: str, paths: Sequence[str | Path]) -> Path:
    """The file on this machine that a label names; that of an archive's or a pack's member is not there.

    Args:
        label: of a file below one of the paths.
        paths: what people named.
    """
    for path in paths:
        if is_url(path) and label.startswith(start := _within(label_of(path))):
            return local_path(path) / label.removeprefix(start)
    return Path(label)


def beside(given: str | Path, ending: str) -> Path:
    """A file beside a folder, an archive or a pack, under its name with another ending: `data/runs` + ending.

    Raises:
        UsageError: it is elsewhere.
    """
    if is_url(given):
        named = label_of(given)
        raise UsageError(f"{named}: nothing is read or written beside what a URL names; name the file with an option")
    path = Path(given) if Path(given).name not in {"", ".."} else Path(given).resolve()
    own = next((each for each in (PACK, *ARCHIVES) if path.name.endswith(each)), "")
    return path.with_name(path.name.removesuffix(own) + ending)


def _within(folder: str) -> str:
    """What the names of files in a folder begin with."""
    return "" if folder == "." else f"{folder.rstrip('/')}/"


def _leads_out(folder: str, root: str) -> bool:
    """Whether a folder is a link to what is neither below the root, and read anyway, nor around it."""
    if not os.path.islink(folder):  # noqa: PTH114 - there are thousands
        return False
    real = Path(folder).resolve()
    return not (real.is_relative_to(root) or Path(root).is_relative_to(real))

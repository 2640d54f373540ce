"""Stars, tags and notes on revisions: a line of JSON for each change, in one file beside the records.

Lines are only added, and what they say is that of the latest one, by time and then by `id`. So the files of two people
may be put together in any order, as git does with `merge=union`, and lines that are there twice change nothing.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from audit.output.errors import AuditError, Problem, UsageError
from audit.output.escaping import in_line
from audit.remote.urls import RemotePath
from audit.vocabulary.keys import RevisionKey
from collector.system.regular_files import RECORDS, read_regular

NAME: Final = "audit-marks.jsonl"
LONGEST_TAG: Final = 64
LONGEST_NOTE: Final = 10_000
_TAG: Final = re.compile(r"[^\s\x00-\x1f\x7f](?:[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?")


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the file.

    Attributes:
        id: of the change.
        at: when it was made, in UTC.
        revision: condition, task, method, run and iteration.
        star: whether the revision has a star from now on; None where the change is another.
        tag: a tag that it has from now on, or has no longer where `removed`.
        removed: see above.
        note: what is noted of it from now on; empty for no longer anything.
    """

    id: str
    at: datetime
    revision: tuple[str, str, str, int, int]
    star: bool | None = None
    tag: str | None = None
    removed: bool = False
    note: str | None = None


@dataclass
class Mark:
    """What is marked at a revision."""

    star: bool = False
    tags: set[str] = field(default_factory=set)
    note: str = ""

    def __bool__(self) -> bool:
        return self.star or bool(self.tags) or bool(self.note)


class Marks:
    """The marks in a file, which need not be there; read again whenever it has changed.

    Args:
        path: of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._stamp: tuple[int, int] | None = None
        self._marks: dict[RevisionKey, Mark] = {}

    def all(self) -> dict[RevisionKey, Mark]:
        """The marks by their revisions.

        Raises:
            AuditError: the file cannot be read.
        """
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._stamp, self._marks = None, {}
            return {}
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp != self._stamp:
            try:
                lines = read_regular(self.path, RECORDS).splitlines()
            except OSError as error:
                raise AuditError(f"{self.path}: cannot be read ({error.strerror or error})") from None
            self.problems = []
            self._marks = _folded(self._changes(lines))
            self._stamp = stamp
        return self._marks

    def _changes(self, lines: Iterable[bytes]) -> Iterable[Change]:
        decoder = msgspec.json.Decoder(Change)
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    yield decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    self.problems.append(Problem(str(self.path), number, f"no mark ({in_line(str(error))}); left out"))

    def chosen(self, *, tags: Sequence[str] = (), starred: bool = False) -> list[RevisionKey]:
        """The revisions that have one of some tags, and, where that is asked for, a star."""
        return sorted(
            key
            for key, mark in self.all().items()
            if (not tags or not mark.tags.isdisjoint(tags)) and (mark.star or not starred)
        )

    def add(
        self,
        key: RevisionKey,
        *,
        star: bool | None = None,
        tag: str | None = None,
        removed: bool = False,
        note: str | None = None,
    ) -> None:
        """Write a change; a crash meanwhile spoils its own line at most.

        Raises:
            UsageError: it is no tag, or too long.
            AuditError: the file cannot be written.
        """
        if tag is not None and not (len(tag) <= LONGEST_TAG and _TAG.fullmatch(tag)):
            raise UsageError(f"a tag has 1 to {LONGEST_TAG} characters in one line, none of them blank at its ends")
        if note is not None and len(note) > LONGEST_NOTE:
            raise UsageError(f"a note of {len(note):,} characters; {LONGEST_NOTE:,} are the most")
        change = Change(
            id=uuid.uuid4().hex,
            at=datetime.now(UTC),
            revision=(key.condition, key.env, key.variant, key.run, key.iteration),
            star=star,
            tag=tag,
            removed=removed,
            note=note,
        )
        try:
            with self.path.open("ab+") as file:
                file.seek(0, os.SEEK_END)
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                torn = b"" if not file.tell() or file.read(1) == b"\n" else b"\n"
                file.write(torn + msgspec.json.encode(change) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise AuditError(f"{self.path}: cannot be written ({error.strerror or error})") from None


def _folded(changes: Iterable[Change]) -> dict[RevisionKey, Mark]:
    marks: dict[RevisionKey, Mark] = {}
    for change in sorted(changes, key=lambda each: (each.at, each.id)):
        mark = marks.setdefault(RevisionKey(*change.revision), Mark())
        if change.star is not None:
            mark.star = change.star
        if change.tag is not None:
            (mark.tags.discard if change.removed else mark.tags.add)(change.tag)
        if change.note is not None:
            mark.note = change.note
    return {key: mark for key, mark in marks.items() if mark}


def marks_beside(paths: Sequence[Path]) -> Marks | None:
    """The marks in the first folder of some records; None where that is an archive, a pack or a URL."""
    first = paths[0] if paths else None
    return None if first is None or isinstance(first, RemotePath) or not first.is_dir() else Marks(first / NAME)

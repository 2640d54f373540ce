"""Stars, tags and notes on revisions: a line of JSON for each change, in one file beside the records.

Lines are only added, and what they say is that of the latest one, by time and then by `id`. So the files of two people
may be put together in any order, as git does with `merge=union`, and lines that are there twice change nothing.
"""

from __future__ import annotations

import errno
import getpass
import os
import threading
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import msgspec

from audit.output.errors import AuditError, Problem, UsageError
from audit.output.escaping import in_line
from audit.records.cache import MARKS
from audit.records.locating import local_path
from audit.records.remote import is_url
from audit.vocabulary.keys import RevisionKey
from collector.errors import cannot_write
from collector.system.regular_files import RECORDS, open_regular, read_regular

NAME: Final = MARKS
LONGEST_TAG: Final = 64
LONGEST_NOTE: Final = 10_000
LONGEST_NAME: Final = 64
"""Characters of an author's name."""

_Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


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
        author: who made the change, where that is stated.
    """

    id: str
    at: Annotated[datetime, msgspec.Meta(tz=True)]
    revision: tuple[str, str, str, _Number, _Number]
    star: bool | None = None
    tag: str | None = None
    removed: bool = False
    note: str | None = None
    author: str | None = None


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
        author: of the changes that are made; None for the user's login.

    Raises:
        UsageError: the author's name is too long, or not one line.
    """

    def __init__(self, path: Path, author: str | None = None) -> None:
        if author is not None and not _is_label(author, LONGEST_NAME):
            raise UsageError(f"an author's name has 1 to {LONGEST_NAME} characters in one line")
        self.path = path
        self._author = author
        self._reading = threading.Lock()
        self.problems: list[Problem] = []
        self._stamp: tuple[int, int] | None = None
        self._marks: dict[RevisionKey, Mark] = {}

    def all(self) -> dict[RevisionKey, Mark]:
        """The marks by their revisions.

        Raises:
            AuditError: the file cannot be read.
        """
        with self._reading:
            try:
                status = self.path.stat()
                stamp = (status.st_size, status.st_mtime_ns)
                if stamp != self._stamp:
                    lines = read_regular(self.path, RECORDS).split(b"\n")
                    self.problems = []
                    self._marks = _folded(self._changes(lines))
                    self._stamp = stamp
            except (FileNotFoundError, NotADirectoryError):
                self._stamp, self._marks, self.problems = None, {}, []
            except OSError as error:
                raise AuditError(f"{self.path}: cannot be read ({error.strerror or error})") from None
            return self._marks

    def _changes(self, lines: Iterable[bytes]) -> Iterable[Change]:
        decoder = msgspec.json.Decoder(Change)
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    change = decoder.decode(line)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                    self._leave_out(number, str(error))
                    continue
                if change.tag is not None and not _is_label(change.tag, LONGEST_TAG):
                    self._leave_out(number, "its tag is too long, or not one line of text")
                elif len(change.note or "") > LONGEST_NOTE:
                    self._leave_out(number, "its note is too long")
                else:
                    yield change

    def _leave_out(self, line: int, reason: str) -> None:
        self.problems.append(Problem(str(self.path), line, f"no mark ({in_line(reason)}); left out"))

    def why_not(self) -> str:
        """Why nothing can be marked; empty where it can."""
        if self.path.is_symlink():  # records of others could have it lead anywhere
            return f"{self.path} is a link; name the file that it leads to with --marks"
        place = self.path if self.path.exists() else self.path.parent
        return "" if os.access(place, os.W_OK) else f"{place} cannot be written; name another file with --marks"

    def chosen(self, *, tags: Sequence[str] = (), starred: bool = False) -> list[RevisionKey]:
        """The revisions that have one of some tags, and, where that is asked for, a star."""
        return sorted(
            key
            for key, mark in self.all().items()
            if (not tags or not mark.tags.isdisjoint(tags)) and (mark.star or not starred)
        )

    def add(
        self,
        *keys: RevisionKey,
        star: bool | None = None,
        tag: str | None = None,
        removed: bool = False,
        note: str | None = None,
    ) -> None:
        """Write a change of one revision, or the same one of several; a crash meanwhile tears its last line at most.

        Raises:
            UsageError: it is no tag, or too long, or nothing is changed.
            AuditError: the file cannot be written.
        """
        if star is None and tag is None and note is None:
            raise UsageError("nothing to mark: give a star, a tag or a note")
        if tag is not None and not _is_label(tag, LONGEST_TAG):
            raise UsageError(f"a tag has 1 to {LONGEST_TAG} characters in one line, none of them blank at its ends")
        if note is not None and len(note) > LONGEST_NOTE:
            raise UsageError(f"a note of {len(note):,} characters; {LONGEST_NOTE:,} are the most")
        changes = [
            Change(
                id=uuid.uuid4().hex,
                at=datetime.now(UTC),
                revision=(key.condition, key.env, key.variant, key.run, key.iteration),
                star=star,
                tag=tag,
                removed=removed,
                note=note,
                author=self._author or _login(),
            )
            for key in keys
        ]
        if reason := self.why_not():
            raise AuditError(reason)
        try:
            self._append(b"".join(msgspec.json.encode(change) + b"\n" for change in changes))
        except OSError as error:
            raise AuditError(cannot_write(self.path, error, "--marks")) from None

    def _append(self, lines: bytes) -> None:
        """Write lines at once, so that those of another viewer come before or behind them, behind a torn one too."""
        with open_regular(self.path, "ab+") as file:  # without a buffer
            if size := file.seek(0, os.SEEK_END):
                file.seek(size - 1)
                lines = lines if file.read(1) == b"\n" else b"\n" + lines
            if file.write(lines) < len(lines):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(file.fileno())


def _is_label(text: str, longest: int) -> bool:
    """Whether a text is one line that is shown as it is, without blanks at its ends."""
    return 0 < len(text) <= longest and text == text.strip() and in_line(text) == text


def _login() -> str | None:
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container's user need not have a name
        return None
    return name if _is_label(name, LONGEST_NAME) else None


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


def marks_for(paths: Sequence[str | Path], file: str | Path | None = None, author: str | None = None) -> Marks | None:
    """The marks of some records.

    Args:
        paths: the records.
        file: where their marks are; None for beside them.
        author: as `Marks` has it.

    Returns:
        Those in the file, or in the first folder; None where all records are archives, packs and URLs.

    Raises:
        UsageError: the author's name cannot be one, or the file's folder is not there.
    """
    if file is not None and not Path(file).absolute().parent.is_dir():
        raise UsageError(f"--marks {file}: {Path(file).parent} is not a folder")
    if file is not None:
        return Marks(Path(file).resolve(), author)
    known = (local_path(path) for path in paths if not is_url(path))
    folder = next((path for path in known if path.is_dir()), None)
    return None if folder is None else Marks(folder / NAME, author)

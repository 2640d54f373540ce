"""New revisions of records that are still being written, each once.

Lines that are added to native records are read alone, from where the last reading ended. Other tools write their files
anew, so these are read again as a whole, of which only unknown revisions count.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError, Problem, UsageError, refuse_problems
from audit.request import noted
from audit.store import open_store, rows_of
from audit.vocabulary.keys import RevisionKey
from audit.vocabulary.reading import Reading
from audit.watching.changes import DESCRIPTION, NATIVE, Changes, Stamp, stamp_of
from collector.system.stopping import temporary_folder

if TYPE_CHECKING:
    from audit.request import Request
    from audit.store import Store

COLUMNS: Final = (*RevisionKey._fields, "r0", "r1", "delta", "direction", "pattern", "cites", "strict")
"""What is known of each revision."""
Revision = dict[str, Any]
"""A row of `COLUMNS`."""


@dataclass
class Follower:
    """Reads what is added below some folders.

    Attributes:
        request: the folders, how they are read, and which groups count.
        detector: by which citing is decided, once there are records.
        about: what citing is about, likewise.
        notes: see `take_notes`.
    """

    request: Request
    detector: str | None = None
    about: str | None = None
    notes: list[str] = field(default_factory=list)
    _known: set[RevisionKey] = field(default_factory=set)
    _read_to: dict[Path, int] = field(default_factory=dict)
    _unread: dict[Path, Stamp | None] = field(default_factory=dict)
    _reported: set[Problem | str] = field(default_factory=set)
    _changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        for path in self.request.paths:
            if not path.exists():
                raise AuditError(f"{path}: no such folder")
            if not path.is_dir():
                raise UsageError(f"{path}: only a folder can be followed")
        self._changes = Changes(self.request.paths)

    def begin(self, *, is_final: bool = False) -> list[Revision]:
        """The revisions that are there; none where there are no records yet.

        Args:
            is_final: whether nothing more is waited for.

        Raises:
            AuditError: `is_final`, and there are no records, or none with a selected name; the request is strict, and
                there are problems.
        """
        return self._all(self._changes.look(), is_final=is_final)

    def poll(self) -> list[Revision]:
        """The revisions that were added since the last call, in the order of runs and iterations.

        Raises:
            AuditError: the request is strict, and there are problems.
        """
        changed = self._changes.look() | {
            path for path, stamp in self._unread.items() if stamp_of(path.with_name(DESCRIPTION)) != stamp
        }
        if not changed:
            return []
        described = {path for path in changed if path.name == NATIVE and path.with_name(DESCRIPTION).exists()}
        shorter = {path for path in described if self._changes.size_of(path) < self._read_to.get(path, 0)}
        self.notes += [f"{path} was written anew; what it had before stays counted" for path in sorted(shorter)]
        if self.detector is None or changed - described or shorter:
            return self._all(changed)
        return self._added(described)

    def take_notes(self) -> list[str]:
        """What the user should know of the records, each line once."""
        notes, self.notes = self.notes, []
        return notes

    def _all(self, changed: Iterable[Path], *, is_final: bool = False) -> list[Revision]:
        # Noted before reading: lines that come while it reads are read next time, and are the same then.
        files = [path for path in changed if path.name == NATIVE]
        ends = {path: (_last_line_end(path), stamp_of(path.with_name(DESCRIPTION))) for path in files}
        request = replace(self.request if self.detector is None else self._decided(), strict=False)
        try:
            store = request.read() if is_final else request.suited()[0]
        except UsageError:
            raise
        except AuditError as error:
            if is_final:
                raise
            self._note(ends, set())
            self._report([str(error) if self._changes.has_files else "waiting for the first revision"])
            return []
        with store:
            if self.detector is None:
                self._report([request.caption(store) or ""])
            self._take_problems(store.problems)
            self._note(ends, {Path(file) for file in _files(store)})
            return self._new(store)

    def _decided(self, **changes: Any) -> Request:
        return replace(self.request, detector=self.detector, about=self.about, **changes)

    def _added(self, paths: Iterable[Path]) -> list[Revision]:
        """The revisions of lines that were added, read without the lines before them."""
        with temporary_folder("audit-watch-") as folder:
            ends: dict[Path, tuple[int, Stamp | None]] = {}
            copies: dict[str, Path] = {}
            for number, path in enumerate(sorted(paths)):
                start, end = self._read_to.get(path, 0), _last_line_end(path)
                stamp = stamp_of(path.with_name(DESCRIPTION))
                if path in self._unread:
                    self._unread[path] = stamp
                if end > start:
                    run = folder / str(number)
                    run.mkdir()
                    ends[path] = end, stamp
                    (run / DESCRIPTION).write_bytes(path.with_name(DESCRIPTION).read_bytes())
                    with path.open("rb") as stream:
                        stream.seek(start)
                        (run / NATIVE).write_bytes(stream.read(end - start))
                    copies[str(run / NATIVE)] = path
            if not ends:
                return []
            reading: Reading = self._decided(cache=False, strict=False).reading(plans=(), judgements=())
            found: list[Revision] = []
            held: set[Path] = set()
            try:
                with open_store([folder], reading) as store:
                    found = self._new(store)
                    held = {copies[file] for file in _files(store)}
                    problems = [(Path(each.file).parent / NATIVE, each.message) for each in store.problems]
            except AuditError as error:  # nothing of it can be read
                problems = [(Path(file), str(error).partition("\n")[0]) for file in copies]
            self._note(ends, held)
            self._take_problems([Problem(str(copies.get(str(copy), copy)), None, text) for copy, text in problems])
            return found

    def _note(self, ends: Mapping[Path, tuple[int, Stamp | None]], held: Collection[Path]) -> None:
        """Note up to where native records are read.

        Of a file of which nothing was read its description is missing or unfinished, and all of it is read again.

        Args:
            ends: where each ended, and the stamp of its description.
            held: those of which something was read.
        """
        for path, (end, stamp) in ends.items():
            if path in held or self._read_to.get(path, 0):
                self._read_to[path] = end
                self._unread.pop(path, None)
            else:
                self._unread[path] = stamp

    def _take_problems(self, problems: Sequence[Problem]) -> None:
        """Report problems.

        Raises:
            AuditError: the request is strict, and there are some.
        """
        if self.request.strict:
            refuse_problems(problems)
        new = [each for each in problems if each not in self._reported]
        self._reported.update(new)
        self.notes += noted([], new)

    def _report(self, lines: Iterable[str]) -> None:
        new = [line for line in lines if line and line not in self._reported]
        self._reported.update(new)
        self.notes += new

    def _new(self, store: Store) -> list[Revision]:
        self.detector, self.about = store.detector, store.about
        relation = self.request.select(store.relation("viewed_revisions"))
        rows = rows_of(relation.select(", ".join(COLUMNS)).order(", ".join(RevisionKey._fields)))
        new = []
        for row in rows:
            key = RevisionKey(*(row[name] for name in RevisionKey._fields))
            if key not in self._known:
                self._known.add(key)
                new.append(row)
        return new


def _files(store: Store) -> list[str]:
    """The files of which something was read."""
    return [file for (file,) in store.relation("episodes").select("file").distinct().fetchall()]


def _last_line_end(path: Path) -> int:
    """Where the last complete line of a file ends; 0 where there is none."""
    step = 2**16
    with contextlib.suppress(OSError), path.open("rb") as stream:
        end = stream.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - step)
            stream.seek(start)
            place = stream.read(end - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
    return 0

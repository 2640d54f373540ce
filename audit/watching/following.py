"""New revisions of records that are still being written, each once.

Lines that are added to native records are read alone, from where the last reading ended. Other tools write their files
anew, so these are read again as a whole, of which only unknown revisions count.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError, UsageError
from audit.store import open_store, rows_of
from audit.vocabulary.keys import RevisionKey
from audit.vocabulary.reading import Reading
from audit.watching.changes import DESCRIPTION, NATIVE, Changes
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
    """

    request: Request
    detector: str | None = None
    about: str | None = None
    _known: set[RevisionKey] = field(default_factory=set)
    _read_to: dict[Path, int] = field(default_factory=dict)
    _changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        for path in self.request.paths:
            if not path.exists():
                raise AuditError(f"{path}: no such folder")
            if not path.is_dir():
                raise UsageError(f"{path}: only a folder can be followed")
        self._changes = Changes(self.request.paths)

    def begin(self) -> list[Revision]:
        """The revisions that are there; none where there are no records yet."""
        changed = self._changes.look()
        self._note_ends(changed)
        return self._all()

    def poll(self) -> list[Revision]:
        """The revisions that were added since the last call, in the order of runs and iterations."""
        changed = self._changes.look()
        if not changed:
            return []
        added = {path for path in changed if path.name == NATIVE and self._is_longer(path)}
        if self.detector is None or changed - added:
            self._note_ends(changed)
            return self._all()
        return self._added(added)

    def _is_longer(self, path: Path) -> bool:
        return path.with_name(DESCRIPTION).exists() and self._changes.size_of(path) >= self._read_to.get(path, 0)

    def _note_ends(self, changed: Iterable[Path]) -> None:
        """Note up to where native records are read by whatever reads them whole from now on."""
        for path in changed:
            if path.name == NATIVE:
                self._read_to[path] = _last_line_end(path)

    def _all(self) -> list[Revision]:
        request = self.request if self.detector is None else self._decided(cache=self.request.cache)
        try:
            store, _ = request.suited()
        except UsageError:
            raise
        except AuditError:
            return []  # nothing is finished yet
        with store:
            return self._new(store)

    def _decided(self, **changes: Any) -> Request:
        return replace(self.request, detector=self.detector, about=self.about, **changes)

    def _added(self, paths: Iterable[Path]) -> list[Revision]:
        """The revisions of lines that were added, read without the lines before them."""
        with temporary_folder("audit-watch-") as folder:
            ends: dict[Path, int] = {}
            for number, path in enumerate(sorted(paths)):
                start, end = self._read_to.get(path, 0), _last_line_end(path)
                if end > start:
                    run = folder / str(number)
                    run.mkdir()
                    (run / DESCRIPTION).write_bytes(path.with_name(DESCRIPTION).read_bytes())
                    with path.open("rb") as stream:
                        stream.seek(start)
                        (run / NATIVE).write_bytes(stream.read(end - start))
                    ends[path] = end
            if not ends:
                return []
            reading: Reading = self._decided(cache=False).reading(plans=(), judgements=())
            try:
                with open_store([folder], reading) as store:
                    found = self._new(store)
            except AuditError:
                found = []  # lines that cannot be read, which `audit check` reports
            self._read_to.update(ends)
            return found

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


def _last_line_end(path: Path) -> int:
    """Where the last complete line of a file ends."""
    step = 2**16
    with path.open("rb") as stream:
        end = stream.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - step)
            stream.seek(start)
            place = stream.read(end - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
    return 0

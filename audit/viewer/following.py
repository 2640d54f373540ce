"""How many revisions there are in records that are still being written: counted again when a file has changed."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audit.marks.marks import NAME as MARKS
from audit.output.errors import AuditError, UsageError
from audit.output.notes import note
from audit.records.locating import label_of
from audit.records.remote import is_url
from audit.sources.prompts import CALLS

if TYPE_CHECKING:
    from audit.options import Options

PAUSE: Final = 0.7
"""Seconds between two looks at least."""
SHARE: Final = 0.25
"""Maximum share of a core that looks take, where a look takes long."""
IGNORED: Final = frozenset({MARKS, CALLS})
"""Names of files that change without a new revision."""

FileState = tuple[int, int]
"""A file's size and time."""


class Follower:
    """Counts the revisions of some folders.

    Attributes:
        revisions: how many there were at the last look.

    Args:
        options: the folders, how they are read, and which groups count.

    Raises:
        AuditError: there is no such folder.
        UsageError: a path is none.
    """

    def __init__(self, options: Options) -> None:
        self._folders = [Path(path) for path in options.paths]
        for path, folder in zip(map(label_of, options.paths), self._folders, strict=True):
            if is_url(path) or folder.is_file():
                raise UsageError(f"{path}: only a folder can be followed")
            if not folder.is_dir():
                raise AuditError(f"{path}: no such folder")
        self.revisions = 0
        self.pause = PAUSE
        """Seconds until the next look."""
        self._options = replace(options, strict=False)
        self._states: dict[str, FileState] = {}

    def look(self) -> None:
        """Count the revisions again if a file is new, changed or gone.

        Raises:
            AuditError: the records cannot be read, or there are none yet.
        """
        started = time.thread_time()  # on a busy machine a look lasts longer, and costs as much
        try:
            states = self._file_states()
            if states != self._states:
                self._states = states  # before reading: what is written meanwhile is read at the next look
                with self._options.suited() as store:
                    rows = self._options.select(store.relation("viewed_revisions"))
                    [(self.revisions,)] = rows.aggregate("count(*)").fetchall()
        finally:
            self.pause = max(PAUSE, (time.thread_time() - started) / SHARE)

    def wait(self) -> None:
        """Return when there is a revision.

        Raises:
            UsageError: options that exclude each other.
        """
        is_said = False
        while True:
            try:
                self.look()
            except UsageError:
                raise
            except AuditError:  # no records yet, or unfinished ones
                pass
            if self.revisions:
                return
            if not is_said:
                note("waiting for the first revision")
                is_said = True
            time.sleep(self.pause)

    def _file_states(self) -> dict[str, FileState]:
        found = {}
        for root in self._folders:
            for folder, _, names in os.walk(root):
                for name in set(names) - IGNORED:
                    with contextlib.suppress(OSError):
                        status = os.stat(path := f"{folder}{os.sep}{name}")  # noqa: PTH116 - an object costs as much
                        found[path] = (status.st_size, status.st_mtime_ns)
        return found

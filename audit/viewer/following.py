"""How many revisions there are in records that are still being written: counted again when a file has changed."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from audit.marks.marks import NAME as MARKS
from audit.output.errors import AuditError, UsageError
from audit.request import note
from audit.sources.prompts import CALLS

if TYPE_CHECKING:
    from audit.request import Request

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
        request: the folders, how they are read, and which groups count.

    Raises:
        AuditError: there is no such folder.
        UsageError: a path is none.
    """

    def __init__(self, request: Request) -> None:
        for path in request.paths:
            if not path.exists():
                raise AuditError(f"{path}: no such folder")
            if not path.is_dir():
                raise UsageError(f"{path}: only a folder can be followed")
        self.revisions = 0
        self.pause = PAUSE
        """Seconds until the next look."""
        self._request = replace(request, strict=False)
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
                store, _ = self._request.suited()
                with store:
                    rows = self._request.select(store.relation("viewed_revisions"))
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
        for root in self._request.paths:
            for folder, _, names in os.walk(root):
                for name in set(names) - IGNORED:
                    with contextlib.suppress(OSError):
                        status = os.stat(path := f"{folder}{os.sep}{name}")  # noqa: PTH116 - an object costs as much
                        found[path] = (status.st_size, status.st_mtime_ns)
        return found

"""What a viewer shows: the open records, all their revisions in a table, and the files that were named beside them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from audit.marks.marks import Marks, marks_for
from audit.output.errors import UsageError
from audit.validation.coding.codes import codes_for
from audit.validation.coding.filling import Filling
from audit.viewer.query import Query
from audit.viewer.replay import Replays
from audit.viewer.table import RevisionTable
from collector.system.stopping import temporary_folder

if TYPE_CHECKING:
    from audit.options import Options


WARMED: Final = ("episodes", "thresholds", "edit_thresholds", "run_facts", "judgements", "critic_answers")


class Session(contextlib.AbstractContextManager["Session"]):
    """A context manager; its attributes are what the pages' functions read.

    Attributes:
        options: the options that the viewer was called with.
        task_modules: Python files of users' tasks.
        store: the records.
        table: all their revisions.
        replays: runs their policies again.
        lock: held while `store` is used, since its connection serves one query at a time.
        marks: stars, tags and notes; None where the records are in no folder.
        coding: the file of labels that is filled in; None where none was named.

    Args:
        options: as above.
        labels: the file of labels to fill in, and the other coder's if that is another one.
        coder: whose rows are filled in; None where the file has one coder.
        task_modules: Python files of users' tasks, for replays.
        marks: stars, tags and notes; None for those beside the records.

    Raises:
        UsageError: a coder without labels, no such coder in them, or a file of tasks that cannot be used.
        AuditError: the records or the labels cannot be read.
    """

    def __init__(
        self,
        options: Options,
        labels: Sequence[Path] = (),
        coder: str | None = None,
        task_modules: Sequence[Path] = (),
        marks: Marks | None = None,
    ) -> None:
        if coder is not None and not labels:
            raise UsageError("--coder selects rows of a file of labels; name it with --labels")
        self.options = options
        self.task_modules = task_modules
        self.lock = threading.Lock()
        self.marks = marks or marks_for(options.paths)
        self._known: dict[str, dict[str, Any]] = {}
        self._is_closed = False
        with contextlib.ExitStack() as resources:
            self.directory = resources.enter_context(temporary_folder("audit-view-"))
            self.store = resources.enter_context(options.open(all_detectors=True))
            codes = codes_for(self.store.detected_by)
            self.coding = Filling.opened(labels, coder, codes) if labels else None
            self.table = RevisionTable(self.store, _base(options), self.directory, self.lock, self.marks)
            resources.callback(self.table.close)
            self.replays = Replays(self.store, self.lock, task_modules)
            resources.callback(self.replays.close)
            self._resources = resources.pop_all()

    def once(self, name: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What a function of the records returns, called once whatever asks for it at the same time.

        What is known already waits for no lock, and so for nobody who reads the records.
        """
        if name not in self._known:
            with self.lock:
                if name not in self._known:
                    self._known[name] = compute()
        return self._known[name]

    def warm(self) -> None:
        """Build the relations that single revisions and searches are read from, so that the first one need not wait.

        An error is left to whoever asks for the relation.
        """
        for name in WARMED:
            with self.lock, contextlib.suppress(duckdb.Error):
                if self._is_closed:
                    return
                self.store.relation(name)

    def interrupt(self) -> None:
        """Stop the query that reads the records, and begin no other to make things ready."""
        self._is_closed = True
        self.store.interrupt()

    def close(self) -> None:
        """Close the records, and remove temporary files."""
        self.interrupt()
        with self.lock:
            self._resources.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def _base(options: Options) -> Query:
    """The revisions that the options select."""
    return Query(filters=tuple((name, tuple(map(str, values))) for name, values in options.filters()))

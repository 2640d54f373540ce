"""The texts of all answers beside the table of revisions, so that a word in a million of them is found in a second.

They are copied a part at a time beside the viewer's other work, and each part is kept with the analysis, under its
digest. Until the last one is there, and wherever nothing is kept, whoever searches reads the answers themselves.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from audit.engine.key_filter import one_of
from audit.remote.urls import RemotePath
from audit.vocabulary.keys import RevisionKey, RunKey

if TYPE_CHECKING:
    from audit.engine.shelf import Shelf
    from audit.store import Store

TEXT: Final = "lower(concat(revised.answer, chr(0), revised.thinking))"
"""What is searched in: an answer and its thinking, in small letters."""
REVISED: Final = "revised.source is not null"
"""Of which episodes: those with a revised candidate, told by a field of it, so that no other one is read."""
SMALLEST: Final = 2**27
"""Bytes of text from which on there is an index: fewer are read in half a second."""
LARGEST: Final = 2**31
"""Bytes of text up to which there is one; it is half as large, and so are all analyses that are kept together."""
PART: Final = 2**26
"""Bytes of text in a part."""


class _NotMadeError(Exception):
    """There is to be no index, or not now."""


class TextIndex:
    """The index of one store's answers; requests in several threads may ask it at once.

    Args:
        store: the records.
        lock: held while the store is used.
        cursor: a new connection to the database whose table `kept.viewer` has all revisions.
    """

    def __init__(self, store: Store, lock: threading.Lock, cursor: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._store = store
        self._lock = lock
        self._cursor = cursor
        self._parts = 0
        self._planned: list[list[RunKey]] | None = None
        self._is_given_up = False

    @property
    def is_whole(self) -> bool:
        """Whether it can be asked."""
        return 0 < self._parts == len(self._plan())

    @property
    def is_awaited(self) -> bool:
        """Whether it is being made, or will be, so that searches are slower as yet than they are with it."""
        return not self._is_given_up and self._shelf() is not None and self._parts < len(self._plan())

    def query(self, condition: str) -> str:
        """SQL for the `id` of each revision whose `text`, in small letters, meets a condition, once it is whole."""
        parts = (f"select id from part_{number}.texts where {condition}" for number in range(self._parts))
        return " union all ".join(parts)

    def take(self) -> None:
        """Take what is kept of it."""
        self._complete(None)

    def make(self, is_wanted: Callable[[], bool]) -> None:
        """Make and keep what is missing of it.

        Args:
            is_wanted: asked before each part; where it is not any longer, nothing more is made.
        """
        self._complete(is_wanted)

    def settle(self) -> None:
        """What is not there by now is not made any more."""
        self._is_given_up = True

    def _shelf(self) -> Shelf | None:
        """Where it is kept; None where there is none to be, as of records elsewhere, whose answers would be fetched."""
        return None if any(isinstance(path, RemotePath) for path in self._store.paths) else self._store.shelf

    def _complete(self, is_wanted: Callable[[], bool] | None) -> None:
        shelf = self._shelf()
        with contextlib.suppress(_NotMadeError, OSError, duckdb.Error):
            while shelf is not None and self._parts < len(self._plan()):
                name = f"texts-{self._parts:03}"
                if shelf.find(name) is None:
                    if is_wanted is None:
                        return
                    with shelf.room(name) as room:
                        if room is None:
                            return
                        self._write(room, self._plan()[self._parts], is_wanted)
                path = shelf.find(name)
                if path is None:
                    return
                quoted = str(path).replace("'", "''")
                # A file that is open may be removed by another audit.
                self._cursor().execute(f"attach '{quoted}' as part_{self._parts} (read_only)")
                self._parts += 1

    def _plan(self) -> list[list[RunKey]]:
        """The runs of each part; none where there are too few answers, or too many."""
        if self._planned is None:
            keys = ", ".join(RunKey._fields)
            size = "sum(coalesce(answer_bytes, 0) + coalesce(thinking_bytes, 0))::bigint"
            query = f"select {keys}, {size} from kept.viewer group by all order by min(id)"
            parts: list[list[RunKey]] = [[]]
            total = 0
            for *key, length in self._cursor().execute(query).fetchall():
                if total >= PART * len(parts):
                    parts.append([])
                parts[-1].append(RunKey(*key))
                total += length
            self._planned = parts if SMALLEST <= total <= LARGEST else []
        return self._planned

    def _write(self, path: Path, runs: Sequence[RunKey], is_wanted: Callable[[], bool]) -> None:
        with self._lock:
            if not is_wanted():
                raise _NotMadeError
            answers = self._answers(runs)
        cursor = self._cursor()
        cursor.register("answers", answers)
        quoted = str(path).replace("'", "''")
        cursor.execute(f"attach '{quoted}' as written")
        try:
            keys = ", ".join(RevisionKey._fields)
            joined = f"select id, text from answers join kept.viewer using ({keys})"
            cursor.execute(f"create table written.texts as {joined}")
        finally:
            cursor.execute("detach written")

    def _answers(self, runs: Sequence[RunKey]) -> Any:
        chosen = f"{REVISED} and {one_of(runs)}"
        columns = f"{', '.join(RevisionKey._fields)}, {TEXT} as text"
        return self._store.relation("episodes").filter(duckdb.SQLExpression(chosen)).select(columns).df()

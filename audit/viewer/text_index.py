"""An index of all answers, so that a word in a million of them is found in a second: their texts as codes of words.

It is made a part at a time beside the viewer's other work, and each part is kept with the analysis, under its digest.
Until the last one is there, and wherever nothing is kept, whoever searches reads the answers themselves.
"""

from __future__ import annotations

import contextlib
import hashlib
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb
import numpy as np

from audit.remote.urls import RemotePath
from audit.vocabulary.keys import RevisionKey, RunKey
from collector.system.cores import cores

if TYPE_CHECKING:
    from audit.engine.shelf import Shelf
    from audit.store import Store
    from audit.viewer.words import Codes, Numbers

TEXT: Final = "lower(concat(revised.answer, chr(0), revised.thinking))"
"""What is searched in: an answer and its thinking, in small letters."""
SMALLEST: Final = 2**27
"""Bytes of text from which on there is an index: fewer are read in half a second."""
LARGEST: Final = 2**31
"""Bytes of text up to which there is one; it is half as large, and so are all analyses that are kept together."""
PART: Final = 3 * 2**24
"""Bytes of text in a part."""

Asked = Callable[[str], list[tuple[Any, ...]]]

_HEAD: Final = struct.Struct("<16s3q")


class _Part(NamedTuple):
    """A part as it is in its file.

    Attributes:
        before: a digest of the words of all parts before it, whose numbers its codes have as well.
        ids: of its revisions.
        bounds: where the codes of each begin, as `audit.viewer.words.encode` returns them.
        codes: of all its texts.
        words: those that no part before it has, a line each.
    """

    before: bytes
    ids: Numbers
    bounds: Numbers
    codes: Codes
    words: bytes

    @classmethod
    def read(cls, path: Path) -> _Part:
        """Read a file.

        Raises:
            OSError: it is gone.
            ValueError: it ends early.
        """
        content = path.read_bytes()
        if len(content) < _HEAD.size:
            raise ValueError("no head")
        before, texts, codes, words = _HEAD.unpack_from(content)
        ends = np.cumsum([_HEAD.size, 8 * texts, 8 * (texts + 1), 2 * codes, words]).tolist()
        if ends[-1] != len(content):
            raise ValueError("not the whole file")
        return cls(
            before,
            np.frombuffer(content, "<i8", texts, ends[0]),
            np.frombuffer(content, "<i8", texts + 1, ends[1]),
            np.frombuffer(content, "<u2", codes, ends[2]),
            content[ends[3] :],
        )

    def write(self, path: Path) -> None:
        """Write the file."""
        head = _HEAD.pack(self.before, len(self.ids), len(self.codes), len(self.words))
        arrays = (self.ids.astype("<i8"), self.bounds.astype("<i8"), self.codes.astype("<u2"))
        path.write_bytes(b"".join([head, *(array.tobytes() for array in arrays), self.words]))


class _NotMadeError(Exception):
    """There is to be no index, or not now."""


class TextIndex:
    """The index of one store's answers; requests in several threads may ask it at once.

    Args:
        store: the records.
        lock: held while the store is used.
        ask: answers a query of the table `kept.viewer`.
        numbered: finds the revisions of a frame with the columns of a `RevisionKey` and `text`: their `id` and `text`.
    """

    def __init__(
        self, store: Store, lock: threading.Lock, ask: Asked, numbered: Callable[[Any], dict[str, Any]]
    ) -> None:
        self._store = store
        self._lock = lock
        self._ask = ask
        self._numbered = numbered
        self._words: dict[bytes, int] = {}
        self._seen = hashlib.blake2b(digest_size=16)
        self._parts: list[Path] = []
        self.is_whole = False
        """Whether it can be asked."""

    def find(self, text: str) -> Numbers | None:
        """The `id` of each revision with a text; None where the answers have to be read.

        Args:
            text: in small letters.
        """
        from audit.viewer.words import Pattern

        if not self.is_whole:
            return None
        try:
            pattern = Pattern(text.encode(), self._words)
        except UnicodeEncodeError:  # half of a surrogate pair, which DuckDB refuses
            return None

        def search(path: Path) -> Numbers:
            part = _Part.read(path)
            return part.ids[pattern.texts_with(part.codes, part.bounds)]

        try:
            with ThreadPoolExecutor(cores()) as threads:
                return np.concatenate(list(threads.map(search, self._parts)))
        except (OSError, ValueError):  # another audit has removed what was kept
            self.is_whole = False
            return None

    def take(self) -> None:
        """Take what is kept of it."""
        shelf = self._shelf()
        if shelf is not None:
            with contextlib.suppress(_NotMadeError):
                self._complete(shelf, None)

    def make(self, is_wanted: Callable[[], bool]) -> None:
        """Make and keep what is missing of it.

        Args:
            is_wanted: asked time and again; where it is not any longer, nothing more is made.
        """
        from audit.viewer.words import TooManyWordsError

        shelf = self._shelf()
        if shelf is not None and not self.is_whole:
            with contextlib.suppress(_NotMadeError, TooManyWordsError, duckdb.Error):
                self._complete(shelf, is_wanted)

    def _shelf(self) -> Shelf | None:
        """Where it is kept; None where there is none to be, as of records elsewhere, whose answers would be fetched."""
        return None if any(isinstance(path, RemotePath) for path in self._store.paths) else self._store.shelf

    def _complete(self, shelf: Shelf, is_wanted: Callable[[], bool] | None) -> None:
        plan = self._plan()
        for number in range(len(self._parts), len(plan)):
            name = f"words-{number:03}"
            part = self._kept(shelf, name)
            if part is None:
                if is_wanted is None:
                    raise _NotMadeError
                made = self._made(plan[number], is_wanted)
                with shelf.room(name) as room:
                    if room is None:
                        raise _NotMadeError
                    made.write(room)
                part = self._kept(shelf, name)
                if part is None:
                    raise _NotMadeError
            path, words = part
            self._learn(words)
            self._parts.append(path)
        self.is_whole = bool(plan)

    def _kept(self, shelf: Shelf, name: str) -> tuple[Path, bytes] | None:
        """The file of a part, and its words; None where none is kept that goes on from the parts before."""
        path = shelf.find(name)
        if path is None:
            return None
        with contextlib.suppress(OSError, ValueError):
            part = _Part.read(path)
            if part.before == self._seen.digest():
                return path, part.words
            path.unlink()
        return None

    def _learn(self, words: bytes) -> None:
        from audit.viewer.words import BYTES

        self._seen.update(words)
        for word in words.splitlines():
            self._words[word] = BYTES + len(self._words)

    def _plan(self) -> list[list[RunKey]]:
        """The runs of each part; none where there are too few answers, or too many."""
        keys = ", ".join(RunKey._fields)
        rows = self._ask(
            f"select {keys}, sum(coalesce(answer_bytes, 0) + coalesce(thinking_bytes, 0)) from kept.viewer "
            "group by all order by min(id)"
        )
        parts: list[list[RunKey]] = [[]]
        size = 0
        for *key, length in rows:
            if size >= PART * len(parts):
                parts.append([])
            parts[-1].append(RunKey(*key))
            size += int(length)
        return parts if SMALLEST <= size <= LARGEST else []

    def _made(self, runs: Sequence[RunKey], is_wanted: Callable[[], bool]) -> _Part:
        from audit.viewer.words import encode

        def texts() -> Iterator[bytes]:
            for text in found["text"]:
                if not is_wanted():
                    raise _NotMadeError
                yield text.encode()

        with self._lock:
            if not is_wanted():
                raise _NotMadeError
            answers = self._answers(runs)
        found = self._numbered(answers)
        words = dict(self._words)
        codes, bounds = encode(texts(), words)
        new = b"".join(word + b"\n" for word in list(words)[len(self._words) :])
        return _Part(self._seen.digest(), found["id"], bounds, codes, new)

    def _answers(self, runs: Sequence[RunKey]) -> Any:
        named = ", ".join(f"({', '.join(map(_literal, run))})" for run in runs)
        chosen = f"revised is not null and ({', '.join(RunKey._fields)}) in ({named})"
        columns = f"{', '.join(RevisionKey._fields)}, {TEXT} as text"
        return self._store.relation("episodes").filter(duckdb.SQLExpression(chosen)).select(columns).df()


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"

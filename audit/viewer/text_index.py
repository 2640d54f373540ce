"""An index of all answers, so that a word in a million of them is found in a second: their texts as codes of words.

It is made a part at a time beside the viewer's other work, and each part is kept with the analysis, under its digest.
Until the last one is there, and wherever nothing is kept, whoever searches reads the answers themselves.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import duckdb
import numpy as np

from audit.remote.urls import RemotePath
from audit.vocabulary.keys import RevisionKey, RunKey
from collector.system.cores import cores

if TYPE_CHECKING:
    from audit.engine.shelf import Shelf
    from audit.store import Store
    from audit.viewer.words import Codes, Numbers, Pattern, Words

TEXT: Final = "lower(concat(revised.answer, chr(0), revised.thinking))"
"""What is searched in: an answer and its thinking, in small letters."""
REVISED: Final = "revised.source is not null"
"""Of which episodes: those with a revised candidate, told by a field of it, so that no other one is read."""
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

    def write(self, path: Path) -> None:
        """Write the file."""
        head = _HEAD.pack(self.before, len(self.ids), len(self.codes), len(self.words))
        arrays = (self.ids.astype("<i8"), self.bounds.astype("<i8"), self.codes.astype("<u2"))
        path.write_bytes(b"".join([head, *(array.tobytes() for array in arrays), self.words]))


class _Kept:
    """The file of a part, of which no more is in memory than is asked for.

    Args:
        stream: of the file.

    Attributes:
        before: as of a `_Part`.

    Raises:
        OSError: it cannot be read.
        ValueError: it ends early.
    """

    def __init__(self, stream: BinaryIO) -> None:
        head = stream.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise ValueError("no head")
        self.before, self._texts, codes, words = _HEAD.unpack(head)
        self._stream = stream
        self._codes = _HEAD.size + 8 * (2 * self._texts + 1)
        self._words = self._codes + 2 * codes
        if self._words + words != os.fstat(stream.fileno()).st_size:
            raise ValueError("not the whole file")

    def words(self) -> bytes:
        """As of a `_Part`."""
        self._stream.seek(self._words)
        return self._stream.read()

    def texts_with(self, pattern: Pattern) -> Numbers:
        """The `id` of each revision with a text."""
        ids = self._read("<i8", _HEAD.size, self._texts)
        bounds = self._read("<i8", _HEAD.size + 8 * self._texts, self._texts + 1)
        found: Numbers = ids[pattern.texts_with(self._codes_from, bounds)]
        return found

    def _codes_from(self, start: int, end: int) -> Codes:
        codes: Codes = self._read("<u2", self._codes + 2 * start, end - start)
        return codes

    def _read(self, kind: str, place: int, number: int) -> Any:
        self._stream.seek(place)
        values = np.fromfile(self._stream, kind, number)
        if len(values) < number:
            raise ValueError("not the whole file")
        return values


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
        self._lines = b""
        self._words: Words | None = None
        self._parts: list[Path] = []
        self._planned: list[list[RunKey]] | None = None
        self._is_given_up = False

    @property
    def is_whole(self) -> bool:
        """Whether it can be asked."""
        return self._words is not None

    @property
    def is_awaited(self) -> bool:
        """Whether it is being made, or will be, so that searches are slower as yet than they are with it."""
        return not (self.is_whole or self._is_given_up) and self._shelf() is not None and bool(self._plan())

    def find(self, text: str) -> Numbers | None:
        """The `id` of each revision with a text; None where the answers have to be read.

        Args:
            text: in small letters.
        """
        from audit.viewer.words import Pattern

        words = self._words
        if words is None:
            return None
        try:
            pattern = Pattern(text.encode(), words)
        except UnicodeEncodeError:  # half of a surrogate pair, which DuckDB refuses
            return None

        def search(path: Path) -> Numbers:
            with path.open("rb", 0) as stream:
                return _Kept(stream).texts_with(pattern)

        try:
            with ThreadPoolExecutor(cores()) as threads:
                return np.concatenate(list(threads.map(search, self._parts)))
        except (OSError, ValueError):  # another audit has removed what was kept
            self._words = None
            self.settle()
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

    def settle(self) -> None:
        """What is not there by now is not made any more."""
        self._is_given_up = True

    def _shelf(self) -> Shelf | None:
        """Where it is kept; None where there is none to be, as of records elsewhere, whose answers would be fetched."""
        return None if any(isinstance(path, RemotePath) for path in self._store.paths) else self._store.shelf

    def _complete(self, shelf: Shelf, is_wanted: Callable[[], bool] | None) -> None:
        from audit.viewer.words import Words

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
            self._lines += words
            self._parts.append(path)
        if plan:
            self._words = Words(self._lines)

    def _kept(self, shelf: Shelf, name: str) -> tuple[Path, bytes] | None:
        """The file of a part, and its words; None where none is kept that goes on from the parts before."""
        path = shelf.find(name)
        if path is None:
            return None
        with contextlib.suppress(OSError, ValueError):
            with path.open("rb", 0) as stream:
                part = _Kept(stream)
                if part.before == self._before():
                    return path, part.words()
            path.unlink()
        return None

    def _before(self) -> bytes:
        """A digest of the words so far."""
        return hashlib.blake2b(self._lines, digest_size=16).digest()

    def _plan(self) -> list[list[RunKey]]:
        """The runs of each part; none where there are too few answers, or too many."""
        if self._planned is not None:
            return self._planned
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
        self._planned = parts if SMALLEST <= size <= LARGEST else []
        return self._planned

    def _made(self, runs: Sequence[RunKey], is_wanted: Callable[[], bool]) -> _Part:
        from audit.viewer.words import BYTES, encode

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
        words = {word: number for number, word in enumerate(self._lines.splitlines(), BYTES)}
        known = len(words)
        codes, bounds = encode(texts(), words)
        new = b"".join(word + b"\n" for word in list(words)[known:])
        return _Part(self._before(), found["id"], bounds, codes, new)

    def _answers(self, runs: Sequence[RunKey]) -> Any:
        named = ", ".join(f"({', '.join(map(_literal, run))})" for run in runs)
        # Bounds of each column alone have DuckDB leave out most of what a list of runs would have it read.
        bounds = " and ".join(
            f"{name} between {_literal(min(values))} and {_literal(max(values))}"
            for name, values in zip(RunKey._fields, zip(*runs, strict=True), strict=True)
        )
        chosen = f"{REVISED} and {bounds} and ({', '.join(RunKey._fields)}) in ({named})"
        columns = f"{', '.join(RevisionKey._fields)}, {TEXT} as text"
        return self._store.relation("episodes").filter(duckdb.SQLExpression(chosen)).select(columns).df()


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"

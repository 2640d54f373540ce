"""Texts as codes of their words, in which a piece of text is found by comparing numbers.

Whether two neighbouring bytes belong to one word depends on nothing but these two. So a piece of text is cut where the
texts that have it are cut, except at its ends: its first word is the end of one of theirs, its last word the beginning
of one, and an only word may be anywhere within one. What is found is therefore exact, whatever the bytes are.

A code is a 16-bit number: of a byte that is a word by itself, the byte; of a longer word its number in a dictionary, or
from `RARE` on a pair of codes, the first one below `SECOND` and the other not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Codes = NDArray[np.uint16]
Numbers = NDArray[np.int64]

BYTES: Final = 256
RARE: Final = 0xC000
SECOND: Final = 0xE000
END: Final = 0xFF
"""Ends each text: a byte that is nowhere in UTF-8."""
MOST_WORDS: Final = 2**19
"""In a dictionary: of texts that have more, words are no help."""

_BITS: Final = 13
_SHORT: Final = 16
"""Bytes up to which a word is compared as two numbers."""
_TEXTS: Final = 2**20
"""Bytes that are encoded at once: a core's cache holds all that is made of them."""
_CODES: Final = 2**20
"""Codes that are searched at once."""
_FEW: Final = 3
"""Codes up to which each is compared by itself."""


def _joined() -> NDArray[np.bool_]:
    """Which pairs of bytes, as numbers of 16 bits, belong to one word, with the punctuation and the space behind it."""
    letters, digits, marks = b"abcdefghijklmnopqrstuvwxyz", b"0123456789", b".,:;)"
    pairs = np.zeros((BYTES, BYTES), bool)
    for first, second in (
        (letters, letters + marks + b" "), (digits, digits + marks + b" "), (marks, b" "), (b".-", digits),
    ):  # fmt: skip
        pairs[np.ix_(list(first), list(second))] = True
    return pairs.ravel()


_JOINED: Final = _joined()
_MASKS: Final = np.array([2 ** (8 * min(size, 8)) - 1 for size in range(_SHORT + 1)], dtype="<u8")
_FACTORS: Final = tuple(np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64))


class TooManyWordsError(Exception):
    """Texts have more than `MOST_WORDS` words."""


def encode(texts: Iterable[bytes], words: dict[bytes, int]) -> tuple[Codes, Numbers]:
    """The codes of texts.

    Args:
        texts: in small letters, in UTF-8.
        words: the dictionary, from words of more than a byte to their numbers from `BYTES` on; new words are added.

    Returns:
        The codes, with one before the first text and two behind the last, and where each text begins and the last ends.

    Raises:
        TooManyWordsError: the dictionary is full.
    """
    end = np.array([END], np.uint16)
    codes, starts, place = [end], [], 1
    for some in _batches(texts):
        found, lengths = _encoded(b"".join(text + b"\xff" for text in some), words)
        codes.append(found)
        starts.append(place + np.cumsum(lengths) - lengths)
        place += len(found)
    return np.concatenate([*codes, end, end]), np.concatenate([*starts, np.array([place])])


def _batches(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= _TEXTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _cuts(text: NDArray[np.uint8]) -> Numbers:
    """Where words begin."""
    pairs = (text[:-1].astype(np.uint16) << 8) | text[1:]
    return np.concatenate([[0], np.flatnonzero(~_JOINED[pairs]) + 1])


def _encoded(data: bytes, words: dict[bytes, int]) -> tuple[Codes, Numbers]:
    """The codes of texts that each have an `END`, and how many codes each has."""
    text = np.frombuffer(data, np.uint8)
    starts = _cuts(text)
    sizes = np.diff(starts, append=len(text))
    numbers = text[starts].astype(np.int64)
    _number(data, starts, sizes, numbers, words)
    ends = np.flatnonzero(numbers == END) + 1
    lengths = np.diff(ends, prepend=0)
    rare = np.flatnonzero(numbers >= RARE)
    if not len(rare):
        return numbers.astype(np.uint16), lengths
    beyond = numbers[rare] - RARE
    numbers[rare] = RARE + (beyond >> _BITS)
    lengths += np.diff(np.searchsorted(rare, ends), prepend=0)
    codes = np.insert(numbers, rare + 1, SECOND + (beyond & (2**_BITS - 1)))
    return codes.astype(np.uint16), lengths


def _number(data: bytes, starts: Numbers, sizes: Numbers, numbers: Numbers, words: dict[bytes, int]) -> None:
    """Give words of more than a byte their numbers in a dictionary."""
    padded = np.frombuffer(data + bytes(_SHORT), "<u1")
    eights = np.ndarray(len(data) + 9, "<u8", buffer=padded, strides=(1,))
    short = np.flatnonzero((sizes > 1) & (sizes <= _SHORT))
    at, size = starts[short], sizes[short]
    # No word has a byte of zero, so those of two words differ in what is read up to the word's end.
    parts = eights[at] & _MASKS[size], eights[at + 8] & _MASKS[np.maximum(size - 8, 0)]
    keys = parts[0] * _FACTORS[0] ^ parts[1] * _FACTORS[1]
    which, distinct = pd.factorize(keys)
    first = np.empty(len(distinct), np.int64)
    first[which[::-1]] = np.arange(len(keys))[::-1]
    known = [_numbered(data[at[one] : at[one] + size[one]], words) for one in first.tolist()]
    numbers[short] = np.array(known, np.int64)[which]
    alike = first[which]
    others = np.flatnonzero((parts[0] != parts[0][alike]) | (parts[1] != parts[1][alike]))
    for one in (*short[others].tolist(), *np.flatnonzero(sizes > _SHORT).tolist()):
        numbers[one] = _numbered(data[starts[one] : starts[one] + sizes[one]], words)


def _numbered(word: bytes, words: dict[bytes, int]) -> int:
    number = words.setdefault(word, BYTES + len(words))
    if len(words) > MOST_WORDS:
        raise TooManyWordsError
    return number


class Pattern:
    """A piece of text in the codes of a dictionary.

    Args:
        text: at least a byte, in small letters, in UTF-8.
        words: the dictionary.
    """

    def __init__(self, text: bytes, words: Mapping[bytes, int]) -> None:
        bounds = [*_cuts(np.frombuffer(text, np.uint8)).tolist(), len(text)]
        pieces = [text[start:end] for start, end in pairwise(bounds)]
        every = [*((bytes([number]), number) for number in range(BYTES)), *words.items()]
        if len(pieces) == 1:
            found = [[number for word, number in every if text in word]]
        else:
            found = [
                [number for word, number in every if word.endswith(pieces[0])],
                *([number for number in [_known(piece, words)] if number is not None] for piece in pieces[1:-1]),
                [number for word, number in every if word.startswith(pieces[-1])],
            ]
        self._sets = [_Set(np.array(numbers, np.int64)) for numbers in found]
        self._rarest = min(range(len(found)), key=lambda place: (len(found[place]), -len(pieces[place])))
        self.is_possible = all(found)
        """Whether any text of these words can have it."""

    def texts_with(self, codes: Codes, bounds: Numbers) -> Numbers:
        """The places of the texts that have it, in order.

        Args:
            codes: as `encode` returns them.
            bounds: likewise.
        """
        if not self.is_possible:
            return np.empty(0, np.int64)
        steps = np.searchsorted(bounds, np.arange(bounds[0], bounds[-1], _CODES))
        found = []
        for first, last in zip(steps, [*steps[1:], len(bounds) - 1], strict=True):
            if first < last:
                places = self._places(codes, slice(bounds[first], bounds[last]))
                edges = np.searchsorted(places, bounds[first : last + 1])
                found.append(first + np.flatnonzero(edges[1:] > edges[:-1]))
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _places(self, codes: Codes, part: slice) -> Numbers:
        """Where its rarest word is in a part of the codes, among the others; no text goes on behind an `END`."""
        places = self._sets[self._rarest].places(codes, part)
        right = places
        for each in self._sets[self._rarest + 1 :]:
            right = right + 1 + (codes[right] >= RARE)
            kept = each.has(codes, right)
            places, right = places[kept], right[kept]
        left = places
        for each in reversed(self._sets[: self._rarest]):
            left = left - 1
            left = left - (codes[left] >= SECOND)
            kept = each.has(codes, left)
            places, left = places[kept], left[kept]
        return places


class _Set:
    """Some words, to be found among codes."""

    def __init__(self, numbers: Numbers) -> None:
        rare = numbers[numbers >= RARE] - RARE
        self._rare = np.sort(rare)
        self._first = np.concatenate([numbers[numbers < RARE], np.unique(RARE + (rare >> _BITS))])
        self._is_first = np.zeros(2**16, bool)
        self._is_first[self._first] = True

    def places(self, codes: Codes, part: slice) -> Numbers:
        """Where they begin in a part of the codes."""
        some = codes[part]
        if len(self._first) <= _FEW:
            first: Any = reduce(np.logical_or, [some == np.uint16(code) for code in self._first])
        else:
            first = np.take(self._is_first, some)
        places: Numbers = np.flatnonzero(first) + part.start
        return places[self.has(codes, places)] if len(self._rare) else places

    def has(self, codes: Codes, places: Numbers) -> NDArray[np.bool_]:
        """Whether one of them begins at each of some places."""
        found = self._is_first[codes[places]]
        if len(self._rare):
            pairs = np.flatnonzero(found & (codes[places] >= RARE))
            at = places[pairs]
            beyond = (codes[at].astype(np.int64) - RARE << _BITS) | (codes[at + 1] - np.int64(SECOND))
            found[pairs] = np.isin(beyond, self._rare)
        return found


def _known(word: bytes, words: Mapping[bytes, int]) -> int | None:
    return word[0] if len(word) == 1 else words.get(word)

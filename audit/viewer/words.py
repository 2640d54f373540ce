"""Texts as codes of their words, in which a piece of text is found by comparing numbers.

Whether two neighbouring bytes belong to one word depends on nothing but these two. So a piece of text is cut where the
texts that have it are cut, except at its ends: its first word is the end of one of theirs, its last word the beginning
of one, and an only word may be anywhere within one. What is found is therefore exact, whatever the bytes are.

A code is a 16-bit number: of a byte that is a word by itself, the byte; of a longer word its number in a dictionary, or
from `RARE` on a pair of codes, the first one below `SECOND` and the other not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import pairwise
from typing import Final

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
_CODES: Final = 2**17
"""Codes that are searched at once, a thread: a core's cache holds all that is made of them."""
_FEW: Final = 3
"""Codes up to which each is compared by itself."""
_COMPARED: Final = 0.25
_LOOKED_UP: Final = 0.9
_PLACED: Final = 10.0
"""Nanoseconds to compare a code with another, to look it up among many, and to look at what is beside a place."""


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


class Words:
    """The words of a dictionary, as they are searched.

    Args:
        lines: a line for each, in the order of their numbers.
    """

    def __init__(self, lines: bytes) -> None:
        self._text = np.frombuffer(b"\xff" + lines.replace(b"\n", b"\xff"), np.uint8)
        self._breaks = np.flatnonzero(self._text == END)

    def numbers(self, part: bytes, *, begins: bool = False, ends: bool = False) -> Numbers:
        """The numbers of the words that have a piece of text: anywhere, or at their beginning, their end, or both."""
        edge = bytes([END])
        found = self._found(edge * begins + part + edge * ends)
        return np.concatenate([list(part), found]) if len(part) == 1 else found

    def _found(self, sought: bytes) -> Numbers:
        """The numbers of the lines with some bytes, of which those between lines are `END`."""
        places = np.flatnonzero(self._text[: len(self._text) - len(sought) + 1] == sought[0])
        for at, byte in enumerate(sought[1:], 1):
            places = places[self._text[places + at] == byte]
        lines: Numbers = np.searchsorted(self._breaks, places, "right") - 1
        return BYTES + lines[np.diff(lines, prepend=-1) > 0]


class Pattern:
    """A piece of text in the codes of a dictionary.

    Args:
        text: at least a byte, in small letters, in UTF-8.
        words: the dictionary.
    """

    def __init__(self, text: bytes, words: Words) -> None:
        bounds = [*_cuts(np.frombuffer(text, np.uint8)).tolist(), len(text)]
        first, *others = [text[start:end] for start, end in pairwise(bounds)]
        if others:
            found = [
                words.numbers(first, ends=True),
                *(words.numbers(each, begins=True, ends=True) for each in others[:-1]),
                words.numbers(others[-1], begins=True),
            ]
        else:
            found = [words.numbers(first)]
        self._sets = [_Set(numbers) for numbers in found]
        self.is_possible = all(map(len, found))
        """Whether any text of these words can have it."""

    def texts_with(self, read: Callable[[int, int], Codes], bounds: Numbers) -> Numbers:
        """The places of the texts that have it, in order.

        Args:
            read: gives the codes from a place on up to another, of those that `encode` returns.
            bounds: as `encode` returns them.
        """
        if not self.is_possible:
            return np.empty(0, np.int64)
        steps = np.searchsorted(bounds, np.arange(bounds[0], bounds[-1], _CODES))
        found = []
        rarest = None
        for first, last in zip(steps, [*steps[1:], len(bounds) - 1], strict=True):
            if first < last:
                start = bounds[first] - 1
                codes = read(start, bounds[last] + 2)
                if rarest is None:
                    costs = [each.cost(codes) for each in self._sets]
                    rarest = costs.index(min(costs))
                found.append(first + self._texts(codes, bounds[first : last + 1] - start, rarest))
        return np.concatenate(found) if found else np.empty(0, np.int64)

    def _texts(self, codes: Codes, bounds: Numbers, rarest: int) -> Numbers:
        """The places of the texts among some that have it; no text goes on behind an `END`."""
        places = self._sets[rarest].among(codes[bounds[0] : bounds[-1]])
        if len(self._sets) == 1 and not self._sets[0].has_pairs:
            return np.flatnonzero(np.logical_or.reduceat(places, bounds[:-1] - bounds[0]))
        return self._around(codes, np.flatnonzero(places) + bounds[0], bounds, rarest)

    def _around(self, codes: Codes, places: Numbers, bounds: Numbers, rarest: int) -> Numbers:
        """The places of the texts in which the others are around a word."""
        places = places[self._sets[rarest].has(codes, places)] if self._sets[rarest].has_pairs else places
        right = places
        for each in self._sets[rarest + 1 :]:
            right = right + 1 + (codes[right] >= RARE)
            kept = each.has(codes, right)
            places, right = places[kept], right[kept]
        left = places
        for each in reversed(self._sets[:rarest]):
            left = left - 1
            left = left - (codes[left] >= SECOND)
            kept = each.has(codes, left)
            places, left = places[kept], left[kept]
        edges = np.searchsorted(places, bounds)
        return np.flatnonzero(edges[1:] > edges[:-1])


class _Set:
    """Some words, to be found among codes.

    Attributes:
        has_pairs: whether some of them are pairs of codes.
    """

    def __init__(self, numbers: Numbers) -> None:
        rare = numbers[numbers >= RARE] - RARE
        self._rare = np.sort(rare)
        self._first = np.concatenate([numbers[numbers < RARE], np.unique(RARE + (rare >> _BITS))])
        self._is_first = np.zeros(2**16, bool)
        self._is_first[self._first] = True
        self.has_pairs = bool(len(rare))

    def among(self, codes: Codes) -> NDArray[np.bool_]:
        """Which codes begin one of them, or may."""
        if 0 < len(self._first) <= _FEW:
            found: NDArray[np.bool_] = reduce(np.logical_or, [codes == np.uint16(code) for code in self._first])
            return found
        return np.take(self._is_first, codes)

    def cost(self, codes: Codes) -> float:
        """About what it takes to find them among codes as these are, and to look at what is beside them."""
        scan = _COMPARED * len(self._first) if len(self._first) <= _FEW else _LOOKED_UP
        return scan + _PLACED * np.count_nonzero(self.among(codes)) / len(codes)

    def has(self, codes: Codes, places: Numbers) -> NDArray[np.bool_]:
        """Whether one of them begins at each of some places."""
        found: NDArray[np.bool_] = self._is_first[codes[places]]
        if self.has_pairs:
            pairs = np.flatnonzero(found & (codes[places] >= RARE))
            at = places[pairs]
            beyond = (codes[at].astype(np.int64) - RARE << _BITS) | (codes[at + 1] - np.int64(SECOND))
            found[pairs] = np.isin(beyond, self._rare)
        return found

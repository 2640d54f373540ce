"""The words of a sentence, and patterns that are looked for only where certain words begin."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator
from typing import Final

from audit.references.drafts import compiled

_WORD: Final = re.compile("[a-z]+")
_APART: Final = {code: " " for code in range(128) if chr(code) not in string.ascii_lowercase}
_BOUNDARY: Final = "(?:^|[^a-z])"


def stems(words: str) -> frozenset[str]:
    """The words of a folded text, each cut to four letters: a quick look at whether a pattern can match."""
    return frozenset([word[:4] for word in words.translate(_APART).split()])


class Words:
    """The words of a sentence.

    Attributes:
        plain: the sentence, made plain by `fold`.
        stems: its words, cut to four letters.
    """

    def __init__(self, plain: str) -> None:
        self.plain = plain
        self.stems = stems(plain)

    @functools.cached_property
    def places(self) -> dict[str, list[int]]:
        """Where the words with each stem begin."""
        places: dict[str, list[int]] = {}
        for match in _WORD.finditer(self.plain):
            places.setdefault(match[0][:4], []).append(match.start())
        return places

    def where(self, chosen: frozenset[str]) -> list[int]:
        """Where words with some stems begin, in order."""
        found = self.stems & chosen
        return sorted([place for stem in found for place in self.places[stem]]) if found else []


class Opening:
    """A pattern for folded text, as `compiled` reads it, that can match only from the beginning of certain words.

    Trying it there alone finds the same matches as a search of the whole sentence, several times as fast.

    Args:
        pattern: it begins with a word's boundary, `(?:^|[^a-z])` or `(?<![a-z])`.
        first: stems of the words with which a match can begin; "lag*" is any that begins so.
        also: what is in every sentence in which a match can begin otherwise.
    """

    def __init__(self, pattern: str, first: str, also: str | None = None) -> None:
        self.pattern = pattern
        self._compiled = compiled(pattern)
        self._back = int(pattern.startswith(_BOUNDARY))
        self._also = also
        open_ended = [stem[:-1] for stem in first.split() if stem.endswith("*")]
        self.first: Final = stems(first) | {
            f"{stem}{letter}" for stem in open_ended for letter in string.ascii_lowercase
        }

    def search(self, words: Words) -> re.Match[str] | None:
        """The first match in a sentence."""
        if self._also is not None and self._also in words.plain:
            return self._compiled.search(words.plain)
        for place in words.where(self.first):
            if found := self._compiled.match(words.plain, max(0, place - self._back)):
                return found
        return None

    def finditer(self, words: Words) -> Iterator[re.Match[str]]:
        """All matches of a pattern that takes up no character in front of its first word."""
        assert not self._back
        if self._also is not None and self._also in words.plain:
            yield from self._compiled.finditer(words.plain)
            return
        end = 0
        for place in words.where(self.first):
            if place >= end and (found := self._compiled.match(words.plain, place)):
                end = found.end()
                yield found

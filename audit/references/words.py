"""The words of a sentence, and patterns that are looked for only where certain words begin."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from audit.references.drafts import compiled

_APART: Final = {code: " " for code in range(128) if chr(code) not in string.ascii_lowercase}
_BOUNDARY: Final = "(?:^|[^a-z])"


def apart(text: str) -> str:
    """A folded text with a space for every character but a letter, and one more at either end."""
    return f" {text.translate(_APART)} "


def begins(words: str, sought: str) -> Iterator[int]:
    """Where words begin in a text, of which `apart` has put a space in front of each.

    Args:
        words: what `apart` returned.
        sought: a space and the beginning of a word, or all of it and another space.
    """
    place = words.find(sought)
    while place >= 0:
        yield place
        place = words.find(sought, place + 1)


def stems(words: str) -> frozenset[str]:
    """The words of a folded text, each cut to four letters: a quick look at whether a pattern can match."""
    return frozenset([word[:4] for word in apart(words).split()])


class Words:
    """The words of a sentence.

    Args:
        plain: the sentence, made plain by `fold`.
        words: what `apart` makes of it, without the spaces at either end.

    Attributes:
        plain: the sentence.
        stems: its words, cut to four letters.
    """

    __slots__ = ("_apart", "plain", "stems")

    def __init__(self, plain: str, words: str) -> None:
        self.plain = plain
        self.stems = frozenset([word[:4] for word in words.split()])
        self._apart = f" {words} "

    def where(self, chosen: frozenset[str]) -> list[int]:
        """Where words with some stems begin, in order."""
        if self.stems.isdisjoint(chosen):
            return []
        sought = [f" {stem}" if len(stem) == 4 else f" {stem} " for stem in self.stems & chosen]
        return sorted([place for each in sought for place in begins(self._apart, each)])


class Opening:
    """A pattern for folded text, as `compiled` reads it, that can match only from the beginning of certain words.

    Trying it there alone finds the same matches as a search of the whole sentence, several times as fast.

    Args:
        pattern: it begins with a word's boundary, `(?:^|[^a-z])` or `(?<![a-z])`.
        first: stems of the words with which a match can begin; "lag*" is any that begins so.
        also: what is in every sentence in which a match can begin otherwise.
        needs: stems, one of which is in every sentence that has a match and not `also`; by default those in `first`.
    """

    def __init__(self, pattern: str, first: str, also: str | None = None, needs: str = "") -> None:
        self.pattern = pattern
        self.first = _stems(first)
        self.needs = _stems(needs) or self.first
        self._compiled = compiled(pattern)
        self._back = int(pattern.startswith(_BOUNDARY))
        self._also = also

    def search(self, words: Words) -> re.Match[str] | None:
        """The first match in a sentence."""
        if self._also is not None and self._also in words.plain:
            return self._compiled.search(words.plain)
        if not words.stems.isdisjoint(self.needs):
            for place in words.where(self.first):
                if found := self._compiled.match(words.plain, place - self._back if place else 0):
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


def _stems(listed: str) -> frozenset[str]:
    open_ended = [stem[:-1] for stem in listed.split() if stem.endswith("*")]
    return stems(listed) | {f"{stem}{letter}" for stem in open_ended for letter in string.ascii_lowercase}

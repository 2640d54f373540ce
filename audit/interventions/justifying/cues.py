"""Patterns that are looked for only in sentences with certain words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from audit.references.drafts import compiled
from audit.references.words import apart


def stems(plain: str) -> frozenset[str]:
    """The words of a folded text, each cut to four letters."""
    return frozenset([word[:4] for word in apart(plain).split()])


class Cue:
    """A pattern for folded text, as `compiled` reads it, between boundaries of words.

    Args:
        words: stems, one of which every sentence with a match has.
        pattern: the pattern.
    """

    def __init__(self, words: str, pattern: str) -> None:
        self._words = stems(words)
        self._pattern = compiled(rf"(?<![a-z])(?:{pattern})(?![a-z])")

    def finditer(self, plain: str, here: frozenset[str]) -> Iterator[re.Match[str]]:
        """All matches in a sentence that has some stems."""
        return self._pattern.finditer(plain) if not self._words.isdisjoint(here) else iter(())

    def found(self, plain: str, here: frozenset[str]) -> bool:
        """Whether a sentence that has some stems has a match."""
        return not self._words.isdisjoint(here) and self._pattern.search(plain) is not None

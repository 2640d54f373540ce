"""The words of a text, and patterns that are looked for only in sentences with certain words."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

from audit.references.drafts import compiled

_APART: Final = {code: " " for code in range(128) if chr(code) not in string.ascii_lowercase}


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

"""The words of a text, and where some of them begin."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Final

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

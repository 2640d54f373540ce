"""Where sentences begin. Lines of a list, of a table and of parameters are sentences too."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from audit.references.mention import Mention

_BOUNDARY: Final = re.compile(
    # One set of characters for both kinds to begin with: a search skips quickly to the next of them.
    r"[.!?\u3002\n](?:"
    # A line of its own: what follows is not the lower-case rest of a wrapped line.
    r"(?<=\n)[ \t]{0,16}(?![a-z \t])"
    # The end of a sentence, unless the next word begins in lower case, as after "e.g." or "vs.".
    r"|(?<!\n)['\")\]*_`]{0,4}[ \t\r\n]{1,16}(?![a-z\s])"
    r")"
)

_VECTOR: Final = re.compile(r"[^a-z]{0,8}params\[\d{1,6}\]", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]{2}")


class Sentences:
    """The sentences of a text by their offsets."""

    def __init__(self, text: str) -> None:
        # An array, since a hostile text may have a sentence in every few characters.
        self._starts = array("q", [0])
        self._starts.extend(match.end() for match in _BOUNDARY.finditer(text))
        self._length = len(text)

    def __len__(self) -> int:
        return len(self._starts)

    def number(self, offset: int) -> int:
        """Which sentence an offset lies in, from 0."""
        return bisect_right(self._starts, offset) - 1

    def start(self, number: int) -> int:
        """Offset at which a sentence begins."""
        return self._starts[number]

    def end(self, number: int) -> int:
        """Offset at which the next one begins, or the text ends."""
        return self._starts[number + 1] if number + 1 < len(self._starts) else self._length


def leading(text: str, mentions: Sequence[Mention]) -> tuple[int, int]:
    """The span of the sentence that says most of an answer's evidence, without white space around it.

    The first sentence that mentions the worst rollout, else any rollout; without mentions the first one in words,
    which leaves out lines of parameters. An empty span where there is none.

    Args:
        text: the answer.
        mentions: those in it, in order.
    """
    sentences = Sentences(text)
    spans = [(sentences.start(number), sentences.end(number)) for number in range(len(sentences))]
    in_words = (span for span in spans if _WORD.search(text, *span) and not _VECTOR.match(text, *span))
    naming = [spans[sentences.number(each.start)] for each in sorted(mentions, key=lambda each: not each.worst)]
    start, end = next(iter(naming), None) or next(in_words, (0, 0))
    return end - len(text[start:end].lstrip()), start + len(text[start:end].rstrip())

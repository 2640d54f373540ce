"""What became of a text, word by word, as `wdiff` writes it: `[-old-]{+new+}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final, Literal, NamedTuple

from rapidfuzz.distance import Indel

from audit.output.escaping import in_line, visible

CONTEXT: Final = 12
"""Unchanged words that are shown on either side of a change."""
MOST_WORDS: Final = 400
"""Words of one change that are shown; the middle of a longer one is left out."""
MOST_CELLS: Final = 10**8
"""Product of two numbers of words up to which they are aligned, in 25 MB: texts of 10,000 words, or ones that differ in
fewer. Of longer ones all words between the first and the last difference count as changed."""
LONGEST_WORD: Final = 400

_WORD: Final = re.compile(r"\S+\s*")
_DELETED: Final = re.compile(r"\[-.*?-\]", re.DOTALL)
_INSERTED: Final = re.compile(r"\{\+.*?\+\}", re.DOTALL)

Kind = Literal["same", "old", "new"]


class Piece(NamedTuple):
    """Words that stay, go or come; each with the white space behind it."""

    kind: Kind
    words: Sequence[str]


def word_diff(before: str, after: str) -> str:
    """The second text with what was removed and inserted in brackets; safe to print.

    White space that changed is not marked, and long stretches without a change, or of one change, are left out.

    Args:
        before: a text.
        after: what became of it.
    """
    found = list(pieces(before, after))
    diff = ""
    for place, piece in enumerate(found):
        if diff and piece.words and not diff[-1].isspace():
            diff += " "
        diff += _written(piece, is_first=place == 0, is_last=place == len(found) - 1)
    return diff


def pieces(earlier: str, later: str) -> Iterator[Piece]:
    """The words of two texts in order of display; what a change removes comes before what it inserts."""
    before, after = _WORD.findall(earlier), _WORD.findall(later)
    first, second = [word.strip() for word in before], [word.strip() for word in after]
    start = _alike(first, second)
    end = _alike(first[start:][::-1], second[start:][::-1])
    yield Piece("same", after[:start])
    old, new = first[start : len(first) - end], second[start : len(second) - end]
    if len(old) * len(new) > MOST_CELLS:
        blocks = [(len(old), len(new), 0)]
    else:
        blocks = [(each.a, each.b, each.size) for each in Indel.opcodes(old, new).as_matching_blocks()]
    here, there = start, start
    for old_end, new_end, size in blocks:
        yield Piece("old", before[here : start + old_end])
        yield Piece("new", after[there : start + new_end])
        yield Piece("same", after[start + new_end : start + new_end + size])
        here, there = start + old_end + size, start + new_end + size
    yield Piece("same", after[len(after) - end :])


def component_diffs(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The name and the word diff of each component that changed; the name states which of them are new or removed."""
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old != new:
            what = "" if old is not None and new is not None else " (removed)" if new is None else " (new)"
            yield f"{in_line(name)}{what}", word_diff(old or "", new or "")


def coloured(diff: str) -> str:
    """A word diff for a terminal: removed words in red, inserted ones in green."""
    red = _DELETED.sub(lambda found: f"\x1b[31m{found[0]}\x1b[0m", diff)
    return _INSERTED.sub(lambda found: f"\x1b[32m{found[0]}\x1b[0m", red)


def _alike(first: Sequence[str], second: Sequence[str]) -> int:
    """How many words two texts have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _written(piece: Piece, *, is_first: bool, is_last: bool) -> str:
    if not piece.words:
        return ""
    if piece.kind == "same":
        return _shortened(piece.words, 0 if is_first else CONTEXT, 0 if is_last else CONTEXT)
    text = _shortened(piece.words, MOST_WORDS // 2, MOST_WORDS // 2)
    words = text.rstrip()
    marked = f"[-{words}-]" if piece.kind == "old" else f"{{+{words}+}}"
    # What goes takes its white space along, to where the next words begin.
    return marked + (text[len(words) :] if piece.kind == "new" else " ")


def _shortened(words: Sequence[str], head: int, tail: int) -> str:
    """Some words of both ends, with a count of those between."""
    left_out = len(words) - head - tail
    if left_out <= CONTEXT:
        return "".join(map(_word, words))
    ends = "".join(map(_word, words[:head])), "".join(map(_word, words[len(words) - tail :]))
    return f"{ends[0]}[… {left_out} words …] {ends[1]}"


def _word(word: str) -> str:
    """A word as it is printed; of a very long one the beginning."""
    return visible(word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…({len(word) - LONGEST_WORD} more) ")

"""A model's thinking apart from its answer, wherever its server left the one in the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

_MARK: Final = re.compile(r"(?P<line>^[ \t]*)?<(?P<closes>/?)think(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE)
_FRONT: Final = re.compile(r"\s*<think(?:\s[^<>]*)?>", re.IGNORECASE)
_CODE: Final = re.compile(r"```.*?```|~~~.*?~~~|`[^`\n]+`", re.DOTALL)


def split_thinking(text: str, thinking: str | None = None, *, proposed: Collection[str] = ()) -> tuple[str, str | None]:
    """Part an answer from the thinking inside it.

    Thinking is what stands between `<think>` and `</think>`, in any case, with attributes or not, blocks within blocks
    included.

    - At the front, a block without an end of its own reaches to the first `</think>`; without any, there is no answer.
    - Behind that, marks in Markdown's code are quoted and mean nothing.
    - Everything before a `</think>` that nothing opened is thinking: the prompt's template had the opening mark.
    - A `<think>` that nothing closes opens thinking where it begins a line, as of an answer that was cut off.

    Args:
        text: what the model wrote.
        thinking: what its server gave apart; then marks in the text mean nothing.
        proposed: texts that the answer proposes; an answer that is no more than one of them has no thinking.

    Returns:
        The answer, unchanged if it has no thinking, and the thinking or None.
    """
    if thinking or not _MARK.search(text) or text.strip() in (each.strip() for each in proposed):
        return text, thinking or None
    marks = list(_MARK.finditer(text))
    blocks = list(_front(text, marks))
    begins = blocks[-1][3] if blocks else 0
    code = [match.span() for match in _CODE.finditer(text, begins)]
    blocks += _behind(text, begins, list(_outside(code, [mark for mark in marks if mark.start() >= begins])))
    if not blocks:
        return text, None
    edges = [0, *(edge for start, _, _, end in blocks for edge in (start, end)), len(text)]
    answer = " ".join(text[start:end] for start, end in list(pairwise(edges))[::2]).strip()
    thoughts = (text[start:end].strip() for _, start, end, _ in blocks)
    return answer, "\n\n".join(each for each in thoughts if each) or None


_Block = tuple[int, int, int, int]
"""Where a block begins, where its thinking does, where that ends, and where the block does."""


def _front(text: str, marks: Sequence[re.Match[str]]) -> Iterator[_Block]:
    """The blocks at the beginning."""
    partners = _partners(marks)
    place = at = 0
    while begins := _FRONT.match(text, at):
        opens = place
        place = partners.get(
            opens, next((each for each in range(opens, len(marks)) if marks[each]["closes"]), len(marks))
        )
        ends, stops = marks[place].span() if place < len(marks) else (len(text), len(text))
        yield at, begins.end(), ends, stops
        place, at = place + 1, stops


def _behind(text: str, begins: int, marks: Sequence[re.Match[str]]) -> list[_Block]:
    """The blocks behind those at the beginning."""
    partners = _partners(marks)
    closed = set(partners.values())
    blocks: list[_Block] = []
    for place, mark in enumerate(marks):
        if blocks and mark.start() < blocks[-1][3]:
            continue
        if mark["closes"]:
            if place not in closed:
                blocks = [(begins, begins, *mark.span())]
        elif place in partners:
            blocks.append((*mark.span(), *marks[partners[place]].span()))
        elif mark["line"] is not None:
            blocks.append((*mark.span(), len(text), len(text)))
    return blocks


def _partners(marks: Sequence[re.Match[str]]) -> dict[int, int]:
    """The places of opening marks, each with that of the mark that closes it."""
    found: dict[int, int] = {}
    open_: list[int] = []
    for place, mark in enumerate(marks):
        if not mark["closes"]:
            open_.append(place)
        elif open_:
            found[open_.pop()] = place
    return found


def _outside(spans: Sequence[tuple[int, int]], marks: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The marks that are in none of the spans, both in order."""
    place = 0
    for mark in marks:
        while place < len(spans) and spans[place][1] <= mark.start():
            place += 1
        if place == len(spans) or mark.start() < spans[place][0]:
            yield mark

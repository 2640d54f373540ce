"""Items of a batch that an answer quotes: words that it shares with exactly one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from audit.references.drafts import Draft, Scene
from audit.references.folding import fold
from audit.references.shown import Shown

LENGTH: Final = 8
"""Words in a row that make a quotation: fewer are shared by chance, or by the form of all items."""
MOST_WORDS: Final = 100_000
"""Words of a text that are looked at."""

_WORD: Final = re.compile(r"[a-z0-9]+")


def find_quotes(scene: Scene) -> Iterator[Draft]:
    """Find the passages of an answer, as long as possible, that are in the text of one item and in no other."""
    owners = _owners(scene.shown)
    if not owners:
        return
    words = list(islice(_WORD.finditer(scene.plain), MOST_WORDS))
    held = [owners.get(run) for run in _runs([word[0] for word in words])]
    first = 0
    while first < len(held):
        owner, last = held[first], first
        while last + 1 < len(held) and held[last + 1] == owner:
            last += 1
        if owner is not None and owner >= 0:
            start, end = words[first].start(), words[last + LENGTH - 1].end()
            yield Draft(start, end, "quote", scene.shown.targets[owner])
        first = last + 1


def _owners(shown: Shown) -> dict[tuple[str, ...], int]:
    """The place of the item that alone has some words in a row; -1 where several have them."""
    owners: dict[tuple[str, ...], int] = {}
    for place, item in enumerate(shown.rollouts):
        words = [word[0] for word in islice(_WORD.finditer(fold(item.text or "")), MOST_WORDS)]
        for run in set(_runs(words)):
            owners[run] = -1 if run in owners else place
    return owners


def _runs(words: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(words[start:] for start in range(LENGTH)), strict=False))

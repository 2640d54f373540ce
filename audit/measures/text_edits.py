"""How far apart are two texts: by characters, by words, by length?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from rapidfuzz.distance import Levenshtein

MOST_CELLS: Final = 2**32
"""Product of two lengths up to which characters are compared: a quarter of a second, texts of 65,536 characters.

Time grows with the product (50 picoseconds a cell, measured), so that two texts of 10 MB would take more than an hour.
"""

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


class TextEdit(NamedTuple):
    """What became of a text in named components; the three ratios are over the components that changed.

    Attributes:
        components: in either text.
        changed: the names of those that differ, or that only one text has, in order.
        edit_ratio: Levenshtein distance over the longer length, in characters, from 0 to 1: sums over components; None
            where a component is too long to compare.
        token_change: the share of words and punctuation marks that one text has and the other has not, from 0 to 1.
        length_ratio: length after over length before, in characters; None where there was nothing before.
    """

    components: int
    changed: list[str]
    edit_ratio: float | None
    token_change: float
    length_ratio: float | None


def text_edit(before: Mapping[str, str], after: Mapping[str, str]) -> TextEdit:
    """Compare two texts in named components; one that is missing counts as empty.

    Args:
        before: component → text.
        after: component → text.
    """
    names = sorted({*before, *after})
    changed = [name for name in names if before.get(name) != after.get(name)]
    pairs = [(before.get(name, ""), after.get(name, "")) for name in changed]
    distances = [edit_distance(*pair) for pair in pairs]
    known = [distance for distance in distances if distance is not None]
    longer = sum(max(map(len, pair)) for pair in pairs)
    lengths = [sum(len(pair[place]) for pair in pairs) for place in range(2)]
    return TextEdit(
        components=len(names),
        changed=changed,
        edit_ratio=None if len(known) < len(distances) else sum(known) / longer if longer else 0.0,
        token_change=_bag_distance(pairs),
        length_ratio=lengths[1] / lengths[0] if lengths[0] else None if lengths[1] else 1.0,
    )


def edit_distance(before: str, after: str) -> int | None:
    """The fewest characters to insert, delete or replace (Levenshtein); None beyond `MOST_CELLS`.

    What both texts begin and end with is left out first: a small change of a long text is always measured.

    Args:
        before: a text.
        after: another.
    """
    # A distance between texts is that between what differs of them.
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    return Levenshtein.distance(before, after) if len(before) * len(after) <= MOST_CELLS else None


def token_change(before: str, after: str) -> float:
    """The share of tokens, words or punctuation marks, that one text has and the other has not: from 0 to 1.

    `1 − 2|A ∩ B| / (|A| + |B|)` over multisets, which is one less the Sørensen–Dice coefficient; order does not count.

    Args:
        before: a text.
        after: another.
    """
    return _bag_distance([(before, after)])


def _bag_distance(pairs: Iterable[tuple[str, str]]) -> float:
    """The distance of all that comes first in some pairs from all that comes second.

    What both texts of a pair begin and end with is counted once: it adds as much to each text as to what they share.
    """
    alike, first, second = 0, Counter[str](), Counter[str]()
    for before, after in pairs:
        start, end = _begins_alike(before, after), _ends_alike(before, after)
        alike += len(_TOKEN.findall(before, 0, start)) + len(_TOKEN.findall(before, len(before) - end))
        first.update(_TOKEN.findall(before, start, len(before) - end))
        second.update(_TOKEN.findall(after, start, len(after) - end))
    total = 2 * alike + first.total() + second.total()
    return 1 - 2 * (alike + (first & second).total()) / total if total else 0.0


def _begins_alike(before: str, after: str) -> int:
    """How many characters two texts begin with alike, up to a blank, so that no token is cut."""
    shared = _shared(before, after)
    return (
        shared if shared == len(before) == len(after) else max(map(before.rfind, " \n", (0, 0), (shared, shared))) + 1
    )


def _ends_alike(before: str, after: str) -> int:
    """How many characters they end with alike beyond that, from a blank on."""
    start = _begins_alike(before, after)
    shared = _shared(before[start:][::-1], after[start:][::-1])
    tail = before[len(before) - shared :]
    found = [place for blank in " \n" if (place := tail.find(blank)) >= 0]
    return shared - min(found) if found else 0


def _shared(first: str, second: str) -> int:
    """How many characters two texts begin with alike; by halving, since comparing slices is fast."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

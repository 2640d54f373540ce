"""Answers that go in circles, as those of small models do."""

from __future__ import annotations

from typing import Final

TIMES: Final = 4
"""Repetitions that make a circle."""
SHORTEST: Final = 200
"""Characters that all repetitions together have at least: a ruled line of a table is none."""
WINDOW: Final = 2000
"""Characters of an answer that are looked at, from its end."""


def repeated_tail(text: str) -> str | None:
    """The text that an answer repeats at its end over and over, in short, or None.

    The end is a circle where it has a period: a length `p` such that its last characters equal those `p` places before
    them, over at least `TIMES` periods and `SHORTEST` characters. The prefix function of the reversed end (Knuth,
    Morris, Pratt 1977) gives the smallest period of every suffix.

    Args:
        text: the answer so far.
    """
    # Of a circle, a quarter of what it has at least comes once more, a period before: most answers have none.
    quarter = SHORTEST // TIMES
    if text.rfind(text[-quarter:], -quarter - WINDOW // TIMES, -1) < 0:
        return None
    end = text[: -WINDOW - 1 : -1]
    border = [0] * len(end)
    for place in range(1, len(end)):
        length = border[place - 1]
        while length and end[place] != end[length]:
            length = border[length - 1]
        border[place] = length + (end[place] == end[length])
    for size in range(len(end), SHORTEST - 1, -1):
        period = size - border[size - 1]
        if size >= TIMES * period:
            unit = text[-period:]
            return unit if period <= 60 else f"{unit[:59]}…"
    return None

"""Which columns of a table fit into a width, the most important ones first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

LEAST_TEXT: Final = 24
"""Characters that a column of text keeps at least, if its texts are as long; beyond, they are broken into lines."""


def fitting(
    essential: Sequence[str],
    more: Sequence[str],
    widths: Mapping[str, int],
    texts: Collection[str],
    room: int,
    order: Sequence[str] | None = None,
) -> dict[str, int]:
    """Choose columns that fit into a line, with a blank between each two.

    A column that does not fit makes way for a later one that does. Texts get what numbers leave of the line.

    Args:
        essential: columns as they are shown.
        more: columns that are added, in their order, where all of the essential ones have the width that they need and
            all columns have two blanks between.
        widths: characters that each column needs.
        texts: columns that can be narrower, because words can be broken into lines.
        room: characters of a line.
        order: the essential columns in the order of importance, the first of which is always chosen; as they are
            shown, if not given.

    Returns:
        The columns in the order in which they are shown, each with its width.
    """
    left = room + 1  # each column takes a blank more than its width, and the last one needs none
    narrow = narrowest(widths, texts)
    chosen: dict[str, int] = {}
    for column in order or essential:
        if narrow[column] < left or not chosen:
            chosen[column] = narrow[column]
            left -= narrow[column] + 1
    chosen = {column: chosen[column] for column in essential if column in chosen}
    for column, least in chosen.items():
        chosen[column] = min(widths[column], least + max(left, 0))
        left -= chosen[column] - least
    if len(chosen) == len(essential) and all(chosen[column] == widths[column] for column in chosen):
        left -= len(chosen) - 1  # a table that has more than it needs has two blanks between columns
        for column in more:
            if widths[column] + 2 <= left:
                chosen[column] = widths[column]
                left -= widths[column] + 2
    return chosen


def narrowest(widths: Mapping[str, int], texts: Collection[str]) -> dict[str, int]:
    """The widths of columns where texts are broken into lines."""
    return {column: min(width, LEAST_TEXT) if column in texts else width for column, width in widths.items()}


def stacked(
    order: Sequence[str],
    keys: Sequence[str],
    wanted: Sequence[str],
    widths: Mapping[str, int],
    texts: Collection[str],
    room: int,
) -> list[dict[str, int]]:
    """Choose columns of several tables below each other that have all wanted columns between them.

    Args:
        order: all columns in the order of importance; those that are not wanted are in the first table that has room.
        keys: those that every table begins with.
        wanted: those that some table has to have, as they are shown.
        widths: characters that each column needs.
        texts: columns that can be narrower, because words can be broken into lines.
        room: characters of a line, which a table exceeds only for a single column beside its keys.

    Returns:
        For each table its columns, each with its width.
    """
    least = narrowest(widths, texts)
    parts: list[list[str]] = []
    for column in (column for column in wanted if column not in keys):
        if not parts or sum(least[each] + 1 for each in (*keys, *parts[-1], column)) > room + 1:
            parts.append([])
        parts[-1].append(column)
    rest = [column for column in order if column not in {*keys, *wanted}]
    tables = []
    for part in parts:
        found = fitting([*keys, *part, *rest], [], widths, texts, room)
        tables.append({each: least[each] for each in (*keys, *part)} | found)
        rest = [column for column in rest if column not in found]
    return tables

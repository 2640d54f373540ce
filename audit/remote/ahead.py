"""What of a Parquet file is read next: of a column that was read in two neighbouring row groups, the following ones.

DuckDB asks for one part of a column at a time, and for the next one when it has it. Over a network most of the time
would pass between the two.
"""

from __future__ import annotations

import bisect
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final

WINDOW: Final = 24 * 2**20
"""Bytes that are read ahead of a column at most."""
GROUPS: Final = 48
"""Row groups that are read ahead at most."""
UNFORESEEN: Final = 1_000_000
"""Bytes that DuckDB reads at once where it has not foreseen a read: only the first column is known to be wanted."""

Chunk = tuple[int, int, int, int]
"""A part of a column: row group, column, first byte, and the byte after the last."""


class Ahead:
    """Follows the reads of one file.

    Args:
        layout: gives the parts of all columns. It is called at the first read, and reads the file itself.
    """

    def __init__(self, layout: Callable[[], Iterable[Chunk]]) -> None:
        self._layout: Callable[[], Iterable[Chunk]] | None = layout
        self._lock = threading.Lock()
        self._parts: list[Chunk] = []
        self._places: list[int] = []
        self._chunks: dict[tuple[int, int], tuple[int, int]] = {}
        self._touched: dict[int, set[int]] = defaultdict(set)
        self._asked: set[tuple[int, int]] = set()

    def after(self, start: int, end: int) -> list[tuple[int, int]]:
        """The ranges that will probably be read after this one.

        Args:
            start: first byte of a range that is read now.
            end: after its last one.
        """
        with self._lock:
            layout, self._layout = self._layout, None
        if layout is not None:
            parts = sorted(layout(), key=lambda part: part[2])
            with self._lock:
                self._parts = parts
                self._places = [place for _, _, place, _ in parts]
                self._chunks = {(group, column): (place, stop) for group, column, place, stop in parts}
        if end - start == UNFORESEEN:
            end = start + 1
        with self._lock:
            first = bisect.bisect_right(self._places, start) - 1
            last = bisect.bisect_left(self._places, end)
            found: list[tuple[int, int]] = []
            for group, column, _, stop in self._parts[max(first, 0) : last]:
                if stop > start:
                    found += self._following(group, column)
            return found

    def _following(self, group: int, column: int) -> list[tuple[int, int]]:
        touched = self._touched[column]
        touched.add(group)
        if group - 1 not in touched:
            return []
        found: list[tuple[int, int]] = []
        room = WINDOW
        for next_group in range(group + 1, group + 1 + GROUPS):
            chunk = self._chunks.get((next_group, column))
            if chunk is None:
                break
            room -= chunk[1] - chunk[0]
            if room < 0:
                break
            if (next_group, column) not in self._asked:
                self._asked.add((next_group, column))
                found.append(chunk)
        return found

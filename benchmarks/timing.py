"""Timing ways of doing the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

REPETITIONS = 5
SHORTEST = 0.01
"""Seconds that a timing must last; quicker ways are repeated."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Best times in seconds of our way and of the alternative's, taken alternately."""

    name: str
    ours: float
    alternative: float

    @property
    def ratio(self) -> float:
        """How many times as fast we are."""
        return self.alternative / self.ours


def compare(name: str, ours: Callable[[], object], alternative: Callable[[], object]) -> Comparison:
    """Time both."""
    return Comparison(name, *best_times(ours, alternative))


def best_times(*ways: Callable[[], object]) -> list[float]:
    """Seconds that each way takes: the best of several, taken in turns, so that a busy moment hits all alike."""
    repeats = [_repeats(way) for way in ways]
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(REPETITIONS):
        for way, count, taken in zip(ways, repeats, times, strict=True):
            started = time.perf_counter()
            for _ in range(count):
                way()
            taken.append((time.perf_counter() - started) / count)
    return [min(taken) for taken in times]


def _repeats(way: Callable[[], object]) -> int:
    way()  # what is done once (compiling, opening) is not what is measured
    started = time.perf_counter()
    way()
    return max(1, int(SHORTEST / (time.perf_counter() - started)))

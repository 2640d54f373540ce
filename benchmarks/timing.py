"""Timing two ways of doing the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class Comparison:
    """Best times in seconds of our way and of the alternative's, taken turn about."""

    name: str
    ours: float
    alternative: float

    @property
    def ratio(self) -> float:
        """How many times as fast we are."""
        return self.alternative / self.ours


def compare(name: str, ours: Callable[[], object], alternative: Callable[[], object]) -> Comparison:
    """Time both, in turns, so that a busy moment of the machine hits both alike; the best of each counts."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPETITIONS):
        for way, taken in zip((ours, alternative), times, strict=True):
            started = time.perf_counter()
            way()
            taken.append(time.perf_counter() - started)
    return Comparison(name, min(times[0]), min(times[1]))

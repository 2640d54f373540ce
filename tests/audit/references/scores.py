"""How well a yes-or-no detector agrees with a reference."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """Of a detector: true and false positives, false and true negatives."""

    hits: int
    false_alarms: int
    misses: int
    rejections: int

    @classmethod
    def of(cls, truth, found):
        pairs = Counter(zip(map(bool, truth), map(bool, found), strict=True))
        return cls(pairs[True, True], pairs[False, True], pairs[True, False], pairs[False, False])

    @property
    def precision(self):
        found = self.hits + self.false_alarms
        return self.hits / found if found else None

    @property
    def recall(self):
        present = self.hits + self.misses
        return self.hits / present if present else None

    @property
    def f1(self):
        wrong = self.false_alarms + self.misses
        return 2 * self.hits / (2 * self.hits + wrong) if self.hits + wrong else None

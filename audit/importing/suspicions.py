"""What is suspicious about a log that could be imported, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import gcd
from typing import Any, Final

from audit.importing.fields import IDENTITY
from audit.importing.guessing.names import COSTS, words_of
from audit.importing.mapping import LogMapping
from audit.output.errors import count

FEWEST: Final = 3
"""Rows from which on a rule is no accident."""
DIGITS: Final = 9
"""Longer names of iterations are times."""
EXTREMES: Final = {"worst": min, "best": max}
SAMPLED: Final = "; history() of W&B is a sample, and scan_history() gives all"
_SCORES: Final = ("initial.returns", "initial.mean_return", "revised.returns", "revised.mean_return")

Run = tuple[object, ...]


class Suspicions:
    """Looks at rows and records, and describes what is suspicious.

    Args:
        mapping: of the log.

    Attributes:
        unordered: runs whose rows are not in the order of their steps.
        repeated: rows with the text or parameters of an earlier row of their run.
        rescored: rows that repeat an earlier one with another score.
    """

    def __init__(self, mapping: LogMapping) -> None:
        self.unordered = self.repeated = self.rescored = 0
        self._mapping = mapping
        self._counts = "step" if mapping.has("step") else "iteration"
        self._steps: dict[Run, list[float]] = {}
        self._mislabelled: dict[str, list[int]] = {label: [0, 0] for label in EXTREMES}
        self._lower = self._unequal = 0
        self._falling: list[Sequence[float]] = []

    def see_row(self, given: Mapping[str, Any]) -> None:
        """Look at the fields of a row, in the order of the log."""
        step = given.get(self._counts)
        if isinstance(step, str) and step.isdecimal() and len(step) < DIGITS:
            step = int(step)
        if isinstance(step, int | float):
            run = tuple(given.get(name) for name in IDENTITY if name != "iteration")
            self._steps.setdefault(run, []).append(step)

    def see_scores(self, scores: Sequence[float]) -> None:
        """Look at the scores of a run's candidates, in their order."""
        lowest = [score for place, score in enumerate(scores) if score < min(scores[:place], default=score)]
        if len(lowest) >= FEWEST and max(scores) == scores[0]:
            self._falling.append(scores)

    def see_record(self, record: Mapping[str, Any]) -> None:
        """Look at a record."""
        initial, revised = record["initial"], record["revised"]
        returns = initial and initial["returns"]
        for item in (record["evidence"] or {}).get("shown", ()) if returns else ():
            if item["label"] in EXTREMES and item["rollout"] is not None:
                counts = self._mislabelled[item["label"]]
                counts[0] += returns[item["rollout"]] != EXTREMES[item["label"]](returns)
                counts[1] += 1
        if "selected" in self._mapping.columns and initial and revised:
            before, after = initial["mean_return"], revised["mean_return"]
            if before is not None and after is not None and before != after:
                self._unequal += 1
                self._lower += (record["selected"] == "revised") == (after < before)

    def lines(self) -> Iterator[str]:
        """What is suspicious."""
        yield from self._direction()
        yield from self._order()
        for (label, (wrong, rows)), extreme in zip(self._mislabelled.items(), ("lowest", "highest"), strict=True):
            if wrong:
                yield f"the rollout called {label} has not the {extreme} return in {wrong} of {count(rows, 'row')}"
        if self.repeated and not self._mapping.has("step"):
            what = (
                "a population? With the column of its steps as [fields] step, only the first row of a candidate counts"
            )
            yield f"{count(self.repeated, 'row')} with the candidate of an earlier row of the run: {what}"
        if self.rescored:
            yield f"{count(self.rescored, 'row')} carried over with another score: that of the first row counts"

    def _direction(self) -> Iterator[str]:
        better, other, words = (
            ("lower", "maximize", "rise") if self._mapping.is_cost else ("higher", "minimize", "fall")
        )
        columns = [self._mapping.columns[name] for name in _SCORES if name in self._mapping.columns]
        if self._mapping.is_cost:
            yield "lower scores are better: records have their negatives"
        elif self._mapping.direction is None and (
            self._mapping.parents is not None or any({*words_of(column)} & COSTS for column in columns)
        ):
            named = ", ".join(dict.fromkeys(columns))
            yield f"no direction is stated: higher {named} is taken for better; if lower is, give --direction minimize"
        wrong = []
        if self._falling:
            wrong.append(f"scores {words} from the first candidate on in {count(len(self._falling), 'run')}")
        if self._unequal >= FEWEST and 2 * self._lower > self._unequal:
            wrong.append(f"the worse candidate was kept in {self._lower} of {count(self._unequal, 'row')}")
        for each in wrong:
            yield f"{each}, where {better} scores count as better; if that is wrong, give --direction {other}"

    def _order(self) -> Iterator[str]:
        column = self._mapping.columns.get(self._counts, "@row")
        if column.startswith("@"):
            return
        unordered = self.unordered
        if self._mapping.parents is None:
            unordered = sum(any(after < before for before, after in pairwise(steps)) for steps in self._steps.values())
        if unordered:
            yield f"the rows of {count(unordered, 'run')} are not in the order of {column!r}, in which they are read"
        missing = expected = 0
        for steps in self._steps.values():
            whole = sorted({int(step) for step in steps})
            gaps = [after - before for before, after in pairwise(whole)]
            stride = _stride(gaps)
            absent = sum((gap - 1) // stride for gap in gaps)
            missing += absent
            expected += absent + len(whole)
        if missing:
            more = SAMPLED if column == "_step" else ""
            yield f"steps are missing: {missing} of {expected} by {column!r}{more}"


def _stride(gaps: Sequence[int]) -> int:
    """The distance of a run's steps, of which the first or the last one may be out of line."""
    usual = min(gaps[1:-1], default=1)
    odd = sum(gap % usual > 0 for gap in (*gaps[:1], *gaps[-1:]))
    is_regular = all(gap % usual == 0 for gap in gaps[1:-1]) and gaps.count(usual) > odd
    return usual if is_regular else gcd(*gaps) or 1

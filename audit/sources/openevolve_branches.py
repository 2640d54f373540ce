"""Iterations of an OpenEvolve run that ended with a branch: the run was resumed from a checkpoint before them.

A resumed run counts on from its checkpoint in the same trace and the same folder of checkpoints, so that iterations
after that checkpoint are there a second time. A run itself counts each iteration once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_MOST: Final = 50
"""Iterations that are looked at for where a run was resumed, and places for each; beyond that, numbers are wrong."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an iteration made, as far as its branch depends on it.

    Attributes:
        iteration: its number in the log.
        child, parent: names of programs.
        time: seconds; None where the log does not state it.
        place: of its line in the trace; None of a program that only checkpoints have.
    """

    iteration: int
    child: str
    parent: str
    time: float | None
    place: int | None


def left_behind(steps: Sequence[Step], saved: Mapping[str, int]) -> set[int]:
    """Places in the sequence of iterations that a resumed run knows nothing of.

    Args:
        steps: iterations in the order in which they were made.
        saved: program → the first checkpoint that has it.
    """
    lost: set[int] = set()
    for start, end in pairwise([*_starts(steps, saved), len(steps)]):
        gone = _gone(steps, saved, start, end)
        # A program whose parent was lost cannot be: then a number is wrong, and nothing was resumed.
        if _is_possible(steps, gone - lost, start, end):
            lost |= gone
    return lost


def _gone(steps: Sequence[Step], saved: Mapping[str, int], start: int, end: int) -> set[int]:
    """What a run that was resumed at one place, and went on to another, knows nothing of."""
    first = min(step.iteration for step in steps[start:end])
    before = enumerate(steps[:start])
    return {place for place, step in before if step.iteration >= first and saved.get(step.child, first) >= first}


def _is_possible(steps: Sequence[Step], gone: set[int], start: int, end: int) -> bool:
    names = {steps[place].child for place in gone}
    return not any(step.parent in names for step in steps[start:end])


def _starts(steps: Sequence[Step], saved: Mapping[str, int]) -> list[int]:
    """Where a run was resumed: before an iteration that is there again, with one that counts back.

    Of several places that is the one after the longest pause.
    """
    starts: list[int] = []
    seen: dict[int, int] = {}
    twice = 0
    for place, step in enumerate(steps):
        if step.iteration in seen:
            if (twice := twice + 1) > _MOST:
                return []
            after = seen[step.iteration] + 1
            back = [each for each in range(after, place) if steps[each].iteration < steps[each - 1].iteration]
            likely = sorted([*back, place], key=lambda each: (-_pause(steps, each), each))[:_MOST]
            possible = (
                each for each in likely if _is_possible(steps, _gone(steps, saved, each, place + 1), each, place + 1)
            )
            start = next(possible, place)
            if start not in starts:
                starts.append(start)
            again = {steps[each].iteration: each for each in range(start, place)}
            first = min([*again, step.iteration])
            seen = {number: each for number, each in seen.items() if number < first and each < start} | again
        seen[step.iteration] = place
    return starts


def _pause(steps: Sequence[Step], place: int) -> float:
    """Seconds before an iteration."""
    before, now = steps[place - 1].time, steps[place].time
    return 0.0 if before is None or now is None else now - before

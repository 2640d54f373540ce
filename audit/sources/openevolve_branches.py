"""Iterations of an OpenEvolve run that ended with a branch: the run was resumed from a checkpoint before them.

A resumed run counts on from its checkpoint in the same trace and the same folder of checkpoints, so that iterations
after that checkpoint are there a second time. A run itself counts each iteration once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


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
    for start, end in pairwise([*_starts(steps), len(steps)]):
        first = min(steps[place].iteration for place in range(start, end))
        gone = {
            place
            for place in range(start)
            if steps[place].iteration >= first and saved.get(steps[place].child, first) >= first
        }
        names = {steps[place].child for place in gone - lost}
        # A program whose parent was lost cannot be: then a number is wrong, and nothing was resumed.
        if not any(steps[place].parent in names for place in range(start, end)):
            lost |= gone
    return lost


def _starts(steps: Sequence[Step]) -> list[int]:
    """Where a run was resumed: before an iteration that is there again, with the first one that counts back."""
    starts: list[int] = []
    seen: dict[int, int] = {}
    for place, step in enumerate(steps):
        if step.iteration in seen:
            after = seen[step.iteration] + 1
            back = [each for each in range(after, place) if steps[each].iteration < steps[each - 1].iteration]
            start = max([*back, place], key=lambda each: (_pause(steps, each), -each))
            starts.append(start)
            seen = {steps[each].iteration: each for each in range(start, place)}
        seen[step.iteration] = place
    return starts


def _pause(steps: Sequence[Step], place: int) -> float:
    """Seconds before an iteration."""
    before, now = steps[place - 1].time, steps[place].time
    return 0.0 if before is None or now is None else now - before

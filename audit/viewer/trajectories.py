"""The steps of the rollouts that a critic read, from its exact prompt, with those that its answer mentions.

The prompts of `collect` have a heading with the rollout's number, and below it a line with a step after the other:
`state->action->next state | state->action->next state`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

MOST: Final = 1_000
"""Steps of a rollout that are laid out."""
_HEADING: Final = re.compile(r"\brollout (\d+)\b", re.IGNORECASE)
_STEP: Final = re.compile(r"(\[[^\]]*\]|[^\s|>]+)->(\[[^\]]*\]|[^\s|>]+)->(\[[^\]]*\]|[^\s|>]+)")
_NUMBERED: Final = re.compile(r"\b(?:time\s?)?steps?\s+(\d{1,6})(?:\s*(?:-|–|to|through)\s*(\d{1,6}))?", re.IGNORECASE)
_STATE: Final = re.compile(r"[(\[]\s*(-?[\d.]+(?:e-?\d+)?(?:\s*,\s*-?[\d.]+(?:e-?\d+)?)+)\s*[)\]]", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")

Step = tuple[str, str, str]


def trajectories(prompt: str) -> dict[int, list[Step]]:
    """The steps in a prompt by the number of their rollout; empty where it has none in this form."""
    found: dict[int, list[Step]] = {}
    heading = None
    for line in prompt.splitlines():
        steps = _STEP.findall(line) if line.count("->") > 1 else []
        if steps and heading is not None:
            found.setdefault(heading, []).extend(steps)
        elif line.strip():
            number = _HEADING.search(line)
            heading = int(number[1]) if number and line.rstrip().endswith(":") else None
    return found


def mentioned(
    answer: str, steps: Mapping[int, Sequence[Step]], mentions: Sequence[Mapping[str, Any]]
) -> dict[int, set[int]]:
    """The places of the steps, from 0, that an answer names, by the number of their rollout.

    A step is named by its number, counted from 1, or by its state. A number is of the rollouts that the same sentence
    mentions, or else of all; a state is of wherever it is.

    Args:
        answer: as written.
        steps: of each rollout.
        mentions: with `start` and the numbers of `rollouts`.
    """
    found: dict[int, set[int]] = {number: set() for number in steps}
    states: dict[tuple[float, ...], list[tuple[int, int]]] = {}
    for number, each in steps.items():
        for place, (state, _, _) in enumerate(each):
            states.setdefault(_numbers(state), []).append((number, place))
    for match in _STATE.finditer(answer):
        for number, place in states.get(_numbers(match[1]), ()):
            found[number].add(place)
    start = 0
    for end in [*(each.start() for each in _SENTENCE.finditer(answer)), len(answer)]:
        own = {
            number for each in mentions if start <= each["start"] < end for number in each["rollouts"]
        } & steps.keys()
        for match in _NUMBERED.finditer(answer, start, end):
            first, last = int(match[1]), int(match[2] or match[1])
            for number in own or steps:
                found[number].update(range(max(0, first - 1), min(last, len(steps[number]))))
        start = end
    return found


def laid_out(steps: Sequence[Step], marked: Collection[int]) -> dict[str, Any]:
    """The steps as the page shows them."""
    return {"steps": steps[:MOST], "total": len(steps), "marked": sorted(place for place in marked if place < MOST)}


def _numbers(text: str) -> tuple[float, ...]:
    numbers = []
    for part in text.strip("[]() ").split(","):
        try:
            numbers.append(float(part))
        except ValueError:
            numbers.append(math.nan)  # equals nothing
    return tuple(numbers)

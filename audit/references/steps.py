"""The steps of the rollouts that a critic read, from its exact prompt, and those that its answer names.

Prompts have a heading with the rollout's number, and below it its steps: `state->action->next state`, one after the
other in a line, where `(14 steps left out)` or `... 14 omitted steps ...` counts, or
`step 0: state=… -> action=… -> reward=…`, a line each.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

from audit.references.sentences import Sentences

MOST_STATES: Final = 500
"""States in an answer that are looked up; of those of one number, in a sentence."""
MOST: Final = 1_000
"""Steps of a rollout that are laid out."""
_HEADING: Final = re.compile(r"\b(?:rollout|trajectory) (\d+)\b", re.IGNORECASE)
_PART: Final = r"(\[[^\]]*\]|[^\s|>]+)"
_CHAINED: Final = re.compile(rf"{_PART}->{_PART}->{_PART}|(?:\(|\.\.\. )(\d+) (?:steps left out|omitted steps)")
_LISTED: Final = re.compile(r"\s*step (\d+): state=(.+?) -> action=(.+?) -> (.+)")

_WHOLE: Final = r"(?<![\d.])\d{1,6}(?!\d|[.,]\d|\s{0,4}(?:times|fold|-fold|%))"
"""A number that is neither a part of another one nor counts how often."""
_UNIT: Final = r"(?:time[\s-]?)?steps?"
_RANGE: Final = r"\s{0,4}(?:-|–|—|to|through|until)\s{0,4}"
_LIST: Final = r"\s{0,4}(?:,\s{0,4}and|,|and|or|&)\s{0,4}"
_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERED: Final = re.compile(
    rf"(?P<between>\bbetween\s{{1,4}})?\b{_UNIT}\s{{0,4}}(?:number|index)?\s{{0,4}}[#*]{{0,4}}"
    rf"(?P<numbers>{_WHOLE}(?:\*{{0,3}}(?:{_RANGE}|{_LIST})(?:{_UNIT}\s{{1,4}})?\*{{0,3}}{_WHOLE})*)(?P<heads>:)?"
    rf"|\b(?P<nth>\d{{1,6}})(?:st|nd|rd|th)\s{{1,4}}{_UNIT}"
    rf"|\bt\s{{0,4}}[=_]\s{{0,4}}\{{?(?P<t>{_WHOLE})"
    rf"|(?<!\ba )\b(?P<end>first|last|final)\s{{1,4}}(?P<many>\d{{1,3}}|{'|'.join(_WORDS)})?\s{{0,4}}{_UNIT}\b",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(rf"(?P<range>{_RANGE})?(?:{_UNIT}\s{{1,4}})?\*{{0,3}}(?P<number>\d+)", re.IGNORECASE)
_DENIED: Final = re.compile(r"\bnot\s{1,4}(?:at\s{1,4})?$", re.IGNORECASE)
_NUMBER: Final = r"-?[\d.]{1,24}(?:e-?\d{1,3})?"
_STATE: Final = re.compile(rf"[(\[]\s{{0,4}}({_NUMBER}(?:\s{{0,4}},\s{{0,4}}{_NUMBER})+)\s{{0,4}}[)\]]", re.IGNORECASE)
_PLACES: Final = re.compile(
    rf"\bstates?\s{{0,4}}(?P<numbers>[(\[]?{_WHOLE}[)\]]?(?:{_LIST}[(\[]?{_WHOLE}[)\]]?)*)", re.IGNORECASE
)
_JOINED: Final = re.compile(r"(?:\W|\b(?:and|or|the|rollouts?|both|as well as)\b)*", re.IGNORECASE)

Step = tuple[str, str, str]
Steps = Mapping[int, Step]
"""Of one rollout, by their numbers: those in the prompt, else from 1."""
Numbers = tuple[float, ...]
"""Of a state."""
Named = dict[int, set[int]]


def trajectories(prompt: str) -> dict[int, dict[int, Step]]:
    """The steps in a prompt by the number of their rollout; empty where it has none in a form that is known.

    A rollout that is shown under several headings, as the worst one and the best one where all are alike, counts once.
    """
    found: dict[int, dict[int, Step]] = {}
    steps: dict[int, Step] | None = None
    for line in prompt.splitlines():
        if listed := _LISTED.match(line):
            here = [(int(listed[1]), (listed[2], listed[3], listed[4].strip()))]
        else:
            here = list(_chained(line, max(steps or (0,)) + 1)) if line.count("->") > 1 else []
        if here and steps is not None:
            steps.update(here)
        elif line.strip():
            number = _HEADING.search(line) if line.rstrip().endswith(":") else None
            steps = None if number is None else {} if int(number[1]) in found else found.setdefault(int(number[1]), {})
    return {number: each for number, each in found.items() if each}


def _chained(line: str, number: int) -> Iterator[tuple[int, Step]]:
    for match in _CHAINED.finditer(line):
        if match[4] is not None:
            number += int(match[4])
        else:
            yield number, (match[1], match[2], match[3])
            number += 1


def mentioned(answer: str, steps: Mapping[int, Steps], mentions: Sequence[Mapping[str, Any]]) -> Named:
    """The numbers of the steps that an answer names, by the number of their rollout.

    A step is named by its number or by its state. Either is of the rollouts that the sentence names last before it, or
    else first behind it, or else of those that the sentence before names last, or else of all; a state of several
    numbers is of wherever it is, as written or else rounded, if only one step of a rollout is so.

    Args:
        answer: as written.
        steps: of each rollout.
        mentions: with `start`, `end`, `negated` and the numbers of `rollouts`.
    """
    found: Named = {number: set() for number in steps}
    states = {number: {step: _numbers(state) for step, (state, _, _) in each.items()} for number, each in steps.items()}
    for text in list(dict.fromkeys(match[1] for match in _STATE.finditer(answer)))[:MOST_STATES]:
        for number, each in states.items():
            found[number] |= _with_state(text, each)
    sentences = Sentences(answer)
    known: dict[int, list[Mapping[str, Any]]] = {}
    for mention in mentions:
        if mention["rollouts"] and not mention["negated"]:
            known.setdefault(sentences.number(mention["start"]), []).append(mention)
    before: Collection[int] | None = None
    for place, (start, end) in enumerate(pairwise([*map(sentences.start, range(len(sentences))), len(answer)])):
        own = known.get(place, [])
        for match in [
            *_NUMBERED.finditer(answer, start, end),
            *islice(_PLACES.finditer(answer, start, end), MOST_STATES),
        ]:
            meant = _meant(answer, match.start(), own, before)
            is_first = not answer[start : match.start()].strip(" \n\t#*-")
            for number, numbers in states.items():
                if meant is None or number in meant:
                    found[number] |= _named(match, numbers, is_first=is_first)
        before = own[-1]["rollouts"] if own else None
    return found


def _meant(
    answer: str, place: int, own: Sequence[Mapping[str, Any]], before: Collection[int] | None
) -> set[int] | None:
    """The rollouts that a place in a sentence is about; None for all.

    Args:
        answer: as written.
        place: in it.
        own: the mentions of the sentence.
        before: the rollouts that the sentence before named last.
    """
    if not own:
        return None if before is None else set(before)
    end = bisect_left(own, place, key=lambda each: each["start"])
    first = max(end - 1, 0)
    while 0 < first < end and _JOINED.fullmatch(answer, own[first - 1]["end"], own[first]["start"]):
        first -= 1
    return {number for each in own[first : max(end, 1)] for number in each["rollouts"]}


def _named(match: re.Match[str], steps: Mapping[int, Numbers], *, is_first: bool) -> set[int]:
    """The numbers of the steps of a rollout that a match names; none for the heading of a list, as in "Step 1: …"."""
    groups = match.groupdict()
    if match.re is _PLACES:
        wanted = {float(each) for each in re.findall(r"\d+", groups["numbers"])}
        return {number for number, state in steps.items() if len(state) == 1 and state[0] in wanted}
    if groups["end"]:
        many = (groups["many"] or "").lower()
        if groups["end"].lower() == "first" and not many:
            return set()  # most often the first step of a plan
        count = int(many) if many.isdigit() else _WORDS.index(many) + 1 if many else 1
        ordered = sorted(steps)
        return set(ordered[:count] if groups["end"].lower() == "first" else ordered[-count:])
    if (groups["heads"] and is_first) or _DENIED.search(match.string, max(0, match.start() - 20), match.start()):
        return set()
    if single := groups["nth"] or groups["t"]:
        return {int(single)} & steps.keys()
    found: set[int] = set()
    low = 0
    for piece in _PIECE.finditer(groups["numbers"]):
        high = int(piece["number"])
        is_range = piece["range"] or (groups["between"] and found)
        found |= {number for number in steps if low < number <= high} if is_range else {high} & steps.keys()
        low = high
    return found


def _with_state(text: str, steps: Mapping[int, Numbers]) -> set[int]:
    """The numbers of the steps with a state, as written or else rounded as it is, if only one is so."""
    wanted = _numbers(text)
    exact = {number for number, state in steps.items() if state == wanted}
    places = [len(part.strip().partition(".")[2]) for part in text.split(",")]
    if exact or min(places) < 1 or "e" in text.lower():
        return exact
    near = {
        number
        for number, state in steps.items()
        if len(state) == len(wanted)
        and all(abs(a - b) <= 0.5 * 10**-place * (1 + 1e-9) for a, b, place in zip(state, wanted, places, strict=True))
    }
    return near if len(near) == 1 else set()


def laid_out(steps: Steps, marked: Collection[int]) -> dict[str, Any]:
    """The steps as the page shows them, each with its number first; `total` is how many the prompt has."""
    shown = sorted(steps.items())[:MOST]
    return {
        "steps": [[number, *step] for number, step in shown],
        "total": len(steps),
        "marked": sorted({number for number, _ in shown} & set(marked)),
    }


def _numbers(text: str) -> Numbers:
    numbers = []
    for part in text.strip("[]() ").split(","):
        try:
            numbers.append(float(part))
        except ValueError:
            numbers.append(math.nan)  # equals nothing
    return tuple(numbers)

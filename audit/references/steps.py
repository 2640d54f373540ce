"""The steps of the rollouts that a critic read, from its exact prompt, and those that its answer names.

Prompts have a heading with the rollout's number, and below it its steps: `state->action->next state`, one after the
other in a line, or a line each, `step 0: state=… -> action=… -> reward=…` or `state … action … reward …`. Of some that
are left out there is their number, in `(14 steps left out)` or `... 14 omitted steps ...`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final

from audit.references.sentences import Sentences

MOST_STATES: Final = 500
"""States and transitions in an answer that are looked up."""
MOST: Final = 1_000
"""Steps of a rollout that are laid out."""
_HEADING: Final = re.compile(r"\b(?:rollout|trajectory) (\d+)\b", re.IGNORECASE)
_PART: Final = r"(\[[^\]]*\]|[^\s|>]+)"
_LEFT_OUT: Final = r"(?:\(|\.\.\. )(\d+) (?:steps? left out|omitted steps?)"
_CHAINED: Final = re.compile(rf"{_PART}->{_PART}->{_PART}|{_LEFT_OUT}")
_LISTED: Final = re.compile(r"\s*step (\d+): state=(.+?) -> action=(.+?) -> (.+)")
_PLAIN: Final = re.compile(r"\s*state (.+?) action (.+?) (reward .+)")

_WHOLE: Final = r"(?<!\d)(?<!\d\.)\d{1,6}(?!\d|[.,]\d|\s{0,4}(?:times|fold|-fold|%))"
"""A number that is neither a part of another one nor counts how often."""
_UNIT: Final = r"(?:(?:time[\s-]?)?steps?|frames?)"
_RANGE: Final = r"\s{0,4}(?:-to-|-|–|—|→|->|…|\.{2,3}|(?:up\s)?to|through|until)\s{0,4}"
_LIST: Final = r"\s{0,4}(?:,?\s{0,4}and(?:\sthen)?|,|or|&|/)\s{0,4}"
_MARK: Final = r"[#*`$~≈({\[]{0,4}"
_WORDS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERED: Final = re.compile(
    rf"(?P<between>\bbetween\s{{1,4}})?\b{_UNIT}\s{{0,4}}(?:number|index)?\s{{0,4}}{_MARK}"
    rf"(?P<numbers>{_WHOLE}(?:\*{{0,3}}(?:{_RANGE}|{_LIST})(?:{_UNIT}\s{{1,4}})?\*{{0,3}}{_WHOLE})*)[)}}\]*`$]{{0,4}}(?P<heads>:)?"
    rf"|\b(?P<nth>\d{{1,6}})(?:st|nd|rd|th)\s{{1,4}}{_UNIT}"
    rf"|\bt\s{{0,4}}[=_≈~]\s{{0,4}}\{{?(?P<t>{_WHOLE})"
    rf"|(?<!\ba )(?<!to[ -])\b(?P<end>first|opening|initial|last|final|closing)\s{{1,4}}"
    rf"(?P<many>\d{{1,3}}|{'|'.join(_WORDS)})?\s{{0,4}}(?:shown\s)?{_UNIT}\b",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(rf"(?P<range>{_RANGE})?(?:{_UNIT}\s{{1,4}})?\*{{0,3}}(?P<number>\d+)", re.IGNORECASE)
_FIRST: Final = frozenset({"first", "opening", "initial"})
_PLANNED: Final = 9
"""The largest number that a step of a plan in the form "Step 2: …" is taken to have."""
_DENIED: Final = re.compile(r"\bnot\s{1,4}(?:at\s{1,4})?$", re.IGNORECASE)
_ONE_S: Final = re.compile(r"(?:['’]s|\bvery)\s{1,4}$", re.IGNORECASE)
_OF_A_PLAN: Final = re.compile(
    r"\s{1,4}of\s{1,4}(?:the|this|my|our|your)\s{1,4}(?:plan|optimi[sz]ation|search|procedure|process|method|task)\b",
    re.IGNORECASE,
)
_NEXT_TO: Final = re.compile(
    r"\s{0,4}\(?(?:\s?\b(?:of|in|for|from|on|during|that|the|its|is)\b){0,3}\s{0,4}[\"'*_]{0,3}", re.IGNORECASE
)
"""What may be between a step and the rollout that it is of, if that is named behind it."""
_JOINED: Final = re.compile(r"(?:\W|\b(?:and|or|the|rollouts?|both|as well as)\b)*", re.IGNORECASE)

_NUMBER: Final = r"-?[\d.]{1,24}(?:e-?\d{1,3})?"
_VECTOR: Final = rf"{_NUMBER}(?:\s{{0,4}},\s{{0,4}}{_NUMBER})+"
_STATE: Final = re.compile(rf"[(\[]\s{{0,4}}({_VECTOR})(?:,\s{{0,4}}(?:…|\.\.\.))?\s{{0,4}}[)\]]", re.IGNORECASE)
_PLACE: Final = re.compile(r"\bstate\s{1,4}[(\[](\d{1,4})[)\]]", re.IGNORECASE)
_ARROW: Final = r"\s{0,2}(?:->|→)\s{0,2}"
_TRANSITION: Final = re.compile(
    rf"(?<![\d.])(?<!->)(?<!→)([(\[]{_VECTOR}[)\]]|\d{{1,4}}){_ARROW}[(\[]?({_NUMBER})[)\]]?{_ARROW}"
    rf"([(\[]{_VECTOR}[)\]]|\d{{1,4}}|\[END\]|\[GOAL\])(?!\d|\.\d|{_ARROW})",
    re.IGNORECASE,
)

Step = tuple[str, str, str]
Steps = Mapping[int, Step]
"""Of one rollout, by their numbers: those in the prompt, else from 1."""
Numbers = tuple[float, ...]
"""Of a state."""
Named = dict[int, set[int]]
Mentions = Sequence[Mapping[str, Any]]


def trajectories(prompt: str) -> dict[int, dict[int, Step]]:
    """The steps in a prompt by the number of their rollout; empty where it has none in a form that is known.

    A rollout that is shown under several headings, as the worst one and the best one where all are alike, counts once.
    """
    found: dict[int, dict[int, Step]] = {}
    steps: dict[int, Step] | None = None
    number = 1
    for line in prompt.splitlines():
        here, following = _steps_in(line, number)
        if (here or following > number) and steps is not None:
            steps.update(here)
            number = following
        elif line.strip():
            heading = _HEADING.search(line) if line.rstrip().endswith(":") else None
            steps, number = None, 1
            if heading is not None:
                steps = {} if int(heading[1]) in found else found.setdefault(int(heading[1]), {})
    return {number: each for number, each in found.items() if each}


def _steps_in(line: str, number: int) -> tuple[dict[int, Step], int]:
    """The steps in a line, of which the first has a number unless it states its own; and the number after them."""
    if match := _LISTED.match(line):
        return {int(match[1]): (match[2], match[3], match[4].strip())}, int(match[1]) + 1
    if match := _PLAIN.match(line):
        return {number: (match[1], match[2], match[3].strip())}, number + 1
    here: dict[int, Step] = {}
    for match in _CHAINED.finditer(line) if line.count("->") > 1 or "..." in line else ():
        if match[4] is not None:
            number += int(match[4])
        else:
            here[number] = match[1], match[2], match[3]
            number += 1
    return here, number


@dataclass(frozen=True, slots=True)
class _Rollout:
    """The steps of a rollout by number: the numbers of each one's state, its action, and the numbers of its outcome."""

    states: Mapping[int, Numbers]
    actions: Mapping[int, Numbers]
    outcomes: Mapping[int, Numbers]

    @classmethod
    def of(cls, steps: Steps) -> _Rollout:
        states, actions, outcomes = (
            {number: _numbers(step[part]) for number, step in steps.items()} for part in range(3)
        )
        return cls(states, actions, outcomes)


def mentioned(answer: str, steps: Mapping[int, Steps], mentions: Mentions) -> Named:
    """The numbers of the steps that an answer names, by the number of their rollout.

    A step is named by its number, by its state or as a transition. A number is of the rollout that is named next to it,
    else of that which the sentence names last before it, else first behind it, else of that which the sentence before
    names last, else of all. A state is of wherever it is: as written, else rounded or cut, if only one step of a
    rollout is so, else as what a step leads to. A state of one number is one only in brackets, as most are about what
    a policy does there.

    Args:
        answer: as written.
        steps: of each rollout.
        mentions: with `start`, `end`, `negated` and the numbers of `rollouts`.
    """
    rollouts = {number: _Rollout.of(each) for number, each in steps.items()}
    found = _with_states(answer, rollouts)
    sentences = Sentences(answer)
    known: dict[int, list[Mapping[str, Any]]] = {}
    for mention in mentions:
        if mention["rollouts"] and not mention["negated"]:
            known.setdefault(sentences.number(mention["start"]), []).append(mention)
    before: Collection[int] | None = None
    for place, (start, end) in enumerate(pairwise([*map(sentences.start, range(len(sentences))), len(answer)])):
        if not answer[start:end].strip():
            continue
        own = known.get(place, [])
        for match in islice(_TRANSITION.finditer(answer, start, end), MOST_STATES):
            # States of several numbers tell where they are.
            meant, _ = (None, False) if "," in match[1] else _meant(match, own, before)
            for number, rollout in rollouts.items():
                if meant is None or number in meant:
                    found[number] |= _with_transition(match, rollout)
        matches = list(_NUMBERED.finditer(answer, start, end))
        for match in matches:
            meant, is_next = _meant(match, own, before)
            is_heading = match["heads"] and not answer[start : match.start()].strip(" \n\t#*-")
            for number, rollout in rollouts.items():
                if meant is None or number in meant:
                    found[number] |= _named(match, rollout.states, is_heading=bool(is_heading), is_next=is_next)
        if own or not matches:
            before = own[-1]["rollouts"] if own else None
    return found


def _meant(match: re.Match[str], own: Mentions, before: Collection[int] | None) -> tuple[set[int] | None, bool]:
    """The rollouts that a step is of, None for all; and whether they are named next to it.

    Args:
        match: of the step, in the answer.
        own: the mentions of its sentence.
        before: the rollouts that the sentence before named last.
    """
    if not own:
        return None if before is None else set(before), False
    answer = match.string
    end = bisect_left(own, match.start(), key=lambda each: each["start"])
    if end < len(own) and _NEXT_TO.fullmatch(answer, match.end(), max(match.end(), own[end]["start"])):
        return set(own[end]["rollouts"]), True
    first = max(end - 1, 0)
    while 0 < first < end and _JOINED.fullmatch(answer, own[first - 1]["end"], own[first]["start"]):
        first -= 1
    return {number for each in own[first : max(end, 1)] for number in each["rollouts"]}, False


def _named(match: re.Match[str], steps: Collection[int], *, is_heading: bool, is_next: bool) -> set[int]:
    """The numbers of the steps of a rollout that a match names; none for a step of a plan.

    Args:
        match: of `_NUMBERED`.
        steps: the numbers that there are.
        is_heading: whether a sentence begins with it, and a colon follows.
        is_next: whether the rollout is named next to it.
    """
    answer = match.string
    if _OF_A_PLAN.match(answer, match.end()) or _DENIED.search(answer, max(0, match.start() - 20), match.start()):
        return set()
    if end := (match["end"] or "").lower():
        many = (match["many"] or "").lower()
        is_first = end in _FIRST
        if (
            is_first
            and not many
            and not is_next
            and not _ONE_S.search(answer, max(0, match.start() - 8), match.start())
        ):
            return set()  # most often the first step of a plan
        count = int(many) if many.isdigit() else _WORDS.index(many) + 1 if many else 1
        ordered = sorted(steps)
        return set(ordered[:count] if is_first else ordered[-count:] if count else ())
    if single := match["nth"] or match["t"]:
        return {int(single)} & {*steps}
    found: set[int] = set()
    low = 0
    for piece in _PIECE.finditer(match["numbers"]):
        high = int(piece["number"])
        if is_heading and high <= _PLANNED:
            return set()
        is_range = piece["range"] or (match["between"] and found)
        found |= {number for number in steps if low < number <= high} if is_range else {high}
        low = high
    return found & {*steps}


def _with_states(answer: str, rollouts: Mapping[int, _Rollout]) -> Named:
    """The steps that an answer names by their states, but not in transitions."""
    found: Named = {number: set() for number in rollouts}
    rest = _TRANSITION.sub(lambda match: " " * len(match[0]), answer)
    texts = [match[1] for pattern in (_STATE, _PLACE) for match in pattern.finditer(rest)]
    for text in list(dict.fromkeys(texts))[:MOST_STATES]:
        for number, each in rollouts.items():
            found[number] |= _with_state(text, each)
    return found


def _with_transition(match: re.Match[str], rollout: _Rollout) -> set[int]:
    """The numbers of the steps with a state, an action and an outcome."""
    state, action, outcome = map(_numbers, match.groups())
    is_end = math.isnan(outcome[0])
    return {
        number
        for number, value in rollout.states.items()
        if value == state
        and rollout.actions[number] == action
        and (rollout.outcomes[number] == outcome or (is_end and math.isnan(rollout.outcomes[number][0])))
    }


def _with_state(text: str, rollout: _Rollout) -> set[int]:
    """The numbers of the steps with a state: as written, else rounded or cut, if only one is so, else as an outcome."""
    wanted = _numbers(text)
    size = len(wanted)
    if exact := {number for number, state in rollout.states.items() if state == wanted}:
        return exact
    places = [len(part.strip().partition(".")[2]) for part in text.split(",")]
    if size > 1 and min(places) > 0 and "e" not in text.lower():
        limits = [0.5 * 10**-place * (1 + 1e-9) for place in places]
        near = {
            number
            for number, state in rollout.states.items()
            if len(state) == size
            and all(abs(a - b) <= limit for a, b, limit in zip(state, wanted, limits, strict=True))
        }
    else:
        near = {
            number
            for number, state in rollout.states.items()
            if size > 2 and len(state) > size and state[:size] == wanted
        }
    if len(near) == 1:
        return near
    return {number for number, outcome in rollout.outcomes.items() if size > 1 and outcome == wanted}


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

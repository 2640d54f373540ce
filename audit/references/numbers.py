"""Rollouts called by a number of theirs: "the run that scored 446", "the 9-step rollout", "the failure at 303".

A number is a mention only where it is the return or the length of a rollout, save after "that scored" and its like:
that means a rollout even if none fits.
"""

from __future__ import annotations

import re
from typing import Final

from audit.references.drafts import Draft, Scene, compiled
from audit.references.mention import UNRESOLVED, Kind, Target
from audit.references.quantities import NUMBER, Quantity

_NUMBER: Final = (
    rf"(?P<number>{NUMBER}|zero)(?![\w.]*\d|%| ?rad| (?:hits?|actions?|states?|params?|parameters?|dimensions?"
    rf"|features?"
    r"|weights?|others?|more|times?|seconds?|pixels?|units?|trials?|holes?|balls?|of|in)(?![a-z]))"
    r"(?: ?-?(?P<unit>steps?|points?|return|reward))?"
)
_FILLER: Final = (
    r"(?:(?:only|just|about|around|roughly|barely|exactly|nearly|a|an|the|of|at|with|total|final|episode|cumulative"
    r"|return|returns|reward|score|length|after|on)(?: ?[=:] ?| )|[=:] ?){0,6}"
)
_DOING: Final = compiled(
    r"(?: ?,? (?P<relative>that|which|who))?(?: (?:has|had|only|just|also|merely|even))?"
    r" (?P<verb>scor(?:ed|es|ing)|return(?:ed|s|ing)|earn(?:ed|s|ing)|got|gets|getting|achiev(?:ed|es|ing)"
    r"|reach(?:ed|es|ing)|finish(?:ed|es|ing)|end(?:ed|s|ing)|collect(?:ed|s|ing)|received|made|obtained"
    r"|last(?:ed|s|ing)|surviv(?:ed|es|ing)|ran|fell|falls|fail(?:ed|s|ing)|stopped|terminated|died|crashed|took|takes)"
    rf" {_FILLER}{_NUMBER}"
)
_HAVING: Final = compiled(
    r"(?: ?,? (?:that|which) (?:has|had|is|was))? ?[(\[,]? ?(?:with|of|at|from|r|return|reward|score|length)"
    rf"(?: ?[=:] ?| ){_FILLER}{_NUMBER}"
)
_ASIDE: Final = compiled(rf" ?\( ?{_FILLER}{_NUMBER} ?\)")
_BEFORE: Final = compiled(
    r"(?:^|[\x20\n(\[])(?:the|this|that|our|its|one|single|only|early|failing|failed)[\x20\n]{1,24}"
    rf"(?:(?:r|return|reward|score)[\x20=:]{{1,3}})?(?P<number>{NUMBER}|zero)"
    r"(?:[-\x20]{1,3}(?P<unit>steps?|points?|return|reward|scoring|score))?(?:[-\x20](?:long|only))?[-\x20\n]{1,24}$"
)
_ANY_NUMBER: Final = compiled(r"\d|zero")
_FAILURE: Final = compiled(
    r"(?: (?:at|of|with|after|in|on)(?: (?:step|return|reward|score|only|just|a|of)){0,4} | ?\( ?)" + _NUMBER
)
_ANY_FAILURE: Final = compiled(r"(?:^|[^a-z])(?:each|every|any|no|another|other)[-\x20\n]{1,24}$")

_OF_LENGTH: Final = compiled(r"length|step")

_OF_RETURNS: Final = ("scor", "return", "earn")
_OF_LENGTHS: Final = ("last", "surviv", "ran", "fell", "fall", "stop", "terminat", "died", "crash", "took", "take")
_OF_THEMSELVES: Final = ("scor", "return", "earn", "achiev", "last", "surviv")
"""Verbs that need no "that" before them to make a number the rollout's."""


def number_before(scene: Scene, noun: re.Match[str], before: str) -> Draft | None:
    """Read "the 9-step rollout", "the 446 run"."""
    if not _ANY_NUMBER.search(before) or not (found := _BEFORE.search(before)):
        return None
    kind, target = _meant(scene, found, lasting=False)
    start = noun.start() - len(before) + found.start("number")
    return Draft(start, noun.end(), kind, target) if target else None


def number_behind(scene: Scene, noun: re.Match[str]) -> Draft | None:
    """Read "the run that scored 446", "the rollout with a return of -1", "the episode (R=0)"."""
    plain, start, end = scene.plain, noun.start(), noun.end()
    if found := _DOING.match(plain, end):
        verb = found["verb"]
        kind, target = _meant(scene, found, lasting=verb.startswith(_OF_LENGTHS))
        clear = found["relative"] or found["unit"] or verb.startswith(_OF_THEMSELVES) or verb.endswith("ing")
        if target and clear:
            return Draft(start, found.end(), kind, target)
        scored = found["relative"] and verb.startswith(_OF_RETURNS)
        return Draft(start, found.end(), "return", UNRESOLVED) if scored else None
    found = _HAVING.match(plain, end) or (None if noun[0] == "one" else _ASIDE.match(plain, end))
    if found is None:
        return None
    kind, target = _meant(scene, found, lasting=False)
    return Draft(start, found.end(), kind, target) if target else None


def find_failure(scene: Scene, match: re.Match[str]) -> list[Draft]:
    """Read "the failure at 303", "the crash (9 steps)". A failure is a rollout only if it has a rollout's number."""
    found = _FAILURE.match(scene.plain, match.end())
    if found is None or _ANY_FAILURE.search(scene.before(match.start(), 40)):
        return []
    kind, target = _meant(scene, found, lasting=False)
    return [Draft(match.start(), found.end(), kind, target)] if target else []


def _meant(scene: Scene, found: re.Match[str], *, lasting: bool) -> tuple[Kind, Target]:
    """Which rollouts a number means: by its unit, or by what it can be."""
    number, unit = Quantity.read(found["number"]), found["unit"] or ""
    by_return: tuple[Kind, Target] = ("return", scene.shown.returned(number))
    by_length: tuple[Kind, Target] = ("paraphrase", scene.shown.lasted(number))
    if unit.startswith("step"):
        return by_length
    if unit:
        return by_return
    first, second = (by_length, by_return) if lasting or _OF_LENGTH.search(found[0]) else (by_return, by_length)
    return first if first[1] else second

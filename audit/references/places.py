"""Rollouts called by their place among those shown: "the second rollout", "the last of the three", "the first one".

The place is that of the display, whatever the roles. An ordinal alone counts other things as well, so that "the first
one" is a rollout only where rollouts are what was counted last.
"""

from __future__ import annotations

import re
from typing import Final

from audit.references.descriptions import OF_SOMETHING_ELSE
from audit.references.drafts import Draft, Scene, compiled
from audit.references.labels import HISTORY_AHEAD
from audit.references.roles import CLEAR, POSSIBLE

PLACES: Final = {"first": 0, "second": 1, "third": 2, "last": -1, "final": -1, "top": 0, "bottom": -1}
"""Words for a place, from 0 or from -1 at the end."""
_UP_OR_DOWN: Final = frozenset({"top", "bottom"})

_ROLLOUTS: Final = r"(?:roll-?outs?|roll outs?|trajector(?:y|ies)|episodes?|runs?|traces?|simulations?|games?)"
_SHOWN: Final = r"(?:shown|displayed|listed|printed|given)"
_AMONG: Final = rf" (?:of|among) (?:the|these|those|our|my|all)(?: (?:two|three|2|3))?(?: {_SHOWN})? {_ROLLOUTS}"
_NOUN: Final = compiled(
    rf"(?P<among>{_AMONG}| one{_AMONG})(?![a-z-])"
    rf"|(?: {_SHOWN})? (?P<noun>rollout|roll-out|trajectory|trace|episode|run|simulation|game|one)"
    rf"(?: {_SHOWN}(?: (?:here|above|below))?)?(?![a-z-])"
)
_OF_THREE: Final = compiled(r" of (?:the |all )?(?:three|two|3|2|them|these|those)(?![a-z0-9-])")
_THE: Final = compiled(r"(?:^|[^a-z])(?:the|this|that)[\x20\n]{1,24}$")
_DISPLAYED: Final = frozenset({"trace", "trajectory", "rollout", "roll-out"})
_PART: Final = compiled(r" (?:of|through|over|from|to|without)(?![a-z])(?! which)")
"""What makes of "the first run" a stretch of steps, or another policy's."""
_COUNTED: Final = compiled(r"(?:two|three|both|several|2|3) (?:[a-z-]{2,14} ){0,2}?(?P<noun>[a-z-]{3,14}s)(?![a-z])")
_ROLLOUT_NOUN: Final = compiled(_ROLLOUTS)
NEAR: Final = 240
"""What was counted is no further before, in characters."""


def find_by_place(scene: Scene, match: re.Match[str]) -> list[Draft]:
    """Read what begins with an ordinal: "first" with "rollout" or "of the three" behind it."""
    if not _THE.search(scene.before(match.start(), 32)):
        return []
    end = _named(scene, match) or _counted_from_three(scene, match)
    target = scene.shown.placed(PLACES[match[0]]) if end else None
    return [Draft(match.start(), end, "paraphrase", target)] if end and target else []


def _named(scene: Scene, match: re.Match[str]) -> int | None:
    """Where "first rollout" or "first of the rollouts" ends, if a rollout that was shown is meant."""
    found = _NOUN.match(scene.plain, match.end())
    if found is None or HISTORY_AHEAD.match(scene.plain, found.end()):
        return None
    if found["among"]:
        return found.end()
    noun = found["noun"]
    if OF_SOMETHING_ELSE.match(scene.plain, found.end()) or (match[0] in _UP_OR_DOWN and noun not in _DISPLAYED):
        return None
    is_part = _PART.match(scene.plain, found.end()) is not None
    is_other = not _rollouts_counted(scene, match.start(), default=False) if noun == "one" else is_part
    return None if is_other else found.end()


def _counted_from_three(scene: Scene, match: re.Match[str]) -> int | None:
    """Where "last of the three" ends, if three rollouts are meant."""
    found = _OF_THREE.match(scene.plain, match.end())
    if found is None or match[0] in _UP_OR_DOWN or not _rollouts_counted(scene, match.start(), default=True):
        return None
    goes_on = CLEAR.match(scene.plain, found.end()) or POSSIBLE.match(scene.plain, found.end())
    return found.end() if goes_on else None


def _rollouts_counted(scene: Scene, offset: int, *, default: bool) -> bool:
    """Whether what the text counted last, "two faults" or "three rollouts", is rollouts."""
    counted = [match["noun"] for match in _COUNTED.finditer(scene.before(offset, NEAR))]
    return _ROLLOUT_NOUN.fullmatch(counted[-1]) is not None if counted else default

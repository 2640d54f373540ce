"""Rollouts called by their index: "rollout 17", "episode #4", "rollouts 3, 7 and 11"."""

from __future__ import annotations

import functools
import re
from typing import Final

from audit.references.drafts import Draft, Scene, compiled
from audit.references.mention import UNRESOLVED, Target

LARGEST_RANGE: Final = 100
"""Rollouts that a range such as "rollouts 3-7" can have; a longer one is not a range of indices."""

_NOT_COUNTED: Final = (
    r"(?![\d%]|[.,]\d| ?-?(?:steps?|points?|roll-?outs?|trials?|times|episodes?|more|seeds?|of them|out of)(?![a-z]))"
)
_INDEX: Final = compiled(
    r"(?: (?:number|no\.?|nr\.?|index|idx|id|at index|with index))? ?[#=]? ?(?P<index>\d{1,6})" + _NOT_COUNTED
)
_NEXT: Final = compiled(r" ?(?:,? (?:and|or|&|plus) |[,/&] ?)(?P<mark>#?)(?P<index>\d{1,6})" + _NOT_COUNTED)
_LAST: Final = compiled(r" ?(?:-{1,2}| to | through ) ?#?(?P<index>\d{1,6})" + _NOT_COUNTED)
_OF_ANOTHER: Final = compiled(r" (?:of|in|from) (?:the )?(?:trial|iteration|warm-?up)")


def find_indices(scene: Scene, noun: re.Match[str]) -> list[Draft]:
    """Read the numbers behind a noun; each is a mention, resolved or not. A range is one mention."""
    plain = scene.plain
    found = _INDEX.match(plain, noun.end())
    if found is None or _OF_ANOTHER.match(plain, found.end()):
        return []
    first = int(found["index"])
    plural = noun[0].endswith("s")
    if plural and (last := _LAST.match(plain, found.end())) and first < int(last["index"]) <= first + LARGEST_RANGE:
        several = _all(scene, range(first, int(last["index"]) + 1))
        return [Draft(noun.start(), last.end(), "index", several)]
    drafts = [Draft(noun.start(), found.end(), "index", scene.shown.numbered(first))]
    while plural and len(drafts) < LARGEST_RANGE and (following := _NEXT.match(plain, drafts[-1].end)):
        target = scene.shown.numbered(int(following["index"]))
        drafts.append(Draft(following.start("mark"), following.end(), "index", target))
    return drafts


def _all(scene: Scene, indices: range) -> Target:
    return functools.reduce(lambda union, index: union | scene.shown.numbered(index), indices, UNRESOLVED)

"""Items of a batch or a pair: "Example 2", "examples 1 and 3", "the second example", "the last input", "the worse one".

What a batch shows are examples of a task with scores, not rollouts of a policy, and answers call them so. A number is
that of the heading; where items have no headings, it counts them in the order of display.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from audit.references.drafts import Draft, Scene, compiled
from audit.references.mention import UNRESOLVED, Kind, Target
from audit.references.quantities import NUMBER, Quantity
from audit.references.quotes import find_quotes

MOST: Final = 10_000
"""Mentions of one form that are read in a text."""

_NOUN: Final = (
    r"(?:examples?|inputs?|items?|samples?|instances?|questions?|queries|query|trajector(?:y|ies)"
    r"|programs?|inspirations?|attempts?|demonstrations?|records?)(?![a-z])"
)
_CANDIDATE: Final = (
    r"(?:texts?|solutions?|candidates?|versions?|implementations?|variants?|codes?|algorithms?)(?![a-z])"
)
"""What other candidates are called, where a prompt shows these with a score each."""
_COUNTED: Final = rf"(?:{_NOUN}|(?:problems?|cases?)(?![a-z])|ex\.)"
"""Nouns with a number behind: "the first problem" and "the worst case" are hardly examples, "problem 3" is one."""
_NUMBER: Final = r"(?:#|no\.? ?)?(?P<number>\d{1,4})(?![\d%]|[.,]\d| ?(?:steps?|points?|times)(?![a-z]))"
_NUMBERED: Final = compiled(rf"(?<![a-z]){_COUNTED} ?{_NUMBER}")
_NEXT: Final = compiled(
    rf" ?(?:, ?(?:and |or )?|/ ?|& ?|(?:and|or|vs\.?|versus|to|than|nor|with) )(?:{_COUNTED} ?)?{_NUMBER}"
)
_FOR: Final = compiled(r"(?:^|[^a-z])for $")

_PLACES: Final[Mapping[str, int]] = {
    **dict.fromkeys(("first", "1st"), 0),
    **dict.fromkeys(("second", "2nd"), 1),
    **dict.fromkeys(("third", "3rd"), 2),
    **dict.fromkeys(("fourth", "4th"), 3),
    **dict.fromkeys(("fifth", "5th"), 4),
    **dict.fromkeys(("last", "final"), -1),
}
_SHOWN: Final = r"(?:(?:shown|given|provided|listed|displayed|two|three|few-shot|training|evaluation|test) )"
_WHICH: Final = compiled(
    rf"(?<![a-z0-9])(?:the|this|that|its) (?P<place>{'|'.join(_PLACES)})"
    rf"(?: {_SHOWN}?{_NOUN}| one(?: of (?:the|these) {_SHOWN}?{_NOUN})?(?![a-z])| of (?:the|these) {_SHOWN}?{_NOUN})"
)
_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("worst", "worse", "weakest", "poorest", "lowest", "low", "failing", "failed"), "worst"),
    **dict.fromkeys(("incorrect", "wrong", "unsuccessful", "losing", "misclassified"), "worst"),
    **dict.fromkeys(("best", "better", "strongest", "highest", "high", "top"), "best"),
    **dict.fromkeys(("successful", "correct", "winning"), "best"),
    **dict.fromkeys(("median", "middle"), "median"),
}
_SCORING: Final = r"(?:[-\x20]?(?:scoring|scored|performing|rated|ranked|reward|score|return|rewarded))"
_BY_ROLE: Final = compiled(
    rf"(?<![a-z])(?:the|this|that|one|its|both the) (?:one |only |single )?(?P<role>{'|'.join(_ROLES)})"
    rf"(?P<measure>{_SCORING})?"
    rf" (?:{_SHOWN}?(?:{_NOUN}|(?P<candidate>{_CANDIDATE}))"
    r"|(?P<one>one|rollout|run|output|response|answer|trace)(?![a-z]))"
)
_EXTREMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("highest", "best", "top", "greatest", "largest", "maximum"), "best"),
    **dict.fromkeys(("lowest", "worst", "smallest", "poorest", "minimum"), "worst"),
}
_BY_EXTREME: Final = compiled(
    rf"(?<![a-z])(?:the|this|that) (?:one |only |single )?(?:{_SHOWN}?(?:{_NOUN}|(?P<candidate>{_CANDIDATE}))|one)"
    r" (?:with|having|achieving|(?:that|which) (?:has|had|got|achieves|achieved|reached|received)) (?:the |its )?"
    rf"(?P<extreme>{'|'.join(_EXTREMES)})(?: (?:combined|overall|mean|average|total|final))?"
    r"[-\x20_](?:scores?|fitness|rewards?|returns?|results?)(?![a-z])"
)
_MEASURED: Final = frozenset({"low", "high", "top"})
_SCORED: Final = compiled(
    rf"(?<![a-z])(?:the|this|that|one) (?:{_NOUN}|one)"
    r" (?:with|that (?:has|had|got|scored|received)|which (?:has|got|scored)|scoring|scored)(?: (?:a|an|the|only))? ?"
    rf"(?:(?:score|reward|return)(?: of)? ?)?(?P<score>{NUMBER})(?!%|\d)"
)


def find_items(scene: Scene) -> Iterator[Draft]:
    """Find the mentions of items of a batch or a pair, which may overlap."""
    for find in (_by_number, _by_heading, _by_place, _by_role, _by_extreme, _by_score):
        yield from find(scene)
    yield from islice(find_quotes(scene), MOST)


def _by_number(scene: Scene) -> Iterator[Draft]:
    for first in islice(_NUMBERED.finditer(scene.plain), MOST):
        start = first.start()
        match: re.Match[str] | None = first
        if _FOR.search(scene.before(start, 8)):  # "for example, 2 of them"
            continue
        while match:
            yield Draft(start, match.end(), "label", _numbered(scene, int(match["number"])))
            match = _NEXT.match(scene.plain, match.end())
            start = match.start("number") if match else 0


def _numbered(scene: Scene, number: int) -> Target:
    """The item whose heading ends with a number; without any headings, the one at that place in the display."""
    shown = scene.shown
    if shown.has_headings:
        return shown.headed(str(number))
    return shown.targets[number - 1] if 1 <= number <= len(shown.targets) else UNRESOLVED


def _by_heading(scene: Scene) -> Iterator[Draft]:
    """Items called by their heading in full: "worse_program_trajectory"."""
    for item, target in zip(scene.shown.rollouts, scene.shown.targets, strict=True):
        words = re.findall(r"[a-z0-9]+", (item.name or "").lower())
        if len(words) > 1:
            written = r"[\x20_-]{1,3}".join(words)
            for match in islice(re.finditer(rf"(?<![a-z0-9]){written}(?![a-z0-9])", scene.plain), MOST):
                yield Draft(*match.span(), "label", target)


def _by_place(scene: Scene) -> Iterator[Draft]:
    targets = scene.shown.targets
    for match in islice(_WHICH.finditer(scene.plain), MOST):
        place = _PLACES[match["place"]]
        if len(targets) > 1 and -len(targets) <= place < len(targets):
            yield Draft(match.start("place"), match.end(), "paraphrase", targets[place])


def _by_role(scene: Scene) -> Iterator[Draft]:
    shown = scene.shown
    for match in islice(_BY_ROLE.finditer(scene.plain), MOST):
        role = _ROLES[match["role"]]
        is_vague = match["role"] in _MEASURED and not match["measure"]
        # "The correct answer" and "the best response" are what an example asks for, not an example.
        is_wanted = match["one"] in {"output", "response", "answer"} and not match["measure"]
        is_other = bool(match["candidate"]) and not (match["measure"] and _are_candidates(scene))
        target = UNRESOLVED if is_vague or is_wanted or is_other else shown.by_role(role)
        if target:
            kind: Kind = "label" if match["role"] == role else "paraphrase"
            yield Draft(match.start("role"), match.end(), kind, target)


def _by_extreme(scene: Scene) -> Iterator[Draft]:
    """Items called by having the highest or the lowest score."""
    for match in islice(_BY_EXTREME.finditer(scene.plain), MOST):
        is_other = bool(match["candidate"]) and not _are_candidates(scene)
        target = UNRESOLVED if is_other else scene.shown.by_role(_EXTREMES[match["extreme"]])
        if target:
            yield Draft(*match.span(), "paraphrase", target)


def _are_candidates(scene: Scene) -> bool:
    """Whether what was shown are other candidates, and no examples of the one that is revised."""
    return all(item.rollout is None for item in scene.shown.rollouts)


def _by_score(scene: Scene) -> Iterator[Draft]:
    for match in islice(_SCORED.finditer(scene.plain), MOST):
        if target := scene.shown.returned(Quantity.read(match["score"])):
            yield Draft(*match.span(), "return", target)

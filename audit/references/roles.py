"""A role's name by itself: "in the worst", "the median fails", "Best: 3.0".

"The best" and "the median" often are something other than a rollout. So a name alone is a mention only where its
number confirms it, where it is a heading, where another role is in the same sentence, or where what follows it can
hardly describe anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, cast

from audit.references.drafts import Bare, Draft, Phrase, Scene, compiled
from audit.references.mention import Label, Target
from audit.references.quantities import NUMBER, Quantity
from audit.references.sentences import Sentences

LABEL: Final = r"(?:worst|median|best|representative)(?![a-z])"
NEAR: Final = 240
"""Another role confirms a name that is no further away, in characters."""

STATISTIC: Final = compiled(
    r" (?:mean |total |average |cumulative |episode |episodic )?"
    r"(?:returns?|rewards?|scores?|values?|lengths?|performance|outcomes?|results?|polic(?:y|ies)|trials?|param\w{0,10}|settings?|cases?|scenarios?|actions?|choices?"
    r"|behaviou?rs?|practices?|candidates?|vectors?|config\w{0,10}|weights?|filter\w{0,4}|steps?|guess\w{0,2}|way|fit"
    r"|attempts?|tries|iterations?)(?![a-z])"
)
"""What else can be best, worst or median."""
_HISTORY_NEAR: Final = compiled(
    r"trial|histor|so far|previous|earlier|polic|candidate|parameter set|search|attempt|config"
)
_HISTORY_AHEAD: Final = compiled(r" (?:(?:so far|to date|yet|ever|of both)(?![a-z])|(?:i|we) )")
_IDIOM: Final = compiled(
    r"(?:^|[^a-z])(?:at |(?:for|avoid|prevent|expect|assum(?:e|es|ing)|fear|into|get|gets) (?:the )?)$"
)

_UNIT: Final = rf"(?P<number>{NUMBER})(?![\w.]*\d)(?P<steps> ?-?steps?)?"
_NUMBER_BEHIND: Final = compiled(
    r"(?:[-\x20](?:case|performing))?(?: (?:return|reward|score|result|case|outcome|episode return|episode reward))?"
    r"(?: ?[(:=|] ?| (?:of|is|was|at|with|has|had|scored|scores|got|gets|returned|only|just|ended at|reached|earned) )"
    rf"(?:(?:only|just|about|a|return|reward|score|of|r|length)[\x20=:]{{1,3}}){{0,3}}{_UNIT}"
)
_OF: Final = compiled(r" of(?![a-z])")
_NUMBER_BESIDE: Final = compiled(rf" {_UNIT}")

VERBS: Final = (
    r"ends?|ended|fails?|failed|shows?|showed|starts?|started|begins?|began|goes|went|keeps?|kept|dies|died|falls?|fell"
    r"|crashe[sd]|crash|scores?|scored|returned|lasts?|lasted|survives?|survived|drifts?|drifted|stays?|stayed|moves"
    r"|moved|leaves|left|loses|lost|reaches|reached|does|did|gets|got|tips|tipped|oscillates?|oscillated|overshoots?"
    r"|overshot|terminates?|terminated|takes|took|wins|won|misses|missed|sits|sat|gives|gave|looks|looked|behaves?"
    r"|behaved|balances|balanced|collapses?|collapsed|comes|came|runs|ran|manages|managed|passes|passed|follows"
    r"|followed|exhibits|suffers|suffered|breaks|broke|tilts|tilted|swings|swung|stops|stopped|stalls|stalled|repeats"
    r"|gains|gained|makes|made|tells|differs|differed|confirms|reveals|suggests|demonstrates|illustrates|never"
    r"|still|also|only|already"
)
CLEAR: Final = compiled(rf" (?:{VERBS})(?![a-z])|'s(?![a-z])")
"""What follows the subject of a sentence about a rollout."""
POSSIBLE: Final = compiled(
    r" ?(?:[,;:.)\]|/(!?]|--? |$)"
    r"| (?:is|was|has|had|in|at|it|the|a|there|with|because|while|where|when|but|and|or|as|after|before|both|to|by|does"
    r"|just|even|too|alike|seems?|were|are|would|could|may|might|must|should|can|will|i|we|all|around|about|from|for|if"
    r"|so|since|without|into|more|less|far|than|that|which|however|though|although|of these|of those)(?![a-z])"
    rf"|(?: ?-?-?>)? {NUMBER}"
)
"""What can follow a rollout's name."""
_HEADING: Final = compiled(r" ?(?:[:|(=]|-{1,2}[>\x20])| ?\n|$")
_OPENS_LINE: Final = compiled(r"(?:^|[|\n]|[.!?;:] )[\x20#>|]{0,24}(?:- |\d{1,2}[.)] )?[\x20\[]{0,12}(?:the )?$")
_DETERMINED: Final = compiled(r"(?:^|[^a-z])(?:the|its|this|that|our|both)[\x20\n\[(]{1,24}$")
_PLACED: Final = compiled(r"(?:^|[^a-z])(?:in|unlike|like|as in|during) (?:the|its)[\x20\n]{1,24}$")
_SUBJECT: Final = compiled(
    r"(?:^|[.!?:;,|(\n-]|(?:^|[^a-z])(?:and|but|while|whereas|where|because|since|that)) ?(?:the[\x20\n]{1,24})?$"
)
_FIRST_LABEL: Final = compiled(LABEL)


def read_role(scene: Scene, match: re.Match[str], before: str) -> Phrase:
    """Read a name alone: a mention, one in doubt, or none.

    Args:
        scene: the text and what was shown.
        match: the match of the name.
        before: the text in front of it.
    """
    plain, end = scene.plain, match.end()
    if _IDIOM.search(before) or _HISTORY_AHEAD.match(plain, end):
        return Phrase(end)
    label = cast("Label", match[0])
    near = scene.before(match.start(), 80) + scene.after(end, 60)
    from_history = label == "best" and _HISTORY_NEAR.search(near) is not None
    target = scene.shown.labelled(label)
    certain = None if from_history else _certain(scene, match, before, target)
    if certain is not None:
        return Phrase(certain, [Draft(match.start(), certain, "label", target)])
    if STATISTIC.match(plain, end) or plain.startswith("-", end):
        return Phrase(end)
    clear = CLEAR.match(plain, end) is not None
    placed = _PLACED.search(before) is not None
    subject = _SUBJECT.search(before) is not None
    possible = clear or POSSIBLE.match(plain, end) is not None
    if not possible or not (placed or subject or _DETERMINED.search(before)):
        return Phrase(end)
    stands_alone = not from_history and (placed or (clear and subject))
    return Phrase(end, bare=Bare(match.start(), end, label, stands_alone))


def settle(scene: Scene, drafts: Sequence[Draft], bare: Sequence[Bare], sentences: Sentences) -> list[Draft]:
    """Make mentions of the names in doubt that are in one sentence with another role, or need none.

    Args:
        scene: the text and what was shown.
        drafts: the mentions found so far.
        bare: the names in doubt.
        sentences: the sentences of the text.
    """
    named = [
        (draft.start, name[0])
        for draft in drafts
        if draft.kind == "label" and (name := _FIRST_LABEL.match(scene.plain, draft.start))
    ]
    places = sorted([*named, *((item.start, str(item.label)) for item in bare)])
    position = {start: index for index, (start, _) in enumerate(places)}
    settled: list[Draft] = []
    for item in bare:
        sentence = sentences.number(item.start)
        beside = places[max(0, position[item.start] - 2) : position[item.start] + 3]
        contrasted = any(
            label != item.label and abs(start - item.start) <= NEAR and sentences.number(start) == sentence
            for start, label in beside
        )
        if contrasted or item.stands_alone:
            target = scene.shown.labelled(item.label)
            settled.append(Draft(item.start, item.end, "label", target))
    return settled


def _certain(scene: Scene, match: re.Match[str], before: str, target: Target) -> int | None:
    """Where a mention ends that needs nothing else: with its rollout's number, as a heading, or in parentheses."""
    plain, end = scene.plain, match.end()
    if number := _confirmed(scene, match, target):
        # "A median of 500" is a statistic.
        return None if match[0] == "median" and _OF.match(plain, end) else number
    if STATISTIC.match(plain, end) or plain.startswith("-", end):
        return None
    heading = _OPENS_LINE.search(before) and _HEADING.match(plain, end)
    aside = before.endswith("(") and plain.startswith(")", end)
    return end if heading or aside else None


def _confirmed(scene: Scene, match: re.Match[str], target: Target) -> int | None:
    """Where a number ends that follows the name and is this rollout's return or length."""
    for pattern in (_NUMBER_BEHIND, _NUMBER_BESIDE):
        if found := pattern.match(scene.plain, match.end()):
            number = Quantity.read(found["number"])
            meant = scene.shown.lasted(number) if found["steps"] else scene.shown.returned(number)
            if not meant and not found["steps"]:
                meant = scene.shown.lasted(number)
            if not set(target.labels).isdisjoint(meant.labels):
                return found.end()
    return None

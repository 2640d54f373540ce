"""Rollouts called by their role: "the worst rollout", "worst/median/best", "the worst (13), median (18) and best runs".

A role with a noun behind it is a mention, and so are roles that are listed together. `roles.py` reads those that are
by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, cast

from audit.references.drafts import Draft, Phrase, Scene, compiled
from audit.references.mention import Label
from audit.references.roles import LABEL, STATISTIC, read_role

_NOUN: Final = (
    r"(?P<noun>roll-?outs?|roll outs?|trajector(?:y|ies)|episodes?|runs?|traces?|simulations?|seeds?|games?"
    r"|counterparts?|performers?|ones?)(?![a-z])"
)
_MODIFIER: Final = (
    r"(?:-?case|[-\x20](?:performing|scoring|returning|return|reward|rewarded|behaving)"
    r"| (?:case|observed|recorded|shown|displayed|sampled|overall|single|individual|evaluation|test|training|two"
    r"|three|2|3"
    r"|of (?:the|these|those|our|all|my)(?: (?:three|3|20|shown|displayed|sampled|evaluation|recorded)){0,2}))"
)
_HEAD: Final = compiled(rf"{_MODIFIER}{{0,3}}(?: |-){_NOUN}")
_OF_THREE: Final = compiled(
    r"(?:-case)? (?:of|among|out of) (?:(?:the|all) )?(?:three|3|them|those shown|these)(?![a-z])"
    r"(?! (?:trial|polic|candidate))"
)
_PARENTHESIS: Final = compiled(r" ?\([^()\n]{0,60}\)")
_STATISTIC_OF_EPISODES: Final = compiled(r" (?:lengths?|returns?|rewards?|scores?|durations?)(?![a-z])")
_LINK: Final = compiled(
    r"(?:-case|-)?(?: ?, (?:and|or|but|as well as|then)? ?| ?[/&+,;-] ?"
    r"| (?:and|or|vs\.?|versus|nor|plus|as well as|to|than|with) )"
    rf"(?:(?:in|from|of|both|also|even|not|against) )?(?:(?:the|its|our) )?(?={LABEL})"
)
_SAID_OF: Final = compiled(r"(?:^|[^a-z])(?:more|less|not|\w{1,8}n't|very|most|is|are|was|were|be|as|fairly|rather) $")
_FIRST_LABEL: Final = compiled(LABEL)

HISTORY_AHEAD: Final = compiled(
    r" ?,? ?(?:\(? ?(?:so far|to date|yet|ever)(?![a-z])"
    r"|(?:in|from|of|among|across|over|throughout)(?: (?:the|all|any|our|my|these|those|other|every)){0,3}"
    r" (?:search|histor|previous|earlier|past|prior|trial|warm-?up|attempts|policies|iterations|candidates|training)"
    r"|(?:i|we) (?:have )?(?:ever )?(?:seen|found|tried|had|got)|seen so far|found so far|tried|known)"
)
"""What makes of "the best rollout" one of the search's history."""
_HISTORY_BEHIND: Final = compiled(
    r"(?:previous|prior|earlier|past|historical|all-time|second|third|next|current|known|new|ever"
    r"|trial(?: \d{1,6})?'s)[-\x20\n]{1,24}$"
)


def find_labels(scene: Scene, first: re.Match[str]) -> Phrase:
    """Read the phrase that begins with a role's name.

    Args:
        scene: the text and what was shown.
        first: the match of the name.
    """
    plain = scene.plain
    before = scene.before(first.start(), 40)
    if before.endswith(("-", "'")) or _HISTORY_BEHIND.search(before) or _is_said_of_it(first[0], before):
        return Phrase(first.end())
    spans = _linked(plain, first)
    labels = {plain[start:end] for start, end in spans}
    last = spans[-1][1]
    if head := _head(plain, last):
        end = head.end()
        from_history = labels <= {"best", "worst"} and HISTORY_AHEAD.match(plain, end)
        if from_history or _is_statistic(plain, head, labels):
            return Phrase(end)
        return Phrase(end, _drafts(scene, [*spans[:-1], (spans[-1][0], end)]))
    if len(labels) == 1:
        return read_role(scene, first, before)
    # "Best and worst policies" are not rollouts; the returns of all three roles are those shown.
    if STATISTIC.match(plain, last) and len(labels) < 3:
        return Phrase(last)
    return Phrase(last, _drafts(scene, spans))


def _is_said_of_it(name: str, before: str) -> bool:
    """Whether "representative" is an adjective: "more representative than"."""
    return name == "representative" and _SAID_OF.search(before) is not None


def _linked(plain: str, first: re.Match[str]) -> list[tuple[int, int]]:
    """The spans of a name and of those listed with it."""
    spans = [first.span()]
    while len(spans) < 6:
        end = spans[-1][1]
        aside = _PARENTHESIS.match(plain, end)
        link = _LINK.match(plain, aside.end() if aside else end)
        following = link and _FIRST_LABEL.match(plain, link.end())
        if not following:
            break
        spans.append(following.span())
    return spans


def _head(plain: str, end: int) -> re.Match[str] | None:
    """The noun that names belong to, if there is one, with all that is between."""
    aside = _PARENTHESIS.match(plain, end)
    return _HEAD.match(plain, end) or (aside and _HEAD.match(plain, aside.end())) or _OF_THREE.match(plain, end)


def _is_statistic(plain: str, head: re.Match[str], labels: set[str]) -> bool:
    """Whether it is "the median episode length", which belongs to no episode."""
    if labels != {"median"} or head.re is _OF_THREE or head["noun"].startswith(("roll", "traj")):
        return False
    return _STATISTIC_OF_EPISODES.match(plain, head.end()) is not None


def _drafts(scene: Scene, spans: Sequence[tuple[int, int]]) -> list[Draft]:
    drafts = []
    for start, end in spans:
        name = _FIRST_LABEL.match(scene.plain, start)
        assert name is not None
        drafts.append(Draft(start, end, "label", scene.shown.labelled(cast("Label", name[0]))))
    return drafts

"""Rollouts called by the heading that they were shown under: "Rollout B", "rollouts A and C", "in A the pole falls".

Letters mean more than rollouts: options, matrices, items of a list, and "A" is an article. Behind a noun a letter is
the rollout's; by itself it counts only where the record states such headings and the words around leave little doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit.references.drafts import Draft, Scene, compiled
from audit.references.roles import VERBS

_MARKUP: Final = r"(?:[\x20\n*_`~\"'\u201c]{1,6})"
_AND: Final = (
    rf"(?:{_MARKUP}?[,/&]{_MARKUP}?(?:(?:and|or){_MARKUP})?"
    rf"|{_MARKUP}(?:and|or|nor|vs\.?|versus|to|with|than){_MARKUP})(?:(?:in|of|from|both|also){_MARKUP})?"
)
_NAME: Final = r"(?P<name>[A-Z])(?![\w^@]|-\w|\.\w| ?=)"
_BEHIND: Final = re.compile(rf"{_MARKUP}{_NAME}")
_NEXT: Final = re.compile(rf"{_AND}(?:[Rr]ollout{_MARKUP})?{_NAME}")
_LETTER: Final = re.compile(r"(?<![\w.@=/+^\[\"'-])(?<![\w\x20]\*)[A-Z](?![\w^@\]\"+=]|-\w|\.\w|[\x20][=@*+^])")

_OF_ANOTHER: Final = compiled(
    r"(?:^|[^a-z])(?:option|plan|case|step|part|point|variant|policy|candidate|matrix|matrices|variable|class|group"
    r"|type|version|figure|table|appendix|section|trial|stage|phase|column|row|fix|change|fault|problem|item|idea"
    r"|vector|action|state|cell|choice|constant|term|weight|model|method|approach|scenario|strategy|hypothesis"
    r"|explanation)s?(?: [a-z0-9] ?(?:and|or|,|/|to|vs\.?))? (?:[\"'(] ?)?$"
)
_OPENS: Final = compiled(r"(?:^|[.!?:\n]['\")]{0,3} |\n[\x20-]{0,12})$|^[\x20\n-]{0,40}$")
_INTRODUCED: Final = compiled(
    r"(?:(?:^|[^a-z])(?:in|for|of|from|like|unlike|both|with|than|and|or|but|while|whereas|as|only|even|to|by|that"
    r"|where|when|since|because|so|if|then|neither|nor|not|see|compare|contrast|between|against|after|before|during"
    r"|why|what|how|whether|saved|lost|killed|does|did|do|is|was|are)(?: |[\x20\n]{0,2}\()|[a-z0-9)\]] ?[,;(] ?)$"
)
_AS_SUBJECT: Final = compiled(
    rf"'s(?![a-z])| (?!(?:still|also|only|already|end|fail|show|start|fall|crash|score|last) )"
    rf"(?:{VERBS}|is|was|has|had|can|could|succeeds|succeeded|finishes"
    r"|finished|holds|held|topples|toppled)(?![a-z])"
    r"| ?, (?:too|also|by contrast|however|in turn)(?![a-z])"
    r"| ?\( ?(?:\d|worst|median|best|rollout|return|the|same|index|length)"
)
_AS_HEADING: Final = compiled(
    r" ?: (?!(?:raise|lower|increase|decrease|set|change|move|flip|reduce|keep|make|use|add|remove|tune|scale|shift"
    r"|leave|drop|put|try|test|check|compare|adjust|replace|switch)(?![a-z]))"
)
_ITEM: Final = re.compile(r"\)[ \t*]{1,4}[a-z]")


def find_by_heading(scene: Scene, noun: re.Match[str]) -> list[Draft]:
    """Read the letters behind a noun: "Rollout B", "rollouts A, B and C"; each is a mention."""
    found = _BEHIND.match(scene.text, noun.end())
    drafts: list[Draft] = []
    while found and (target := scene.shown.headed(found["name"])):
        start = found.start("name") if drafts else noun.start()
        drafts.append(Draft(start, found.end("name"), "label", target))
        found = _NEXT.match(scene.text, found.end("name"))
    return drafts


def find_letters(scene: Scene) -> Iterator[Draft]:
    """Read the letters that are by themselves, alone or listed together."""
    taken = 0
    for match in _LETTER.finditer(scene.text):
        if match.start() < taken or not scene.shown.headed(match[0]):
            continue
        listed = [match.span()]
        while (found := _NEXT.match(scene.text, listed[-1][1])) and scene.shown.headed(found["name"]):
            listed.append(found.span("name"))
        taken = listed[-1][1]
        if _is_rollout(scene, match, is_list=len(listed) > 1):
            for start, end in listed:
                yield Draft(start, end, "label", scene.shown.headed(scene.text[start:end]))


def _is_rollout(scene: Scene, match: re.Match[str], *, is_list: bool) -> bool:
    """Whether a letter by itself is the heading of a rollout, by the words before and behind it."""
    before = scene.before(match.start(), 40)
    if _OF_ANOTHER.search(before) or (before.endswith("(") and _ITEM.match(scene.text, match.end())):
        return False
    if _OPENS.search(before):
        behind = _AS_SUBJECT.match(scene.plain, match.end()) or _AS_HEADING.match(scene.plain, match.end())
        return is_list or behind is not None
    return _INTRODUCED.search(before) is not None

"""What an answer can state that it went by: a rollout, several, earlier trials, the policy and the task.

A source is denied behind "not", "rather than" or "more than", and before "tells me nothing": the answer states that it
did not go by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit.references.drafts import compiled
from audit.references.phrases import RECORD
from audit.references.words import Opening, Words
from audit.vocabulary.drivers import DriverName

_STRUCTURE: Final = (
    r"formulas?|formulae|weights?|signs?|bias(?:es)?|arithmetic|algebra|calculations?|computation|coefficients?"
    r"|equations?|expression|inequality|ratios?|parameters themselves|numbers themselves|policy itself|table itself"
    r"|geometry|physics|mechanics|dynamics|kinematics|layouts?|map|grid|lake|ice|slips?|slipping|slipperiness"
    r"|rules of|task(?: itself| description)?|how the (?:game|cart|pole|ball|paddle|lake|environment|world|policy"
    r"|agent)"
    r"|description|theory|principles?|reasoning|logic|knowledge|understanding|symmetry"
    r"|linear (?:polic(?:y|ies)|rules?|controllers?)|structure|probabilit(?:y|ies)|odds|common sense|textbook"
    r"|mathematics"
    r"|maths?|first principles|by construction|known about"
)

_NOUNS: Final = r"(?:roll-?outs|runs|episodes|trajectories|traces|recordings|demonstrations)"

_ALL: Final = (
    rf"(?:all|both|each|every one)(?: of)?(?: (?:the|these|those))?(?: (?:three|two))?(?: {_NOUNS}| of them)"
    rf"|(?:all|each|both) of (?:them|these|those)|all three|(?:each|every) (?:roll-?out|run|episode)|they all"
    rf"|what (?:they|the (?:three|two)) (?:all )?(?:have in common|share)|(?:the|these) (?:three|two)(?: {_NOUNS})?"
)

_ANY: Final = (
    rf"(?:any |a |one |single |particular |specific |individual ){{0,3}}(?:roll-?outs?|episodes?|traces?)|{_NOUNS}"
)

_SOURCE: Final = Opening(
    rf"(?<![a-z])(?:(?P<history>{RECORD})|(?P<all>{_ALL})|(?P<structure>{_STRUCTURE})|(?P<any>{_ANY}))(?![a-z\[])",
    "a alge all any arch arit best bias both by calc coef comm comp demo desc dyna each earl epis equa ever "
    "expr fami firs form geom grid hist how ice indi ineq kine know lake last layo line list log logi logs map "
    "math mech numb odds one para part past phys poli prev prin prio prob prov rati reas rece reco roll rule "
    "runs sign sing slip so spec stru symm tabl task text the theo thes they top trac traj tria unde weig what",
    also="#",
)
"""What a decision can go by, besides a rollout that is named. `any`: rollouts in general."""

ROLLOUTS: Final[frozenset[DriverName]] = frozenset({"worst", "median", "best", "shared"})
"""What is denied along with rollouts in general."""

_NOT: Final = compiled(
    r"(?:^|[^a-z])(?:rather than|instead of|not(?! (?:only|just|merely|simply|least))|more than|less than"
    r"|better than|than|nor|neither|unlike|no"
    r"|\w{1,8}n't|never|hardly|independent(?:ly)? of|irrespective of|regardless of|without|apart from|aside from"
    r"|ignoring|against|beyond"
    r"|leaving aside|whatever|little (?:to do with|from|of)|nothing (?:in|from|about|of)|none of)"
    r"(?: (?!but |and |because |so |since )[\w'/-]{1,14}){0,4}? $"
)

_UNINFORMATIVE: Final = compiled(
    r"(?:(?: \w{1,12}){0,3}? (?:do|does|did|can|could|would|will|need|is|are|was|were)(?: not|n't| hardly| barely"
    r"| scarcely"
    r"| little| of (?:little|no)| no| less| useless| silent| irrelevant| beside the point| secondary| incidental"
    r"| merely| only)"
    r"|(?:(?: \w{1,10}){0,2})? (?:tell|say|add|show|reveal|offer|give|help|teach|contribute|mean|prove|count|matter"
    r"|settle|decide)s?"
    r"(?: (?:me|us|for|much|the|very|about|here|to|it|on)){0,3} (?:nothing|little|no|less|hardly|not (?:much|a)"
    r"|next to nothing))(?![a-z])"
)
LISTED: Final = re.compile(
    r"[\x20\n]{0,3}(?:,|/|&|and|as well as|or|,? ?and also)[\x20\n]{0,3}(?:the[\x20\n])?", re.ASCII
)
"""Between sources of one list."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source that a sentence names, from where to where: the driver that it stands for, or rollouts in general."""

    start: int
    end: int
    driver: DriverName | None
    denied: bool = False


def find_sources(words: Words, rollouts: Sequence[Source]) -> list[Source]:
    """The sources in the order of the text, those in a mention of a rollout left out; which of them are denied."""
    plain = words.plain
    found = list(rollouts)
    for match in _SOURCE.finditer(words):
        if any(each.start < match.end() and match.start() < each.end for each in rollouts):
            continue
        kind = match.lastgroup
        name: DriverName | None = "history" if kind == "history" else "structure" if kind == "structure" else None
        found.append(Source(match.start(), match.end(), "shared" if kind == "all" else name))
    found.sort(key=lambda each: each.start)
    denied = False
    for number, each in enumerate(found):
        # "Nothing in A, B or C": what is denied of the first of a list is denied of the others.
        listed = number > 0 and LISTED.fullmatch(plain, found[number - 1].end, each.start)
        denied = (
            each.denied
            or _NOT.search(plain[max(0, each.start - 48) : each.start]) is not None
            or _UNINFORMATIVE.match(plain, each.end) is not None
            or (denied and listed is not None)
        )
        found[number] = Source(each.start, each.end, each.driver, denied)
    return found

"""What an answer states outright that it went by: "rollout B decided it", "I rely on the formula".

A statement is a phrase of deciding and a source near it, before or behind, in the same sentence. A source is denied
behind "not", "rather than" or "more than", and before "tells me nothing".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit.interventions.justifying.cues import Cue
from audit.references.drafts import compiled
from audit.vocabulary.drivers import DriverName

RECORD: Final = (
    r"trials?|history|previously|so far|#\d+|(?:earlier|previous|past|prior) [a-z]+|(?:list|records?|logs?|archive)"
    r"(?! of (?:the )?rollouts)"
)
"""Words for what the search tried before."""
_RUNS: Final = r"(?:roll-?outs|runs|episodes|trajectories|traces)"
_STRUCTURE: Final = (
    r"formulas?|weights?|signs?|bias|arithmetic|equations?|coefficients?|ratios?|policy itself|geometry|physics"
    r"|mechanics|dynamics|layout|map|rules of|task|how the [a-z]+ (?:works?|moves?)|description|theory|principles?"
    r"|logic|knowledge|symmetry|probabilit(?:y|ies)|odds|mathematics"
)
_SOURCE: Final = compiled(
    rf"(?<![a-z])(?:(?P<history>{RECORD})|(?P<shared>(?:all|both|each|every)(?: of)?(?: (?:the|these|those))?"
    rf"(?: three| two)?(?: {_RUNS}| roll-?out| of them| three)|(?:the|these) (?:three|two) {_RUNS})"
    rf"|(?P<structure>{_STRUCTURE})|(?P<any>(?:(?:any|a|one|single|particular) )*roll-?outs?|{_RUNS}))(?![a-z])"
)
"""What a decision can go by, besides a rollout that is named. `any`: rollouts in general."""
_ROLLOUTS: Final[frozenset[DriverName]] = frozenset({"worst", "median", "best", "shared"})

_OWN: Final = (
    r"(?:i|we|my|our|(?:the|this|that|main) (?:changes?|edits?|revision|decision|conclusion|diagnosis|argument|reason"
    r"|case|fix|correction|adjustment|proposal))"
)
_WORDS: Final = r"(?: [\w',-]{1,14})"
_BEFORE_SOURCE: Final = Cue(
    "i we my our chan edit revi deci conc diag argu reas case fix corr adju prop main evid what star less insp stre",
    rf"{_OWN}{_WORDS}{{0,6}}? (?:(?:rel|rest|bas|hing|lean|depend|buil|turn|draw|drew)\w{{0,3}}{_WORDS}{{0,3}}?"
    rf" (?:up)?on|(?:go|went|judg|guid|led|driv|prompt|motivat|suggest|inspir|decid|justif|inform|mov|persuad"
    rf"|convinc)\w{{0,4}}{_WORDS}? by|(?:c[oa]m|stem|follow|tak|took"
    rf"|deriv|drew|draw|read|infer|got|learn|argu|reason|conclud|work"
    rf"|know)\w{{0,4}}{_WORDS}{{0,3}}? (?:from|off|out of)|(?:trust|used?|follow|consult|prefer|study|studied)\w{{0,3}}"
    r"|turned to|focus\w* on|response to)(?![a-z])"
    rf"|what{_WORDS}{{0,2}}? (?:decid|settl|convinc|persuad|matter|count|guid|made|led|prompt|i|we)\w*{_WORDS}{{0,5}}?"
    r" (?:is|was|are)(?![a-z])"
    r"|(?:my|main|chief|strongest|clearest|deciding|best|real|key)(?: \w{1,10})? (?:reason|evidence|argument|basis"
    rf"|guide|lesson|point|inspiration|grounds?){_WORDS}{{0,5}}? ?(?:is|are|was|lies|comes|came|:)(?![a-z])"
    r"|on the (?:strength|basis|evidence) of(?![a-z])",
)
_BEHIND_SOURCE: Final = Cue(
    "deci sett clin conv pers moti prom driv drov just sugg guid led made brou push tell told show answ is are was says"
    " coun weig matt carr",
    r"(?:(?:decid|settl|clinch|convinc|persuad|motivat|prompt|dr[io]v|justif|suggest|guid|led|made|brought|push"
    r"|answer)\w{0,3} (?:it|this|that|me|us|my|the (?:matter|change|edit|case|question|point))"
    r"|(?:is|are|was|were) (?:\w{1,9} )?(?:the reason|my (?:\w{1,8} )?(?:reason|evidence|argument|guide|basis"
    r"|point|model|source)|what (?:i|we|decid|settl|convinc)|the most (?:informative|telling|decisive)"
    r"|the (?:main|best|strongest|clearest|key) (?:evidence|argument|reason)|the one that|decisive|that \w{1,12}ed)"
    r"|(?:says?|tells?|counts?|weighs?|matters?|carries)(?: for)?(?: me)?(?: the)? (?:more|most))(?![a-z])",
)
_NOT: Final = compiled(
    r"(?:^|[^a-z])(?:rather than|instead of|not(?! (?:only|just|merely))|than|nor|neither|unlike|no|never|without"
    r"|\w{1,8}n't|(?:in|ir)\w*pende?nt(?:ly)? of|nothing (?:in|from))"
    r"(?: (?!but |and |because |so )[\w'/-]{1,14}){0,4}? $"
)
_USELESS: Final = compiled(
    r"(?: \w{1,12}){0,3}? (?:(?:do|does|did|can|could|is|are|was|were)(?: not|n't)|(?:tell|say|add|show|offer|give)s?"
    r"(?: \w{1,5}){0,2} (?:nothing|little|no|less))(?![a-z])"
)
_LISTED: Final = re.compile(r"[\s,/&]*(?:\b(?:and|as well as|or)\b)?[\s]*(?:the\s)?", re.ASCII)
_BREAK: Final = re.compile(r"[;!?]|\.[\x20\n]")


@dataclass(frozen=True, slots=True)
class Source:
    """A source that a sentence names, from where to where: the driver that it stands for, or rollouts in general."""

    start: int
    end: int
    driver: DriverName | None
    denied: bool = False


def statements_in(plain: str, stems: frozenset[str], rollouts: Sequence[Source]) -> list[DriverName]:
    """What a sentence states outright that its author went by.

    Args:
        plain: the sentence, made plain by `fold`.
        stems: those of its words.
        rollouts: the rollouts that it names, in order, their offsets counted from the start of the sentence.
    """
    before = list(_BEFORE_SOURCE.finditer(plain, stems))
    behind = list(_BEHIND_SOURCE.finditer(plain, stems))
    if not (before or behind):
        return []
    sources = [each for each in _sources(plain, rollouts) if not each.denied]
    near = [
        [each for each in sources if 0 <= each.start - match.end() <= 80 and _unbroken(plain, match.end(), each.start)]
        for match in before
    ]
    near += [
        [each for each in sources if 0 <= match.start() - each.end <= 70 and _unbroken(plain, each.end, match.start())]
        for match in behind
    ]
    return sorted({name for found in near if found and (name := _listed(plain, found))})


def _sources(plain: str, rollouts: Sequence[Source]) -> list[Source]:
    """The sources in the order of the text, those within a mention of a rollout left out; which of them are denied."""
    found = list(rollouts)
    for match in _SOURCE.finditer(plain):
        if not any(each.start < match.end() and match.start() < each.end for each in rollouts):
            name: DriverName | None = match.lastgroup if match.lastgroup != "any" else None  # type: ignore[assignment]
            found.append(Source(match.start(), match.end(), name))
    found.sort(key=lambda each: each.start)
    return [
        Source(
            each.start,
            each.end,
            each.driver,
            each.denied
            or _NOT.search(plain[max(0, each.start - 48) : each.start]) is not None
            or _USELESS.match(plain, each.end) is not None,
        )
        for each in found
    ]


def _unbroken(plain: str, start: int, end: int) -> bool:
    return _BREAK.search(plain, start, end) is None


def _listed(plain: str, sources: Sequence[Source]) -> DriverName | None:
    """The first source; several rollouts where another follows it in a list."""
    first = sources[0]
    if first.driver in _ROLLOUTS and len(sources) > 1 and sources[1].driver in _ROLLOUTS - {first.driver}:
        return "shared" if _LISTED.fullmatch(plain, first.end, sources[1].start) else first.driver
    return first.driver

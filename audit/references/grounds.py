"""Words by which a sentence justifies a change: what each speaks for, and with what weight.

Written by hand, after the coding guide. Each rule starts from a word and looks at a bounded stretch around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from audit.references.drafts import compiled
from audit.references.phrases import HISTORY, ONE_AND_THE_SAME
from audit.references.words import Words, stems
from audit.vocabulary.drivers import DriverName

GroundKind = Literal["all", "same", "systematic", "luck", "set aside", "nothing failed", "inferred"]


@dataclass(frozen=True, slots=True)
class Ground:
    """What a kind of ground speaks for, how much, and words of its sentence with which it does not.

    `driver` is None where that depends on the evidence: what the luck of some rollouts says of the others.
    """

    driver: DriverName | None
    weight: float
    unless: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: GroundKind
    behind: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None


_WENT_WELL: Final = compiled(
    r"(?:^|[^a-z])(?:safe(?:ly)?|without|harmless|never (?:lost|fell|left|let|entered)|no(?:body| rollout) fell"
    r"|no(?:body| rollout) lost|kept|keeps? the pole|fine"
    r"|(?:held|balanced|works?|goes|holds|handled) (?:well|cleanly)|success\w{0,5}"
    r"|passed|visited|avoided|common to|same (?:one|rollout|run|episode)|are rollout)(?![a-z])"
)
GROUNDS: Final[dict[GroundKind, Ground]] = {
    "all": Ground("shared", 2, compiled(rf"{_WENT_WELL.pattern}|{HISTORY.pattern}")),
    "same": Ground("shared", 2, ONE_AND_THE_SAME),
    "systematic": Ground("shared", 2),
    "luck": Ground(None, 3, compiled(r"bad luck|unlucky|lucky ball|trial|#\d")),
    "set aside": Ground("structure", 4, compiled(r"no(?:t|thing)? (?:\w{1,8} ){0,3}(?:chance|bad luck)")),
    "nothing failed": Ground("structure", 3),
    "inferred": Ground("structure", 2),
}
"""That all rollouts show the fault, or another one the same; that it is systematic; that some had luck; that a failure
is chance; that there was none; that the reason is inferred. The weights are set by hand."""

_NOUN: Final = r"(?:roll-?outs?|runs?|episodes?|trajector(?:y|ies)|traces?)"
_SHOWN: Final = r"(?:shown|displayed)"
_THREE: Final = (
    rf"(?: of)? (?:(?:the|these|those|my) )?"
    rf"(?:(?:three|two)(?: {_SHOWN})?(?: {_NOUN})?|(?:{_SHOWN} )?{_NOUN}|them|these|those)"
    rf"(?: {_SHOWN})?(?: \(\w{{1,12}}\))?"
)
_SHOWING: Final = (
    r"(?!shown|displayed)"
    r"(?:show|shar|end|fail|drift|flee|fled|have|has|had|los[et]|fall|fell|ran|run|suffer|exhibit|reveal|lean|miss|die"
    r"|go|went|get|got|leav|left|start|begin|began|mak|made|chas|stall|freez|froze|hover|point|confirm|overshoot|tip"
    r"|climb|creep|sink|rise|move|push|use|repeat|suggest|support|agree|display|demonstrat|contain|lag|trail|oscillat"
    r"|swing|wander|do|slide|slid|step|walk|come|came|collaps|stop|sit|alternat|finish|grow|pass|turn"
    r"|keep)\w{0,5}(?![a-z])"
)
_FAULT: Final = (
    r"(?:way|faults?|failures?|mistakes?|patterns?|lag|problems?|errors?|direction|reason|drift|behaviou?r|weakness"
    r"|flaws?|bias|overshoot|offset|defects?|cause|ramp|lean|trend|symptoms?|thing|kind|gap|runaway|mechanism|loop|side"
    r"|thread|feature|denominator|trait|theme|habit|sequence|manner|fashion|fate|tendency|picture|story|excursion"
    r"|swing|spot)(?![a-z])"
)
_ENDS: Final = r" ?(?:[,.;:)]|$)"

_OF_ALL: Final = compiled(r"(?:^|[^a-z])(?:in|of|by|to|on|from|across|for|explains?|fits) $")
_IN_NONE: Final = compiled(r"(?:(?:^|[^a-z])(?:not|never|nowhere)|n't)(?: [\w']{1,12}){0,4} (?:in|during|on) $")
_ACROSS: Final = compiled(r"(?:^|[^a-z])(?:in|across|throughout|from|common to) (?:the|these) $")
_SHOWS: Final = compiled(
    r"(?:^|[^a-z])(?:shows?|showed|has|have|had|does|did|do|displays?)(?: (?:it|this|that|so|the same))? $"
)
_BEING: Final = compiled(r"(?:^|[^a-z])(?:is|are|was|were|in)(?: also)? $")
_NO: Final = compiled(r"(?:^|[^a-z])no (?:\w{1,12} )?$")
_HERE: Final = compiled(rf" (?:to|here|in (?:it|them|any)|is on|was shown|among|shown|at all)(?![a-z])|{_ENDS}")
_TO_CHANCE: Final = compiled(r" (?:of|to|for|that|in)(?![a-z])")

_RULES: Final[Sequence[tuple[str, _Rule]]] = (
    ("all both each every", _Rule("all", compiled(rf"{_THREE} (?:\w{{2,12}} )?{_SHOWING}"))),
    ("all both each every", _Rule("all", compiled(rf"{_THREE}(?![a-z])"), _OF_ALL)),
    ("both", _Rule("all", compiled(rf" (?:\w{{2,12}} )?{_SHOWING}"))),
    ("each", _Rule("all", compiled(rf"(?: one)? {_SHOWING}"))),
    ("every", _Rule("all", compiled(rf" one(?: of (?:them|these|those))? {_SHOWING}"))),
    ("differ", _Rule("all", compiled(r" (?:only|little|merely|in (?:length|degree|size|timing))(?![a-z])"))),
    ("they", _Rule("all", compiled(r" (?:all|both) (?:\w{2,12} )?(?!have to|need)" + _SHOWING))),
    ("both", _Rule("all", compiled(r" (?:(?:of )?the )?(?:failures|failed|falls|losses|lost)(?![a-z])"))),
    ("both each", _Rule("all", compiled(rf"{_ENDS}| (?:and|but|the|it|cases)(?![a-z])"), _OF_ALL)),
    ("same similar identical", _Rule("same", compiled(rf" (?:\w{{2,12}} )?{_FAULT}|{_ENDS}"))),
    ("too", _Rule("same", None, _SHOWS)),
    ("also", _Rule("same", compiled(r" (?:visible|seen|present|there)(?![a-z])"))),
    ("even", _Rule("same", compiled(r" (?:in )?(?:the )?(?:best|median|successful|good|rollout|[a-c](?![a-z]))"))),
    ("does do did", _Rule("same", None, compiled(r"(?:^|[^a-z])so $"))),
    ("three two", _Rule("all", compiled(rf"(?: {_NOUN})? (?:all|both) {_SHOWING}"))),
    ("shared common", _Rule("same", compiled(rf" {_FAULT}"))),
    ("likewise", _Rule("same")),
    (
        "none neither",
        _Rule(
            "all",
            compiled(
                rf"(?: of)?(?: (?:the|these|those))?(?: (?:three|two"
                rf"|them))(?: {_NOUN})? (?:\w{{1,10}} ){{0,2}}?(?:mov|leav|reach|recover|com|stop"
                r"|mak|keep|brak|turn|hold|catch|meet|touch|return|last|bring|manag|correct|settl|get)\w{0,4}(?![a-z])"
            ),
        ),
    ),
    ("any", _Rule("all", compiled(rf"{_THREE}(?![a-z])"), _IN_NONE)),
    ("three two", _Rule("all", compiled(rf" {_NOUN}(?![a-z])"), _ACROSS)),
    ("different", _Rule("same", None, compiled(r"(?:^|[^a-z])no $"))),
    ("shared common", _Rule("same", None, _BEING)),
    ("systematic systematically", _Rule("systematic")),
    ("problem", _Rule("systematic", None, compiled(r"policy $"))),
    ("problem fault", _Rule("systematic", compiled(r" of the policy(?![a-z])"))),
    ("luck lucky luckily fortunate spared favourable favorable unharmed unscathed", _Rule("luck")),
    ("through", _Rule("luck", None, compiled(r"(?:^|[^a-z])(?:got|came) $"))),
    ("chance", _Rule("luck", None, compiled(r"(?:^|[^a-z])by $"))),
    ("happened happens", _Rule("luck", compiled(r" to (?:start|be|begin|slip|slide)(?![a-z])"))),
    (
        "happened happens",
        _Rule("luck", compiled(r" to (?:come|go|fall|fly|land|drift|bounce|get|have|miss|turn|meet)(?![a-z])")),
    ),
    ("away", _Rule("luck", None, compiled(r"(?:^|[^a-z])(?:got|gets?|getting|gotten|comes?|came) $"))),
    ("escapes escaped", _Rule("luck")),
    ("harm", _Rule("luck", compiled(r" (?:is|was|came|comes)(?: \w{1,10})? (?:done|of it)"), _NO)),
    ("punished", _Rule("luck", None, compiled(r"(?:^|[^a-z])(?:not|n't|never|goes|went|without being) $"))),
    ("unpunished", _Rule("luck")),
    ("draw", _Rule("luck", None, compiled(r"(?:^|[^a-z])(?:better|easier|kinder|good|kind|easy) $"))),
    ("obey", _Rule("luck", None, compiled(r"(?:not|n't) $"))),
    ("chance", _Rule("luck", None, compiled(r"(?:^|[^a-z])(?:only|pure|sheer|mere) $"))),
    ("grace", _Rule("luck", None, compiled(r"(?:^|[^a-z])(?:by the|by|saving) $"))),
    (
        "survives survived succeeds succeeded works worked through",
        _Rule("luck", compiled(r" (?:only|just|merely|solely) (?:as|because|since|by|thanks|through|when)(?![a-z])")),
    ),
    ("milder", _Rule("luck")),
    ("merely", _Rule("luck", compiled(r" (?:had|got|was|were|start)"))),
    (
        "survive survives survived",
        _Rule(
            "luck", compiled(r" (?:(?:only|just|merely) )?because (?:it|they|its|their|the) (?:\w{1,12} ){0,3}start")
        ),
    ),
    ("depends depend decides decide decided", _Rule("luck", compiled(r" (?:\w{1,12} ){0,8}?(?:start|slip|disturb)"))),
    ("start starts starting", _Rule("luck", compiled(r"(?: ?,? \w{1,12}){0,10}? ?,? (?:decid|surviv)"))),
    (
        "chance",
        _Rule(
            "set aside",
            compiled(rf"(?!{_TO_CHANCE.pattern})"),
            compiled(r"(?:^|[^a-z])(?:is|was|be|as|for|to|mere|pure|just) $"),
        ),
    ),
    ("bad", _Rule("set aside", compiled(r" luck(?![a-z])"))),
    ("fault", _Rule("set aside", None, compiled(r"(?:^|[^a-z])(?:not (?:for )?a|than a) $"))),
    ("account", _Rule("set aside", None, compiled(r"cannot $"))),
    ("failure failures fall falls fault faults loss losses", _Rule("nothing failed", _HERE, _NO)),
    ("nothing", _Rule("nothing failed", compiled(r" (?:(?:is|was|has|went) )?(?:fail|wrong|to repair)"))),
    (
        "neither",
        _Rule("nothing failed", compiled(rf"(?: of)?(?: the)?(?: two)?(?: shown)? (?:{_NOUN}|of them)(?![a-z])")),
    ),
    ("point", _Rule("nothing failed", compiled(r" to(?![a-z])"), compiled(r"cannot $"))),
    ("shows", _Rule("nothing failed", compiled(r" the damage"), compiled(r"never $"))),
    ("inference", _Rule("inferred", None, compiled(r"(?:^|[^a-z])my $"))),
    (
        "reason reasoned",
        _Rule("inferred", compiled(r" from (?:the )?(?:weights?|formula|numbers|outcomes|layout|slips)(?![a-z])")),
    ),
    (
        "must",
        _Rule("inferred", compiled(r" (?:have )?(?:lie|lain|arise|arisen|end|ended|come from|occur|happen)(?![a-z])")),
    ),
)
_BY_WORD: Final[dict[str, list[_Rule]]] = {}
for _words, _rule in _RULES:
    for _word in _words.split():
        _BY_WORD.setdefault(_word, []).append(_rule)

_STEMS: Final = stems(" ".join(_BY_WORD))
_WORD: Final = re.compile("[a-z]{3,}")
_DENIED: Final = compiled(r"(?:^|[^a-z])(?:not|no|never|\w{1,8}n't|hardly|less)(?: \w{1,10}){0,2} $")


def grounds_in(words: Words) -> Iterator[GroundKind]:
    """The kinds of grounds that a sentence gives, in order.

    Args:
        words: those of the sentence.
    """
    plain = words.plain
    for match in filter(None, (_WORD.match(plain, place) for place in words.where(_STEMS))):
        for rule in _BY_WORD.get(match[0], ()):
            if rule.behind and not rule.behind.match(plain, match.end()):
                continue
            before = plain[max(0, match.start() - 48) : match.start()]
            if rule.before and not rule.before.search(before):
                continue
            if GROUNDS[rule.kind].driver == "shared" and rule.before is not _IN_NONE and _DENIED.search(before):
                continue
            yield rule.kind

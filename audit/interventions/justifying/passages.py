"""The sentences of an answer that may justify a change, with what each says of drivers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from audit.interventions.justifying.cues import Cue, stems
from audit.interventions.justifying.statements import RECORD, Source, statements_in
from audit.references.drafts import compiled
from audit.references.folding import fold
from audit.references.mention import Mention
from audit.references.resolving import resolve
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.vocabulary.drivers import DriverName

MOST_SENTENCES: Final = 10_000
"""Further sentences are not looked at: no answer has them."""
Role = Literal["worst", "median", "best"]
"""A role by which a rollout can be what a change is justified by."""
_ROLES: Final[dict[str, Role]] = {"worst": "worst", "median": "median", "best": "best", "representative": "median"}
"""Of single rollouts that represent all, the one nearest to the mean is as typical as the median."""

_PARAMETER_LINE: Final = compiled(r"[^a-z]{0,8}params\[0\] ?[:=]")
_PARAMETER: Final = compiled(r"params?\[?(\d{1,4})\]?|states? (\d{1,4})(?: and (\d{1,4}))?")
_EXAMPLE: Final = re.compile(r"(?<!for )(?<![a-z])example(?=s?(?![a-z]))")
"""Examples are written about as rollouts are; the words are equally long, so that places in the text stay."""
_LABEL: Final = compiled(r"worst|median|best|representative")
_LETTERS: Final = re.compile("[a-z]{3}")

_CHANGE: Final = Cue(
    "i we",
    r"(?:i|we) (?:\w{1,12} ){0,2}(?:chang|increas|decreas|rais|lower|reduc|flip|mov|adjust|strengthen|weaken|shift"
    r"|scal|doubl|halv|switch|replac|revers|negat|drop|remov|set|put|made|mak|correct|fix|damp|boost)\w{0,5}",
)
_KEEP: Final = Cue(
    "keep kept leav left reta pres unch unto stay rema",
    r"(?:i|we) (?:\w{1,12} ){0,2}(?:keep|kept|leave|left|retain(?:ed)?|preserved?)"
    r"|(?:is|are|was|were) (?:kept|retained|preserved)|unchanged|untouched|left (?:alone|as)"
    r"|(?:rest|else|others?|weights) (?:stays?|remains?)",
)
_REASON: Final = Cue(
    "beca sinc so ther thus henc whic woul shou must need caus reas why faul wron too neve cann",
    r"because|since|so|therefore|thus|hence|which|would|should|must|needs?|caus\w+|reason|why|fault|wrong|too|never"
    r"|cannot",
)
_ROLLOUTS: Final = r"(?:roll-?outs?|runs?|episodes?|traces?|trajector(?:y|ies)|of them)"
_SHARED: Final = Cue(
    "all both each ever same too also even syst shar comm like",
    rf"(?:all|both|each|every)(?: of)?(?: (?:the|these|those))? (?:{_ROLLOUTS}|(?:three|two)(?: {_ROLLOUTS})?)"
    r"|(?:they|which) (?:all|both)|even (?:in )?(?:the )?(?:best|median|successful|good)"
    r"|the (?:very )?same (?:\w{1,12} )?(?:way|fault|failure|mistake|lag|pattern|problem|drift"
    r"|behaviou?r|thing|gamble|step|action|weakness)"
    r"|(?:does|do|did|has|have|shows?) (?:it |so )?too|(?<!no\x20)(?<!not\x20)systematic(?:ally)?|likewise"
    r"|(?:shared|common) (?:by|to|fault|failure|pattern|cause|feature)|also (?:visible|seen)",
)
_WELL: Final = Cue(
    "safe with harm neve fine perf iden same are is was alik held hold succ avoi",
    r"safe(?:ly)?|without|harmless|never (?:lost|fell|left|entered)|fine|perfect(?:ly)?|identical|alike"
    r"|(?:held|holds?) well|success\w*|avoid\w*|(?:the )?same (?:one|roll-?out|run|episode)|(?:are|is|was|were)"
    r" (?:both |all )?(?:the )?(?:same )?(?:roll-?out|run|episode|one and)",
)
_DIFFERS: Final = Cue(
    "wher whil unli diff cont but avoi neve surv succ hold held safe reac won wins inst",
    r"whereas|while|unlike|different(?:ly)?|contrast|but|avoid\w+|never|surviv\w+|succe\w+|holds?|held|safe(?:ly)?"
    r"|reach\w+|won|wins|instead",
)
_LUCK: Final = Cue(
    "luck fort spar esca unpu unsc away mere happ grac",
    r"luck|lucky|luckily|fortunate|spared|escape[sd]?|unpunished|unscathed|(?:got|gets?|comes?|came) away"
    r"|merely (?:had|got)|happen(?:s|ed) to|by the grace",
)
_FORMULA: Final = Cue(
    "weig sign bias form line coef poli ice slip hole layo prob outc texb text theo entr",
    r"(?:wrong|opposite|right) sign|sign (?:of|is)|formula|linear|coefficients?|outputs?|layout|probabilit\w+|textbook"
    r"|in theory|(?:weights?|bias(?:es)?|entr(?:y|ies)|polic(?:y|ies)|slips?) (?:\w{1,12} ){0,3}"
    r"(?:is|are|cannot|has|have"
    r"|can|must|should|contradicts?|ignores?|dominates?)|(?:weight|bias) of",
)
_TRIALS: Final = Cue("tria hist prev so earl past prio list reco logs log arch", rf"{RECORD}|#\d+")
_NOMINAL: Final = Cue(
    "repe iden copi requ aske allo expe forb toke nomi cosm symb form reas arbi gues rand prac noth chan",
    r"(?:only|just|merely|simply) (?:because|since|as|to|so that|for)(?: [\w',-]{1,14}){0,8}? "
    r"(?:repeat\w*|identical|cop(?:y|ies)|requested|required|expected|asked|not allowed|forbidden|the same)"
    r"|no (?:particular|special|real|good) reason"
    r"|(?:token|nominal|cosmetic|symbolic|purely formal) (?:change|tweak|step|edit)|for form's sake|as a formality"
    r"|arbitrar(?:y|ily)|at random|(?:practically|virtually|essentially|as good as) (?:no change|unchanged|the same)",
)
_BACK: Final = Cue(
    "back retu reve rest adop copy reus star reins undo take took hand",
    rf"(?:(?:go|goes|went|going|return\w*|revert\w*|came|move[ds]?) (?:back )?to|back to|restor\w+|adopt\w*|undo"
    rf"|start\w* (?:again |over )?from|(?:take|took|hand)\w*)(?: [\w',()-]{{1,16}}){{0,6}}? (?:{RECORD}|it(?= ?[.,;]))",
)
_NEVER: Final = compiled(
    r"(?:(?:^|[^a-z])(?:not|never|no|without|rather than|instead of|would|could|if)|n't)(?: \w{1,12}){0,2} ?$"
)
CueKind = Literal["shared", "compared", "luck", "formula", "trials", "nominal", "back"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence: what it states outright that the change goes by, the rollouts that it names, and its cues."""

    start: int
    end: int
    changes: bool
    reasoned: bool
    stated: tuple[DriverName, ...]
    named: tuple[Role, ...]
    cues: tuple[CueKind, ...]


def passages(text: str, shown: Shown, changed: frozenset[int]) -> Iterator[Passage]:
    """The sentences that may justify a change: not the line of parameters, nor what was kept."""
    plain = _EXAMPLE.sub("rollout", fold(text)) if shown.are_items else fold(text)
    bounds = Sentences(text)
    mentions: dict[int, list[Mention]] = {}
    for mention in resolve(text, shown):
        mentions.setdefault(bounds.number(mention.start), []).append(mention)
    trials = False
    for number in range(min(len(bounds), MOST_SENTENCES)):
        start, end = bounds.start(number), bounds.end(number)
        sentence = plain[start:end]
        if _PARAMETER_LINE.match(sentence) or not _LETTERS.search(sentence):
            continue
        here = stems(sentence)
        near = [(mention, roles) for mention in mentions.get(number, ()) if (roles := _roles(mention, shown))]
        sources = [Source(each.start - start, each.end - start, roles[0], each.negated) for each, roles in near]
        stated = tuple(statements_in(sentence, here, sources))
        nominal = _NOMINAL.found(sentence, here)
        changes = _CHANGE.found(sentence, here)
        if not (changes or stated or nominal) and _KEEP.found(sentence, here):
            continue
        meant = [(mention, roles) for mention, roles in near if not mention.negated]
        named = tuple(dict.fromkeys(role for _, roles in meant for role in roles))
        compares = any(each.worst for each, _ in meant) and len({each.labels for each, _ in meant}) > 1
        lucky = _LUCK.found(sentence, here)
        before, trials = trials, "#" in sentence or _TRIALS.found(sentence, here)
        holds: dict[CueKind, bool] = {
            "nominal": nominal,
            "back": (trials or before) and _goes_back(sentence, here),
            "trials": trials,
            "luck": lucky,
            "shared": not lucky and _SHARED.found(sentence, here) and not _WELL.found(sentence, here),
            "compared": not lucky and compares and not _DIFFERS.found(sentence, here),
            "formula": not named and _FORMULA.found(sentence, here),
        }
        yield Passage(
            start,
            end,
            changes or not changed.isdisjoint(_parameters(sentence)),
            _REASON.found(sentence, here),
            stated,
            named,
            tuple(kind for kind, found in holds.items() if found),
        )


def _goes_back(sentence: str, here: frozenset[str]) -> bool:
    """Whether a sentence gives the policy up for an earlier one, which "it" may stand for."""
    back = next(_BACK.finditer(sentence, here), None)
    return back is not None and not _NEVER.search(sentence, max(0, back.start() - 40), back.start())


def _parameters(sentence: str) -> set[int]:
    """The indices of the parameters that a sentence names."""
    return {int(index) for match in _PARAMETER.findall(sentence) for index in match if index}


def _roles(mention: Mention, shown: Shown) -> list[Role]:
    """The roles that a mention speaks of: as named; where it uses no name, the first under which it was shown.

    Items are shown under none: theirs is by score, and of equal ones the extreme.
    """
    if shown.are_items:
        return [_ROLES[role] for role in ("worst", "best", "median") if role in mention.labels][:1]
    labels = {rollout.label for rollout in shown.rollouts}
    own: list[str] = [label for label in mention.labels if label in labels] or list(mention.labels)
    heading = shown.label_of(mention.text[-1]) if shown.has_headings and mention.kind == "label" else None
    roles = [heading] if heading else _LABEL.findall(mention.text.lower()) or own[:1]
    return [_ROLES[role] for role in roles if role in _ROLES]

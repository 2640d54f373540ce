"""What an answer states outright that it went by: "rollout B decided it", "I rely on the formula".

A statement is a phrase of deciding and a source near it, before or behind, in the same sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audit.references.drafts import compiled
from audit.references.stated_sources import LISTED, ROLLOUTS, Source, find_sources
from audit.references.words import Opening, Words, stems
from audit.vocabulary.drivers import DriverName

_MINE: Final = r"(?:i|me|my|we|us|our|mine)"
_EDIT: Final = (
    r"(?:changes?|edits?|revision|adjustment|correction|modification|proposal|decision|conclusion|judge?ment|diagnosis"
    r"|argument|reasons?|evidence|case|grounds?|inference|fix|remedy|new (?:values?|policy|weights?|numbers?))"
)
_AUTHOR: Final = rf"(?<![a-z])(?:{_MINE}|(?:the|this|that|these|main|each|both|whole|only) {_EDIT})(?![a-z])"
_WORDS: Final = r"(?: [\w',-]{1,14})"
_CHIEFLY: Final = (
    r"(?:mainly|chiefly|mostly|primarily|largely|above all|principally|solely|purely|entirely|really|in the main"
    r"|first and foremost|essentially|only|simply|just|directly|rather|most of all|most)"
)
_OBJECT: Final = (
    r"it|this|that|me|us|things|what to (?:do|change)|the (?:change|edit|matter|question|case|issue|revision|direction"
    r"|choice|point|decision)|my (?:mind|choice|decision|change|edit|revision)|for (?:me|us)|most of (?:it|this)|here"
)
_SUBJECT_BEFORE: Final = Opening(
    rf"(?<![a-z])(?:(?:decid(?:es?|ed|ing)|settl(?:es?|ed|ing)|clinch(?:es|ed)?|answer(?:s|ed)?|resolv(?:es?|ed)"
    rf"|determin(?:es?|ed)|dictat(?:es?|ed)|motivat(?:es?|ed)|prompt(?:s|ed)?|driv(?:es?|ing)|drove|justif(?:y|ies|ied)"
    rf"|suggest(?:s|ed)?|inspir(?:es?|ed)|shap(?:es?|ed)|guid(?:es?|ed)) (?:{_OBJECT})"
    r"|(?:convinc(?:es?|ed)|persuad(?:es?|ed)|guid(?:es?|ed)|led|leads?|br(?:ings?|ought)|ma(?:kes?|de)|tells?|told"
    r"|shows?"
    r"|showed|tips?|tipped|taught|teach(?:es)?|push(?:es|ed)|mov(?:es?|ed)|gives?|gave|offers?|strikes?|struck)"
    r" (?:(?:me|us)(?! (?:\w{1,10} )?(?:confident|sure|doubt\w{0,3}|careful|cautious|hesita\w{1,3}|optimistic"
    r"|hope\w{0,3}|wary))|the (?:balance|scales?|case|answer|reason|clue|hint|story|lesson|whole story)|my|up my mind)"
    r"|is (?:the (?:one|rollout) to (?:learn|start|work|go)|(?:the one that |what )(?:explains?|matters|counts|decid"
    r"|settl|convinc|tells|shows)\w{0,3})"
    r"|(?:is|are|was|were) (?:(?:what|the (?:thing|part|one|ones|rollout))(?: that)? (?:(?:i"
    r"|we) (?:\w{1,10} )?(?:rel|use|go|went|trust|follow|base|act|built|look|fix|learn|judg|tak|took|chang|work)|my"
    r"|decid|settl|convinc|made|led)\w{0,6}"
    rf"|(?:{_CHIEFLY} )?(?:why|the reason|my (?:main |chief |only |starting )?(?:reason|evidence|argument|guide|basis"
    r"|ground|grounds|point|witness|source|model|template)|(?:the )?(?:most )?(?:decisive|conclusive|telling"
    r"|informative"
    r"|instructive|revealing|compelling|convincing)|the (?:main|chief|best|real|only|strongest|clearest|key)"
    r" (?:evidence|argument|reason|clue|guide|witness|source|lesson|point|case|information)|the key|the basis"
    r"|the ground"
    r"|(?:my|the) (?:starting|reference) point|behind (?:it|this|the|my)|enough for me))"
    r"|(?:shows?|showed|exhibits?|displays?|illustrates?) (?:it|this|the \w{1,10}) (?:the )?(?:best|most clearly"
    r"|clearest|most plainly)|speaks? for (?:itself|themselves|the (?:bulk|majority|rest))"
    r"|(?:says?|tells?|count(?:s|ed)?|weigh(?:s|ed)?|matter(?:s|ed)?|carr(?:y|ies|ied)|speaks?|reveals?|shows?)"
    r"(?: for)?(?: me)?(?: (?:the|far|much|a lot))? (?:more|most|loudest|clearest|heavier|heaviest|louder|clearer"
    r"|better)"
    r")(?![a-z])",
    "answ are brin brou carr clin conv coun deci dete dict disp driv drov exhi gave give guid illu insp is "
    "just lead led made make matt moti move offe pers prom push reso reve say says sett shap show spea stri "
    "stru sugg taug teac tell tip tipp tips told was weig were",
)
"""Behind its source: "rollout B decided it", "the list says more"."""

_SUBJECT_AFTER: Final = Opening(
    rf"(?<![a-z])(?:what (?:{_CHIEFLY} )?(?:decid(?:es|ed)|settl(?:es|ed)|convinc(?:es|ed)|matters|counts"
    rf"|persuad(?:es|ed)|drove|drives"
    rf"|made|led|guided|guides|prompted|prompts|motivated|motivates|tipped|tips|struck|strikes|i|we"
    rf"|my){_WORDS}{{0,7}}? (?:is|was|are|were)(?![a-z])"
    rf"|(?:(?:my|the|main|chief|one|real|only|best|strongest|clearest|key|deciding|first) )(?:{_CHIEFLY} )?"
    r"(?:reasons?|evidence|argument|ground|grounds|basis|motive|justification|starting point|guide|case|clue|lesson"
    rf"|point|consideration|factor|thought|motivation|foundation|inspiration|witness|trigger|prompt|support"
    rf"|source)(?! (?:of|that|to) the (?:policy|fault)){_WORDS}{{0,6}}? ?"
    r"(?:is|was|are|were|lies|lie|lay|came|comes|come|stems?|stemmed|rests?|sits?|:|being)(?![a-z])(?! (?:in line"
    r"|in keeping|consistent|in agreement|compatible))"
    r"|(?:because of|on (?:the )?(?:grounds?|strength|basis|evidence|account) of|in response to|in (?:the )?light of"
    r"|in view of|thanks to|owing to|on the back of|(?:an? )?(?:response|answer|reaction) to|by way of|(?:trouble"
    r"|faults?|problem|mistakes?|weakness|damage|loss|errors?|culprit|failure|lesson)(?: [\w']{1,10}){0,3}? (?:is"
    r"|are|lies|lie|sits?|happens?|occurs?|appears?|arises?)(?: (?:all|only|mainly|entirely|clearly|really)){0,2} in"
    r"|(?:purely |simply |only |just |really |all |mainly |mostly |entirely )(?:a |an )?(?:matter|question|issue"
    r"|exercise) of|if i (?:had|have|were) to (?:name|pick|choose|single)(?: [\w']{1,10}){0,6}? be|judging (?:by"
    r"|from)|going by|based (?:up)?on|taken from|prompted by"
    r"|motivated by|suggested by|inspired by|dictated by|driven by|justified by|supported by|guided by|read off"
    r"|according to)"
    r"(?![a-z]))",
    "a acco all an answ base beca best by chie clea culp dama deci dict driv enti erro fail faul firs goin "
    "guid if in insp judg just key less loss main mist most moti my on one only owin prob prom pure reac read "
    "real resp simp stro sugg supp take than the trou weak what",
)
"""Before its source: "my main reason is", "because of", "based on"."""

_AUTHORED: Final = Opening(
    rf"{_AUTHOR}{_WORDS}{{0,6}}? (?:"
    r"(?:rel(?:y|ies|ied|ying)|rests?|rested|base[ds]?|basing|hinges?|hinged|lean(?:s|ed|t|ing)?|depends?|buil[dt]s?"
    r"|turn(?:s|ed)?|count"
    rf"|stand(?:s)?|stood|draws?|drew)(?: {_CHIEFLY})?(?:{_WORDS}{{1,2}})? (?:up)?on"
    r"|(?:go|goes|went|going|judged?|guided|led|driven|prompted|motivated|suggested|dictated|inspired|decided|settled"
    rf"|justified|informed|supported|moved|persuaded|convinced|swayed)(?: {_CHIEFLY})? by"
    r"|(?:comes?|came|coming|stems?|stemmed|follow(?:s|ed)?|tak(?:e|es|en|ing)|took|deriv(?:e|es|ed)|draws?|drawn"
    r"|drew|read"
    r"|infer(?:s|red)?|got (?:there|here|it|this|to it)|get (?:there|this|it)|learn(?:s|ed|t)?|arrived?(?: at (?:it"
    r"|this|them))?|argue[ds]?|reason(?:s|ed)?"
    r"|deduced?|concluded?|worked?|know|knew|see|saw|judged?|work(?:ed)? (?:it|this|them) out|reached? (?:it|this"
    r"|them))"
    rf"(?: {_CHIEFLY})?(?:{_WORDS}{{1,2}}?)? (?:from|off|out of)"
    rf"|(?:{_CHIEFLY} )?(?:(?:work|start)(?:ed|s)? with|(?:go|went|began|begin) with|trust(?:ed)?|used?|using"
    rf"|follow(?:ed|s)?|stud(?:y|ied)|singled? out|pick(?:ed)? out|consult(?:ed)?|look(?:ed)? (?:at|to)"
    rf"|turn(?:ed)? to|went to|listen(?:ed)? to"
    r"|appeal(?:ed)? to|focus(?:ed)? on|concentrat(?:e|ed) on|attention (?:went|goes|is) (?:to|on)|(?:design|tun"
    r"|plann|aim|shap|fit)(?:ed)?(?: [\w']{1,12}){0,3} (?:for|around|at|to|after)|answers?|responds? to|reacts? to"
    r"|addresses|targets?|owes?|believed?|prefer(?:red)?|g[ia]ve (?:the )?(?:most|more) weight to)"
    r")(?![a-z])",
    "both each i main me mine my only our that the thes this us we whol",
)
"""Before its source, where the answer speaks of itself: "I rely on", "the change comes from"."""

_WITHOUT: Final = compiled(
    r"(?:^|[,.;:] )(?:without|but for|if not for|(?:were|had) it not (?:for|been for))"
    r"(?=(?: [\w',#-]{1,14}){1,10}? (?:would|should|might|could|no reason|nothing)(?![a-z]))"
)
"""Before its source: "without the worst rollout I would have changed nothing"."""

_ELLIPSIS: Final = compiled(r" (?:does|do|did)(?: so)? ?[:.,;]")
"""Behind its source, which does what others do not: "the rollouts tell me nothing. The list does"."""

_STRONG: Final = compiled(
    rf"(?<![a-z])(?:{_MINE}|{_CHIEFLY}|main|chief|clearest|strongest|decisive|best|key|deciding"
    r"|(?:decid|settl|clinch|convinc|persuad|answer)\w{1,3} (?:it|this|that|me|the (?:matter|question|case|issue)"
    r"|most))(?![a-z])"
)
_FIRST_PERSON: Final = stems(
    "i me my we us our mine chan edit revi adju corr modi prop deci conc judg diag argu reas evid case grou infe"
    " fix reme new"
)
_LACKING: Final = stems("with but if were had")
_OTHERWISE: Final = stems("would should might could no noth")
_DOING: Final = stems("does do did")
_NAMING: Final = stems(
    "what reas evid argu grou basi moti just guid case clue less poin cons fact foun insp witn trig supp sour"
    " beca stre acco resp ligh owin judg base sugg dict driv matt ques exer name sing trou faul prob mist weak"
    " culp fail"
)
_DECIDING: Final = stems(
    "info deci sett clin answ reso dete dict moti prom driv drov just sugg insp shap guid conv pers led lead brin brou"
    " tell told taug teac tip tips tipp offe says say coun weig matt carr spea reve exhi illu show disp me us my"
    " what one ones reas evid argu basi grou poin witn sour mode temp conc inst comp key behi enou part thin"
)
"""Stems, words cut to four letters, without one of which a sentence holds no phrase of the kind."""

_BREAK: Final = re.compile(r"[;!?]|\.[\x20\n]")


@dataclass(frozen=True, slots=True)
class Statement:
    """That an answer went by a source, or (`denied`) that it did not; `strong` where it speaks of itself."""

    driver: DriverName | None
    denied: bool
    strong: bool = True


def statements_in(words: Words, rollouts: Sequence[Source]) -> Iterator[Statement]:
    """What a sentence states that its author went by.

    Args:
        words: those of the sentence.
        rollouts: the rollouts that it names, in order, their offsets counted from the start of the sentence.
    """
    plain, here = words.plain, words.stems
    authored = () if here.isdisjoint(_FIRST_PERSON) else tuple(_AUTHORED.finditer(words))
    naming = () if here.isdisjoint(_NAMING) else tuple(_SUBJECT_AFTER.finditer(words))
    lacking = not (here.isdisjoint(_LACKING) or here.isdisjoint(_OTHERWISE))
    without = tuple(_WITHOUT.finditer(plain)) if lacking else ()
    deciding = () if here.isdisjoint(_DECIDING) else tuple(_SUBJECT_BEFORE.finditer(words))
    elliptic = () if here.isdisjoint(_DOING) else tuple(_ELLIPSIS.finditer(plain))
    if not (authored or naming or without or deciding or elliptic):
        return
    sources = find_sources(words, rollouts)
    chosen: dict[DriverName | None, bool] = {}
    for match in authored:
        _choose(chosen, _after(plain, match.end(), sources), strong=True)
    for match in naming:
        strong = _STRONG.search(plain, match.start(), _word_end(plain, match.end() + 12)) is not None
        _choose(chosen, _after(plain, match.end(), sources), strong=strong)
    for match in without:
        named = [Source(each.start, each.end, each.driver) for each in sources]
        _choose(chosen, _after(plain, match.end(), named), strong=True)
    for match in deciding:
        strong = _STRONG.search(plain, match.start(), _word_end(plain, match.end() + 4)) is not None
        _choose(chosen, _before(plain, match.start(), sources), strong=strong)
    ends = {match.start() for match in elliptic}
    for source in sources:
        if source.driver == "history" and not source.denied and source.end in ends:
            _choose(chosen, source.driver, strong=True)
    for name, strong in chosen.items():
        # "The reason is the sign of the weight" explains what happened in a rollout.
        if name == "structure" and not strong:
            continue
        yield Statement(name, denied=False, strong=strong)
    for source in sources:
        if chosen and source.denied and source.driver not in chosen:
            yield Statement(source.driver, denied=True)


def _word_end(plain: str, offset: int) -> int:
    end = plain.find(" ", offset)
    return end if end >= 0 else len(plain)


def _choose(chosen: dict[DriverName | None, bool], source: DriverName | None, *, strong: bool) -> None:
    if source is not None:
        chosen[source] = chosen.get(source, False) or strong


def _after(plain: str, offset: int, sources: Sequence[Source]) -> DriverName | None:
    """The source behind a phrase, the first that is not denied."""
    for number, source in enumerate(sources):
        if source.start < offset or source.denied:
            continue
        if source.start - offset > 80 or _BREAK.search(plain, offset, source.start):
            return None
        return _listed(plain, sources[number:])
    return None


def _before(plain: str, offset: int, sources: Sequence[Source]) -> DriverName | None:
    """The source before a phrase: the first of the last clause that has one."""
    near = [
        number
        for number, each in enumerate(sources)
        if each.end <= offset
        and offset - each.end <= 70
        and not each.denied
        and not _BREAK.search(plain, each.end, offset)
    ]
    if not near:
        return None
    comma = plain.rfind(",", sources[near[0]].end, offset)
    first = next((number for number in near if sources[number].start > comma), near[0])
    return _listed(plain, sources[first:])


def _listed(plain: str, sources: Sequence[Source]) -> DriverName | None:
    """The first source; several rollouts where others follow it in a list."""
    first = sources[0]
    if first.driver in ROLLOUTS and len(sources) > 1:
        second = sources[1]
        if second.driver in ROLLOUTS and second.driver != first.driver:
            between = plain[first.end : second.start]
            return "shared" if LISTED.fullmatch(between) else first.driver
    return first.driver or "shared"

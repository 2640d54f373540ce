"""Rollouts called by what they are like: "the failing run", "the rollout that fell early", "the run in the middle"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from audit.references.drafts import Draft, Scene, compiled
from audit.references.labels import HISTORY_AHEAD
from audit.references.mention import UNRESOLVED, Target
from audit.references.shown import Shown

WORST: Final = frozenset(
    {"failing", "failed", "unsuccessful", "lowest", "poorest", "weakest", "crashed", "crashing", "problematic"}
    | {"bad", "poor", "losing", "unlucky", "outlier", "outlying", "failure", "low"}
)
BEST: Final = frozenset({"successful", "highest", "strongest", "top", "winning", "perfect", "good", "lucky", "high"})
TYPICAL: Final = frozenset({"typical", "average", "middle", "ordinary", "usual"})
SHOWN: Final = frozenset({"shown", "displayed"})
EXTREME: Final = frozenset({"shortest", "longest"})
ADJECTIVES: Final = WORST | BEST | TYPICAL | SHOWN | EXTREME

_POINTERS: Final = ("the", "this", "that", "one", "its", "our", "lone", "sole", "only", "single", "occasional", "early")
_MEASURES: Final = ("most", "least", "rare", "single")
_POINTED_AT: Final = compiled(
    rf"(?:^|[^a-z])(?:{'|'.join(_POINTERS)})(?: (?:{'|'.join(_MEASURES)}))?[-\x20\n,]{{1,24}}$"
)
GAPS: Final = "- \n,"
"""What is between a word and the noun behind it."""
ANY_WORDS: Final = ("each", "every", "any", "no", "all", "another", "other", "some")
ANY: Final = compiled(rf"(?:^|[^a-z])(?:{'|'.join(ANY_WORDS)})[-\x20\n]{{1,24}}$")
_ARTICLE: Final = compiled(r"(?:^|[^a-z])an?[\x20\n]{1,24}$")
_LEAST: Final = compiled(r"(?:^|[^a-z])least[\x20\n]{1,24}$")

_NOUN_BEHIND: Final = compiled(
    r"(?P<measure>[-\x20](?:scoring|return|reward|performing|rewarded|earning|rated|looking))?[-\x20\n]{1,24}"
    r"(?:(?:early|evaluation|test|single|individual|short|long)[-\x20\n]{1,24}){0,2}"
    r"(?P<noun>roll-?out|roll out|trajectory|episode|run|trace|simulation|game|one)(?![a-z])"
)
OF_SOMETHING_ELSE: Final = compiled(
    r"[-\x20\n]{1,24}(?:lengths?|caps?|returns?|rewards?|scores?|counts?|budgets?|limits?|horizons?|duration|time"
    r"|polic(?:y|ies)|performance|rates?)(?![a-z])"
)
_MEASURED: Final = frozenset({"low", "high"})
"""Adjectives that need a measure: "low-scoring"."""
_VAGUE_OF_ONE: Final = frozenset({"bad", "poor", "good", "perfect", "top", "usual"})
"""Adjectives of "the … one" that describe anything."""

_THAT: Final = r" (?:that|which|who)(?: (?:had|has|only|just|also|clearly|actually|eventually|quickly|simply))?"
_WENT_WRONG: Final = (
    r" (?:fail(?:ed|s)|fell|falls|crash(?:ed|es)|died|dies|collaps(?:ed|es)|lost|loses|broke|breaks"
    r"|went (?:\w{1,12} ){0,2}(?:wrong|badly|astray)|did (?:so |very )?(?:worst|badly|poorly)"
    r"|perform(?:ed|s) (?:worst|badly|poorly)|scor(?:ed|es) (?:the )?(?:lowest|least|worst)"
    r"|end(?:ed|s) (?:too |so |very )?(?:early|prematurely|badly|in (?:a hole|failure|the hole))"
    r"|terminat(?:ed|es) (?:early|prematurely)|did(?:n't| not) (?:make it|succeed|reach the goal))(?![a-z])"
)
_WENT_WELL: Final = (
    r" (?:succeed(?:ed|s)|worked|works|won|wins|did (?:best|well)|perform(?:ed|s) (?:best|well)|went (?:best|well)"
    r"|surviv(?:ed|es)|reach(?:ed|es) the goal|scor(?:ed|es) (?:the )?(?:highest|best|most)|made it)(?![a-z])"
)
_WITH: Final = r" (?:with|having|(?:that|which) (?:has|had|got|gave))(?: the)?"
_RETURN: Final = r" (?:return|reward|score|total reward|number of points)(?![a-z])"
_FATES: Final[tuple[tuple[re.Pattern[str], Callable[[Shown], Target]], ...]] = (
    (
        compiled(rf"{_THAT} (?:last(?:ed|s)|surviv(?:ed|es)|ran) (?:the )?longest(?![a-z])"),
        lambda shown: shown.extreme_length(longest=True),
    ),
    (
        compiled(rf"{_THAT} (?:ended|ends|fell|failed|died|stopped) (?:the )?(?:soonest|earliest|first)(?![a-z])"),
        lambda shown: shown.extreme_length(longest=False),
    ),
    (
        compiled(rf"{_WITH} (?:lowest|smallest|worst|least|minimum|minimal){_RETURN}"),
        lambda shown: shown.labelled("worst"),
    ),
    (compiled(rf"{_WITH} (?:median|middle){_RETURN}"), lambda shown: shown.labelled("median")),
    (
        compiled(rf"{_WITH} (?:highest|largest|best|most|maximum|maximal){_RETURN}"),
        lambda shown: shown.labelled("best"),
    ),
    (compiled(rf"{_THAT}{_WENT_WRONG}(?: (?:early|hardest|so early|most)(?![a-z]))?"), lambda shown: shown.failing),
    (compiled(rf"{_THAT}{_WENT_WELL}"), lambda shown: shown.successful),
    (compiled(r" (?:in the middle|in between|between them)(?![a-z])"), lambda shown: shown.typical),
    (
        compiled(r"(?: (?:that|which) (?:is|was|were))? (?:shown|displayed|given)(?: (?:here|above|below))?(?![a-z])"),
        lambda shown: shown.single or UNRESOLVED,
    ),
)
_ONE_WENT_WRONG: Final = compiled(_WENT_WRONG)

_THE: Final = compiled(r"(?:^|[^a-z])(?:the|this)[\x20\n]{1,24}$")
_HERE: Final = frozenset({"rollout", "trajectory", "trace"})
_BY_ITSELF: Final = compiled(
    r"'s(?![a-z])| ?(?:[,;:.)(!?|]|--? |$)"
    r"| (?:is|was|has|had|in|at|it|where|when|while|but|and|or|as|after|before|shows?|showed|ends?|ended|starts?"
    r"|started|fails?|failed|keeps?|stays?|drifts?|drifted|reaches|reached|with|because|by|to|never|still|also"
    r"|the|a|its"
    r"|i|we|there)(?![a-z])"
)


def find_by_adjective(scene: Scene, match: re.Match[str]) -> list[Draft]:
    """Read what begins with an adjective: "failing" with "run" behind it."""
    plain, adjective = scene.plain, match[0]
    noun = _NOUN_BEHIND.match(plain, match.end())
    if noun is None or HISTORY_AHEAD.match(plain, noun.end()) or OF_SOMETHING_ELSE.match(plain, noun.end()):
        return []
    if adjective in _MEASURED and not noun["measure"]:
        return []
    before = scene.before(match.start(), 40)
    pointed_at = _POINTED_AT.search(before) or (adjective in TYPICAL and _ARTICLE.search(before))
    if not pointed_at or ANY.search(before) or (noun["noun"] == "one" and adjective in _VAGUE_OF_ONE):
        return []
    target = _described(scene.shown, adjective, least=_LEAST.search(before) is not None)
    return [Draft(match.start(), noun.end(), "paraphrase", target)] if target else []


def fate_behind(scene: Scene, noun: re.Match[str], before: str) -> Draft | None:
    """Read "the rollout that fell early", "one run went badly wrong", "the run in the middle", "the run shown here"."""
    if not before.rstrip(GAPS).endswith((*_POINTERS, *_MEASURES)) or not _POINTED_AT.search(before):
        return None
    for pattern, meaning in _FATES:
        if (found := pattern.match(scene.plain, noun.end())) and (target := meaning(scene.shown)):
            return Draft(noun.start(), found.end(), "paraphrase", target)
    if before.rstrip().endswith(("one", "single")) and (found := _ONE_WENT_WRONG.match(scene.plain, noun.end())):
        return Draft(noun.start(), found.end(), "paraphrase", scene.shown.failing)
    return None


def the_only_one(scene: Scene, noun: re.Match[str], before: str) -> Draft | None:
    """Read "the rollout", where only one was shown."""
    single = scene.shown.single if noun[0] in _HERE else None
    if single is None or not _THE.search(before) or not _BY_ITSELF.match(scene.plain, noun.end()):
        return None
    return Draft(noun.start(), noun.end(), "paraphrase", single)


def _described(shown: Shown, adjective: str, *, least: bool) -> Target:
    if adjective in WORST or (adjective in BEST and least):
        return shown.failing
    if adjective in BEST:
        return shown.successful
    if adjective in TYPICAL:
        return shown.typical
    if adjective in EXTREME:
        return shown.extreme_length(longest=adjective == "longest")
    return shown.single or UNRESOLVED

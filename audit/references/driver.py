"""What a revision is chiefly justified by, read off its answer by plain rules.

A baseline to compare coders and judges with: it knows the words of a justification and not its sense. The rules, the
first that applies:

1. `none`: nothing was changed, or no reason is given.
2. `history`: a sentence goes back to earlier trials.
3. `shared`: a sentence states that several rollouts have something in common, or names the worst with another one.
4. `worst`, `median` (or representative), `best`: the rollout that most sentences name which are about the change, or
   just before one.
5. `history`: a sentence about the change names earlier trials.
6. `structure`: any other reason.

Sentences that only state what was kept are ignored, and so are mentions that are negated or discounted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from audit.references.drafts import compiled
from audit.references.folding import fold
from audit.references.mention import Mention
from audit.references.resolving import resolve
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.vocabulary.drivers import DriverName


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver, and the sentence that it was read from: empty where there is none."""

    name: DriverName
    sentence: str = ""


MOST_SENTENCES: Final = 10_000
"""Further sentences are not looked at: no answer has them."""

_PARAMETER_LINE: Final = compiled(r"[^a-z]{0,8}params\[0\] ?[:=]")
_PARAMETER: Final = compiled(r"params?\[?(\d{1,4})\]?|states? (\d{1,4})(?: and (\d{1,4}))?")
_CHANGE: Final = compiled(
    r"(?:^|[^a-z])(?:i|we) (?:\w{1,12} ){0,2}(?:chang|increas|decreas|rais|lower|reduc|flip|mov|adjust|strengthen"
    r"|weaken|shift|scal|doubl|halv|switch|replac|revers|negat|drop|remov|set|put|made|mak|revert|correct|fix|damp"
    r"|tweak|boost)\w{0,5}(?![a-z])"
)
_KEEP: Final = compiled(
    r"(?:^|[^a-z])(?:(?:i|we) (?:\w{1,12} ){0,2}(?:keep|kept|leave|left|retain(?:ed)?|preserved?)"
    r"|(?:is|are|was|were) (?:kept|retained|preserved)|unchanged|untouched|left (?:alone|as)"
    r"|(?:rest|else|others?|weights) (?:stays?|remains?))(?![a-z])"
)
_GOING_BACK: Final = compiled(
    r"(?:^|[^a-z])(?:(?:went|go|going|came|moved?|fell|switched) back (?:to|on)"
    r"|(?:return|revert)(?:ed|ing)? (?:back )?to|restor(?:e|ed|ing)|adopt(?:ed|ing)?|copied|copying"
    r"|borrow(?:ed|ing)?|reus(?:e|ed|ing)|start(?:ed|ing)? (?:again )?from)(?![a-z])"
)
_HISTORY: Final = compiled(
    r"(?:^|[^a-z])(?:trials?|history|earlier|previous|previously|past|family|proven|known good|so far)(?![a-z])"
)
_ALL: Final = compiled(
    r"(?:^|[^a-z])(?:all (?:of )?(?:the |my )?(?:three|rollouts|shown|of them|runs|episodes|trajectories)"
    r"|(?:every|each) (?:rollout|run|episode|of (?:the|these|them))|(?:in|of) (?:both|each)|both (?:rollouts|runs|of))"
    r"(?![a-z])"
)
_SAME: Final = compiled(
    r"(?:^|[^a-z])(?:same (?:way|fault|failure|mistake|pattern|lag|problem|error|direction|reason|drift|behaviou?r"
    r"|weakness)|systematic\w{0,4}|policy problem|problem of the policy|(?:is|are) (?:shared|common)"
    r"|in common)(?![a-z])"
)
_DENIED: Final = compiled(r"(?:^|[^a-z])(?:not|no|never|\w{1,8}n't|hardly|less)(?: \w{1,10}){0,2} ?$")
_LABEL: Final = compiled(r"worst|median|best|representative")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with the features that the rules need."""

    start: int
    end: int
    plain: str
    about_change: bool
    named: frozenset[str]


def driver(text: str, shown: Shown, changed: Sequence[int] | None) -> Driver:
    """Judge what the main change is chiefly justified by.

    Args:
        text: a critic's answer.
        shown: what the critic was shown.
        changed: indices of the parameters that changed; None where they are not known.
    """
    nothing_changed = changed is not None and not changed
    sentences = [] if nothing_changed else _sentences(text, shown, frozenset(changed or ()))
    if not sentences:
        return Driver("none")

    def read_from(name: DriverName, sentence: _Sentence) -> Driver:
        return Driver(name, text[sentence.start : sentence.end].strip())

    for sentence in sentences:
        if _GOING_BACK.search(sentence.plain) and _HISTORY.search(sentence.plain):
            return read_from("history", sentence)
    claims = [_claims(sentence) for sentence in sentences]
    if any(claims):
        return read_from("shared", sentences[claims.index(max(claims))])
    if named := _most_named(sentences):
        name, sentence = named
        return read_from(name, sentence)
    about = [sentence for sentence in sentences if sentence.about_change]
    for sentence in about:
        if _HISTORY.search(sentence.plain):
            return read_from("history", sentence)
    return read_from("structure", (about or sentences)[0])


def _sentences(text: str, shown: Shown, changed: frozenset[int]) -> list[_Sentence]:
    """The sentences that may justify a change: not the line of parameters, nor what was kept."""
    plain = fold(text)
    bounds = Sentences(text)
    mentions: dict[int, list[Mention]] = {}
    for mention in resolve(text, shown):
        if not (mention.negated or mention.discounted):
            mentions.setdefault(bounds.number(mention.start), []).append(mention)
    found = []
    for number in range(min(len(bounds), MOST_SENTENCES)):
        start, end = bounds.start(number), bounds.end(number)
        words = plain[start:end]
        if _PARAMETER_LINE.match(words) or not re.search("[a-z]{3}", words):
            continue
        changes = _CHANGE.search(words) is not None
        if _KEEP.search(words) and not changes:
            continue
        parameters = {int(index) for match in _PARAMETER.findall(words) for index in match if index}
        about = changes or not changed.isdisjoint(parameters)
        found.append(_Sentence(start, end, words, about, _named(mentions.get(number, ()), shown)))
    return found


def _named(mentions: Iterable[Mention], shown: Shown) -> frozenset[str]:
    """The roles that a sentence speaks of: as named; where it uses no name, the first under which it was shown."""
    roles: set[str] = set()
    labels = {rollout.label for rollout in shown.rollouts}
    for mention in mentions:
        own = [label for label in mention.labels if label in labels] or mention.labels
        roles.update(_LABEL.findall(mention.text.lower()) or own[:1])
    # Of single rollouts that represent all, the one nearest to the mean is as typical as the median.
    return frozenset("median" if role == "representative" else role for role in roles)


def _claims(sentence: _Sentence) -> int:
    """How often a sentence states that rollouts share something."""
    # "Trial 34 reached 500 in all rollouts" speaks of other rollouts.
    patterns = (_SAME,) if _HISTORY.search(sentence.plain) else (_SAME, _ALL)
    expressions = sum(
        not _DENIED.search(sentence.plain, max(0, found.start() - 40), found.start() + 1)
        for pattern in patterns
        for found in pattern.finditer(sentence.plain)
    )
    return expressions + (len(sentence.named) > 1 and "worst" in sentence.named)


def _most_named(sentences: Sequence[_Sentence]) -> tuple[DriverName, _Sentence] | None:
    """The rollout that sentences about the change name most, those just before one included, and the first of them."""
    weights: Counter[DriverName] = Counter()
    relied_on: dict[DriverName, _Sentence] = {}
    for number, sentence in enumerate(sentences):
        following = sentences[number + 1 : number + 2]
        weight = 2 if sentence.about_change or any(after.about_change for after in following) else 1
        for name in _ROLES:
            if name in sentence.named:
                weights[name] += weight
                relied_on.setdefault(name, sentence)
    if not weights:
        return None
    name = max(_ROLES, key=lambda role: weights[role])
    return name, relied_on[name]


_ROLES: Final[tuple[DriverName, ...]] = ("worst", "median", "best")

"""The sentences of an answer that may justify a change, with the features that the rules for drivers need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from audit.references.drafts import compiled
from audit.references.folding import fold
from audit.references.grounds import GroundKind, grounds_in
from audit.references.mention import Mention
from audit.references.phrases import gives_no_reason
from audit.references.resolving import resolve
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.references.statements import Source, Statement, statements_in
from audit.vocabulary.drivers import DriverName

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
    r"|(?:is|are|was|were) (?:kept|retained|preserved)|kept(?: ?:| (?:is|are|as|for))|unchanged"
    r"|untouched|left (?:alone|as)"
    r"|(?:rest|else|others?|weights) (?:stays?|remains?))(?![a-z])"
)
_DRIVER: Final[dict[str, DriverName]] = {"worst": "worst", "median": "median", "best": "best"}
_LABEL: Final = compiled(r"worst|median|best|representative")
_BLANK_LINE: Final = re.compile(r"\n[ \t]{0,4}\n")
_WORD: Final = re.compile("[a-z]+")
_LETTERS: Final = re.compile("[a-z]{3}")


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence with the features that the rules need; `compares` if it names the worst rollout and another one."""

    start: int
    end: int
    plain: str
    paragraph: int
    about_change: bool
    named: tuple[str, ...]
    compares: bool
    statements: tuple[Statement, ...]
    nominal: bool
    stems: frozenset[str]
    kinds: tuple[GroundKind, ...]


def passages(text: str, shown: Shown, changed: frozenset[int]) -> list[Passage]:
    """The sentences that may justify a change: not the line of parameters, nor what was kept."""
    plain = fold(text)
    bounds = Sentences(text)
    mentions: dict[int, list[Mention]] = {}
    for mention in resolve(text, shown):
        mentions.setdefault(bounds.number(mention.start), []).append(mention)
    found = []
    paragraph = 0
    for number in range(min(len(bounds), MOST_SENTENCES)):
        start, end = bounds.start(number), bounds.end(number)
        words = plain[start:end]
        paragraph += _BLANK_LINE.search(text, max(0, start - 4), start) is not None
        if _PARAMETER_LINE.match(words) or not _LETTERS.search(words):
            continue
        near = mentions.get(number, ())
        stems = frozenset([word[:4] for word in _WORD.findall(words)])
        statements = tuple(statements_in(words, stems, _sources(near, shown, start)))
        nominal = gives_no_reason(words, stems)
        changes = _CHANGE.search(words) is not None
        if _KEEP.search(words) and not changes and not statements and not nominal:
            continue
        parameters = {int(index) for match in _PARAMETER.findall(words) for index in match if index}
        about = changes or not changed.isdisjoint(parameters)
        meant = [mention for mention in near if not (mention.negated or mention.discounted)]
        compares = any(each.worst for each in meant) and len({each.labels for each in meant}) > 1
        named = tuple(dict.fromkeys(role for mention in meant for role in _roles(mention, shown)))
        found.append(
            Passage(
                start,
                end,
                words,
                paragraph,
                about,
                named,
                compares,
                statements,
                nominal,
                stems,
                tuple(dict.fromkeys(grounds_in(words))),
            )
        )
    return found


def _sources(mentions: Iterable[Mention], shown: Shown, start: int) -> list[Source]:
    """The rollouts that a sentence names, as what a change may go by."""
    found = []
    for mention in mentions:
        roles = _roles(mention, shown)
        if roles:
            found.append(Source(mention.start - start, mention.end - start, _DRIVER[roles[0]], mention.negated))
    return found


def _roles(mention: Mention, shown: Shown) -> list[str]:
    """The roles that a mention speaks of: as named; where it uses no name, the first under which it was shown."""
    labels = {rollout.label for rollout in shown.rollouts}
    own = [label for label in mention.labels if label in labels] or list(mention.labels)
    heading = shown.label_of(mention.text[-1]) if shown.has_headings and mention.kind == "label" else None
    roles = [heading] if heading else _LABEL.findall(mention.text.lower()) or own[:1]
    # Of single rollouts that represent all, the one nearest to the mean is as typical as the median.
    return ["median" if role == "representative" else role for role in roles]

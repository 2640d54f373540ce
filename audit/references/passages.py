"""The sentences of an answer that may justify a change, with the features that the rules for drivers need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from audit.references.drafts import compiled
from audit.references.folding import fold
from audit.references.grounds import GroundKind, grounds_in
from audit.references.mention import Mention
from audit.references.phrases import gives_no_reason, speaks_of_trials
from audit.references.resolving import resolve
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.references.stated_sources import Source
from audit.references.statements import Statement, statements_in
from audit.references.words import Opening, Words, apart, stems

MOST_SENTENCES: Final = 10_000
"""Further sentences are not looked at: no answer has them."""

_PARAMETER_LINE: Final = compiled(r"[^a-z]{0,8}params\[0\] ?[:=]")
_PARAMETER: Final = compiled(r"params?\[?(\d{1,4})\]?|states? (\d{1,4})(?: and (\d{1,4}))?")
_CHANGE: Final = Opening(
    r"(?:^|[^a-z])(?:i|we) (?:\w{1,12} ){0,2}(?:chang|increas|decreas|rais|lower|reduc|flip|mov|adjust|strengthen"
    r"|weaken|shift|scal|doubl|halv|switch|replac|revers|negat|drop|remov|set|put|made|mak|revert|correct|fix|damp"
    r"|tweak|boost)\w{0,5}(?![a-z])",
    "i we",
)
_KEEP: Final = Opening(
    r"(?:^|[^a-z])(?:(?:i|we) (?:\w{1,12} ){0,2}(?:keep|kept|leave|left|retain(?:ed)?|preserved?)"
    r"|(?:is|are|was|were) (?:kept|retained|preserved)|kept(?: ?:| (?:is|are|as|for))|unchanged"
    r"|untouched|left (?:alone|as)"
    r"|(?:rest|else|others?|weights) (?:stays?|remains?))(?![a-z])",
    "are else i is kept left othe rest unch unto was we weig were",
)
Role = Literal["worst", "median", "best"]
"""A role by which a rollout can be what a change is justified by."""
_EXAMPLE: Final = re.compile(r"(?<!for )(?<![a-z])example(?=s?(?![a-z]))")
"""Examples are written about as rollouts are; the words are equally long, so that places in the text stay."""
_ROLES: Final[dict[str, Role]] = {"worst": "worst", "median": "median", "best": "best", "representative": "median"}
"""Of single rollouts that represent all, the one nearest to the mean is as typical as the median."""
_KEPT: Final = stems("keep kept leav left reta pres unch unto stay rema")
_LABEL: Final = compiled(r"worst|median|best|representative")
_BLANK_LINE: Final = re.compile(r"\n[ \t]{0,4}\n")
_LETTERS: Final = re.compile("[a-z]{3}")


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence with the features that the rules need; `compares` if it names the worst rollout and another one."""

    start: int
    end: int
    words: Words
    paragraph: int
    about_change: bool
    named: tuple[Role, ...]
    compares: bool
    statements: tuple[Statement, ...]
    nominal: bool
    trials: bool
    kinds: tuple[GroundKind, ...]

    @property
    def plain(self) -> str:
        """The sentence, made plain by `fold`."""
        return self.words.plain

    def has(self, *patterns: Opening) -> bool:
        """Whether one of some patterns is in the sentence."""
        for pattern in patterns:  # noqa: SIM110 - `any` of a generator takes longer
            if pattern.search(self.words):
                return True
        return False


def passages(text: str, shown: Shown, changed: frozenset[int]) -> list[Passage]:
    """The sentences that may justify a change: not the line of parameters, nor what was kept."""
    plain = fold(text)
    if shown.are_items:
        plain = _EXAMPLE.sub("rollout", plain)
    bounds = Sentences(text)
    mentions: dict[int, list[Mention]] = {}
    for mention in resolve(text, shown):
        mentions.setdefault(bounds.number(mention.start), []).append(mention)
    spaced = apart(plain)
    has_line, names_parameters = "params[0]" in plain, bool(changed) and ("param" in plain or "state" in plain)
    found = []
    paragraph = 0
    for number in range(min(len(bounds), MOST_SENTENCES)):
        start, end = bounds.start(number), bounds.end(number)
        sentence = plain[start:end]
        paragraph += _BLANK_LINE.search(text, max(0, start - 4), start) is not None
        if (has_line and _PARAMETER_LINE.match(sentence)) or not _LETTERS.search(sentence):
            continue
        words = Words(sentence, spaced[start + 1 : end + 1])
        near = [(mention, _roles(mention, shown)) for mention in mentions.get(number, ())]
        sources = [
            Source(mention.start - start, mention.end - start, roles[0], mention.negated)
            for mention, roles in near
            if roles
        ]
        statements = tuple(statements_in(words, sources))
        nominal = gives_no_reason(words)
        changes = _CHANGE.search(words) is not None
        is_argued = changes or statements or nominal
        if not (is_argued or words.stems.isdisjoint(_KEPT)) and _KEEP.search(words):
            continue
        about = changes or (names_parameters and not changed.isdisjoint(_parameters(sentence)))
        meant = [(mention, roles) for mention, roles in near if not (mention.negated or mention.discounted)]
        compares = any(each.worst for each, _ in meant) and len({each.labels for each, _ in meant}) > 1
        named = tuple(dict.fromkeys(role for _, roles in meant for role in roles))
        kinds = tuple(dict.fromkeys(grounds_in(words)))
        trials = speaks_of_trials(words)
        found.append(Passage(start, end, words, paragraph, about, named, compares, statements, nominal, trials, kinds))
    return found


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

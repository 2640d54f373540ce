"""From a text and what was shown to the mentions in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from audit.references.descriptions import ADJECTIVES, ANY, ANY_WORDS, GAPS, fate_behind, find_by_adjective, the_only_one
from audit.references.drafts import Bare, Draft, Phrase, Scene, compiled
from audit.references.folding import fold
from audit.references.headings import find_by_heading, find_letters
from audit.references.indices import find_indices
from audit.references.items import find_items
from audit.references.labels import find_labels
from audit.references.mention import LABELS, Mention
from audit.references.negation import is_negated
from audit.references.numbers import find_failure, number_before, number_behind
from audit.references.places import PLACES, find_by_place
from audit.references.roles import settle
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.references.words import apart, begins

MOST_MENTIONS: Final = 10_000
MOST_WORDS: Final = 100_000
"""A text is searched no further after so many mentions, or words that might be part of one. No real answer
has that many; the limit keeps hostile texts from taking much memory or time."""

_WORD: Final = re.compile("[a-z]{3,}")
_ROLL_OUT: Final = compiled(r"roll[-\x20\n]outs?(?![a-z])")
_LABELS: Final = frozenset(LABELS)
_NOUNS: Final = frozenset(
    f"{noun}{ending}" for noun in ("rollout", "episode", "run", "trace", "simulation", "game") for ending in ("", "s")
) | {"trajectory", "trajectories", "roll", "one"}
_FAILURES: Final = frozenset({"failure", "crash", "fall", "collapse"})
_WORDS: Final = _LABELS | _NOUNS | _FAILURES | ADJECTIVES | PLACES.keys()


def resolve(text: str, shown: Shown) -> list[Mention]:
    """Find the mentions of rollouts in a text, in order, none overlapping another.

    Args:
        text: an answer, or thinking.
        shown: what its author was shown of the rollouts.
    """
    scene = Scene(text, fold(text), shown)
    drafts, bare = _search(scene)
    if shown.are_items:
        drafts += find_items(scene)
    elif shown.has_headings:
        drafts += islice(find_letters(scene), MOST_MENTIONS)
    if not drafts and not bare:
        return []
    sentences = Sentences(text)
    if bare:
        drafts += settle(scene, drafts, bare, sentences)
    return [
        Mention(
            draft.start,
            draft.end,
            text[draft.start : draft.end],
            draft.kind,
            draft.target.labels,
            draft.target.rollouts,
            is_negated(scene, draft, sentences),
        )
        for draft in _apart(drafts)
    ]


def references_worst(mentions: Iterable[Mention]) -> bool:
    """Whether any mention points at the worst rollout."""
    return any(mention.worst for mention in mentions)


def _search(scene: Scene) -> tuple[list[Draft], list[Bare]]:
    """Go through the words once and read the context of those that may be part of a mention."""
    drafts: list[Draft] = []
    bare: list[Bare] = []
    taken = 0
    for seen, match in enumerate(_words(scene.plain), start=1):
        if seen > MOST_WORDS or len(drafts) > MOST_MENTIONS:
            break
        if match.start() >= taken:
            phrase = _read(scene, match)
            taken = phrase.end
            drafts.extend(phrase.drafts)
            if phrase.bare is not None:
                bare.append(phrase.bare)
    return drafts, bare


def _words(plain: str) -> Iterator[re.Match[str]]:
    """The words that may be part of a mention, in order."""
    spaced = apart(plain)
    here = _WORDS.intersection(spaced.split())
    for place in sorted([place for word in here for place in begins(spaced, f" {word} ")]):
        match = _WORD.match(plain, place)
        assert match is not None
        yield match


def _read(scene: Scene, match: re.Match[str]) -> Phrase:
    """Read the phrase around a word."""
    word = match[0]
    if word in _LABELS:
        return find_labels(scene, match)
    found: Sequence[Draft] = ()
    if word in _NOUNS:
        found = _by_noun(scene, match)
    elif word in PLACES:
        found = find_by_place(scene, match)
    if not found and word in ADJECTIVES:
        found = find_by_adjective(scene, match)
    if not found and word in _FAILURES:
        found = find_failure(scene, match)
    return Phrase(found[-1].end if found else match.end(), found)


def _by_noun(scene: Scene, noun: re.Match[str]) -> list[Draft]:
    """Read the context of a noun such as "rollout": mentions, or nothing where no particular one is meant."""
    if noun[0] == "roll":
        apart = _ROLL_OUT.match(scene.plain, noun.start())
        if apart is None:
            return []
        noun = apart
    if noun[0] != "one" and (numbered := find_indices(scene, noun) or find_by_heading(scene, noun)):
        return numbered
    if noun[0].endswith("s"):
        return []
    before = scene.before(noun.start(), 40)
    found = number_before(scene, noun, before)
    if found is None and not (before.rstrip(GAPS).endswith(ANY_WORDS) and ANY.search(before)):
        found = number_behind(scene, noun) or fate_behind(scene, noun, before) or the_only_one(scene, noun, before)
    return [] if found is None else [found]


def _apart(drafts: list[Draft]) -> list[Draft]:
    """In order, without those that begin inside an earlier one."""
    drafts.sort(key=lambda draft: (draft.start, -draft.end))
    kept: list[Draft] = []
    for draft in drafts:
        if not kept or draft.start >= kept[-1].end:
            kept.append(draft)
    return kept[:MOST_MENTIONS]

"""From a text and what was shown to the mentions in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from audit.references.cues import RULES, Cue, find_cue
from audit.references.descriptions import ADJECTIVES, ANY, ANY_WORDS, GAPS, fate_behind, find_by_adjective, the_only_one
from audit.references.drafts import Bare, Draft, Phrase, Scene, compiled
from audit.references.folding import fold
from audit.references.headings import find_by_heading, find_letters
from audit.references.indices import find_indices
from audit.references.items import find_items
from audit.references.labels import find_labels
from audit.references.mention import LABELS, Mention
from audit.references.numbers import find_failure, number_before, number_behind
from audit.references.places import PLACES, find_by_place
from audit.references.roles import settle
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.references.stance import judge
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
_WORDS: Final = _LABELS | _NOUNS | _FAILURES | ADJECTIVES | PLACES.keys() | RULES.keys()


def resolve(text: str, shown: Shown) -> list[Mention]:
    """Find the mentions of rollouts in a text, in order, none overlapping another.

    Args:
        text: an answer, or thinking.
        shown: what its author was shown of the rollouts.
    """
    scene = Scene(text, fold(text), shown)
    drafts, bare, cues = _search(scene)
    if shown.are_items:
        drafts += find_items(scene, 4 * MOST_WORDS)
    elif shown.has_headings:
        drafts += islice(find_letters(scene, 2 * MOST_WORDS), MOST_MENTIONS)
    if not drafts and not bare:
        return []
    sentences = Sentences(text)
    if bare:
        drafts += settle(scene, drafts, bare, sentences, MOST_WORDS)
    drafts = _apart(drafts)
    judge(scene, drafts, cues, sentences)
    return [
        Mention(
            draft.start,
            draft.end,
            text[draft.start : draft.end],
            draft.kind,
            draft.target.labels,
            draft.target.rollouts,
            draft.negated,
            draft.discounted,
        )
        for draft in drafts
    ]


def references_worst(mentions: Iterable[Mention]) -> bool:
    """Whether any mention points at the worst rollout, set aside or not."""
    return any(mention.worst for mention in mentions)


def discounts_worst(mentions: Iterable[Mention]) -> bool:
    """Whether any mention of the worst rollout sets it aside."""
    return any(mention.worst and mention.discounted for mention in mentions)


def _search(scene: Scene) -> tuple[list[Draft], list[Bare], list[Cue]]:
    """Go through the words once and read the context of those that may be part of a mention."""
    drafts: list[Draft] = []
    bare: list[Bare] = []
    cues: list[Cue] = []
    taken = 0
    for seen, match in enumerate(_words(scene.plain), start=1):
        word = match[0]
        if seen > MOST_WORDS or len(drafts) > MOST_MENTIONS:
            break
        if word in RULES and (cue := find_cue(scene, match)):
            cues.append(cue)
        if match.start() >= taken:
            phrase = _read(scene, match, seen)
            taken = phrase.end
            drafts.extend(phrase.drafts)
            if phrase.bare is not None:
                bare.append(phrase.bare)
    return drafts, bare, cues


def _words(plain: str) -> Iterator[re.Match[str]]:
    """The words that may be part of a mention, in order."""
    spaced = apart(plain)
    here = _WORDS.intersection(spaced.split())
    for place in sorted([place for word in here for place in begins(spaced, f" {word} ")]):
        match = _WORD.match(plain, place)
        assert match is not None
        yield match


def _read(scene: Scene, match: re.Match[str], group: int) -> Phrase:
    """Read the phrase around a word."""
    word = match[0]
    if word in _LABELS:
        return find_labels(scene, match, group)
    found: Sequence[Draft] = ()
    if word in _NOUNS:
        found = _by_noun(scene, match, group)
    elif word in PLACES:
        found = find_by_place(scene, match, group)
    if not found and word in ADJECTIVES:
        found = find_by_adjective(scene, match, group)
    if not found and word in _FAILURES:
        found = find_failure(scene, match, group)
    return Phrase(found[-1].end if found else match.end(), found)


def _by_noun(scene: Scene, noun: re.Match[str], group: int) -> list[Draft]:
    """Read the context of a noun such as "rollout": mentions, or nothing where no particular one is meant."""
    if noun[0] == "roll":
        apart = _ROLL_OUT.match(scene.plain, noun.start())
        if apart is None:
            return []
        noun = apart
    if noun[0] != "one" and (numbered := find_indices(scene, noun, group) or find_by_heading(scene, noun, group)):
        return numbered
    if noun[0].endswith("s"):
        return []
    before = scene.before(noun.start(), 40)
    found = number_before(scene, noun, before)
    if found is None and not (before.rstrip(GAPS).endswith(ANY_WORDS) and ANY.search(before)):
        found = number_behind(scene, noun) or fate_behind(scene, noun, before) or the_only_one(scene, noun, before)
    if found is None:
        return []
    start, end, kind, target = found
    return [Draft(start, end, kind, target, group)]


def _apart(drafts: list[Draft]) -> list[Draft]:
    """In order, without those that begin inside an earlier one."""
    drafts.sort(key=lambda draft: (draft.start, -draft.end))
    kept: list[Draft] = []
    for draft in drafts:
        if not kept or draft.start >= kept[-1].end:
            kept.append(draft)
    return kept[:MOST_MENTIONS]

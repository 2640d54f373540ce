"""Whose sentence is it? Each sentence of a text, traced back through its parents."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from audit.references.sentences import Sentences
from audit.reports.lineage.pool import Node, Pool, Text

PROGRAM: Final = "program"
"""The component whose text is a program, which is made of lines."""
ALIKE: Final = 0.6
"""Similarity (1 less the edit distance over the longer length) from which a sentence is another one, reworded."""
_WORD: Final = re.compile(r"\w{3,}")
_LONGEST_REASON: Final = 300
_FENCE: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Origin:
    """Where a sentence of a text came from.

    Attributes:
        component: of the text.
        sentence: as it is now.
        node: the candidate that brought its present words.
        how: `seed`, `new`, or `reworded` from a sentence of a parent that is gone.
        ratio: similarity to that earlier sentence, 1 for one copied word for word since it was brought.
        was: the earlier sentence.
        first: the candidate that brought the earliest wording.
    """

    component: str
    sentence: str
    node: Node
    how: str
    ratio: float
    was: str | None
    first: Node


@functools.lru_cache(2**14)
def sentences(text: str, component: str = "") -> tuple[str, ...]:
    """The sentences of a text, or the lines of a program, without blanks around them and without empty ones."""
    if component == PROGRAM:
        parts = [line.rstrip() for line in text.splitlines()]
    else:
        bounds = Sentences(text)
        parts = [text[bounds.start(number) : bounds.end(number)].strip() for number in range(len(bounds))]
    return tuple(part for part in parts if part)


def blame(pool: Pool, node: Node) -> Iterator[Origin]:
    """The origin of each sentence of a candidate, in the order of its text."""
    for component, text in (node.text or {}).items():
        for sentence in sentences(text, component):
            yield trace(pool, node, component, sentence)


def trace(pool: Pool, node: Node, component: str, sentence: str) -> Origin:
    """The origin of a sentence of a candidate: through the parent that has it word for word, while there is one.

    A merge takes whole components from its parents, so the one whose component is the same comes first.
    """
    while holder := _holder(pool, node, component, sentence):
        node = holder
    # The longest sentence may be as long as a program: only what vanished from the parents can be its former self.
    parents = pool.parents(node)
    if not parents:
        return Origin(component, sentence, node, "seed" if node.role == "seed" else "new", 1.0, None, node)
    here = set(_of(node.text, component))
    gone = [(old, parent) for parent in parents for old in _of(parent.text, component) if old not in here]
    match = process.extractOne(
        sentence, [old for old, _ in gone], scorer=Levenshtein.normalized_similarity, score_cutoff=ALIKE
    )
    if match is None:
        return Origin(component, sentence, node, "new", 1.0, None, node)
    old, ratio, place = match
    earlier = trace(pool, gone[place][1], component, old)
    return replace(Origin(component, sentence, node, "reworded", float(ratio), old, node), first=earlier.first)


def reason(node: Node, sentence: str) -> str | None:
    """What the author of a change said of it: the sentence of the answer that shares most words with it.

    None where the answer is not known, or consists of the proposed text alone.
    """
    answer = node.answer
    if not answer:
        return None
    prose = _FENCE.sub(" ", answer)
    for proposed in (node.text or {}).values():
        prose = prose.replace(proposed, " ")
    prose = prose.strip()
    if len(prose) <= _LONGEST_REASON:
        return prose or None
    parts = sentences(prose)
    words = _words(sentence)
    best = max(parts, key=lambda part: (sum((_words(part) & words).values()), -len(part)))
    return best if _words(best) & words else None


def repeats(pool: Pool, alike: float) -> Iterator[tuple[Node, Node, float]]:
    """Proposals from one parent that repeat one refused before: the later, the earlier, and how alike they are.

    Likeness is that of the whole texts, in characters (`rapidfuzz.fuzz.ratio`), of what is not the parent's.
    """
    refused: dict[str, list[tuple[str, Node]]] = {}
    for node in pool.nodes:
        if node.role != "revision" or node.text is None or len(node.parents) != 1:
            continue
        parent = pool.by_name.get(node.parents[0])
        before = refused.setdefault(node.parents[0], [])
        changed = _changed(None if parent is None else parent.text, node.text)
        found = process.extractOne(changed, [text for text, _ in before], scorer=fuzz.ratio, score_cutoff=100 * alike)
        if found is not None:
            yield node, before[found[2]][1], found[1] / 100
        if node.name is None:
            before.append((changed, node))


def changes(pool: Pool, node: Node) -> tuple[int, int] | None:
    """How many sentences a candidate has that no parent has, and how many of its parents' it lacks."""
    parents = [parent for parent in pool.parents(node) if parent.text is not None]
    if node.text is None or not parents:
        return None
    own = _parts(node.text)
    theirs = [_parts(parent.text or {}) for parent in parents]
    return len(own.difference(*theirs)), len(theirs[0] - own)


def _parts(text: Text) -> set[tuple[str, str]]:
    return {(name, part) for name in text for part in _of(text, name)}


def _holder(pool: Pool, node: Node, component: str, sentence: str) -> Node | None:
    parents = pool.parents(node)
    same = [each for each in parents if (each.text or {}).get(component) == (node.text or {}).get(component)]
    return next((each for each in [*same, *parents] if sentence in _of(each.text, component)), None)


def _changed(parent: Text | None, text: Text) -> str:
    """The sentences that a proposal adds and those that it takes away, marked; the whole of it where they are none."""
    old = {part for name in parent or {} for part in _of(parent, name)}
    new = {part for name in text for part in _of(text, name)}
    marked = [f"{sign} {part}" for sign, parts in (("+", new - old), ("-", old - new)) for part in sorted(parts)]
    return "\n".join(marked) or "\n".join(text.values())


def _of(text: Text | None, component: str) -> tuple[str, ...]:
    return sentences((text or {}).get(component, ""), component)


def _words(text: str) -> Counter[str]:
    return Counter(word.lower() for word in _WORD.findall(text))

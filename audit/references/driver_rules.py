"""What a revision is chiefly justified by, read off its answer by plain rules.

A baseline to compare coders and judges with: it knows the words of a justification and not its sense. `none` where
nothing was changed or no reason is given; `history` where a sentence goes back to earlier trials; otherwise the
driver for which the sentences speak most:

- what they state outright that the change goes by (`audit.references.statements`) outweighs the rest;
- the rest are findings of single words and phrases (`audit.references.weighing`), less where the answer denies that it
  went by that source, or where rollouts only confirm what was argued before.

Sentences that only state what was kept are ignored, and so are mentions that are negated or discounted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audit.references.grounds import GROUNDS
from audit.references.passages import Passage, passages
from audit.references.phrases import (
    CONFIRMS,
    HISTORY,
    SECONDARY,
    goes_back,
)
from audit.references.shown import Shown
from audit.references.stated_sources import ROLLOUTS
from audit.references.weighing import Weighed, weighed
from audit.vocabulary.drivers import DriverName


@dataclass(frozen=True, slots=True)
class Driver:
    """A driver, and the sentence that it was read from: empty where there is none."""

    name: DriverName
    sentence: str = ""


STATED: Final = 5.0
"""Weight of what a sentence states that its author went by; or that the change is nominal."""
HINTED: Final = 2.5
"""The same, where it states so of the change and not of its author."""
DENIED: Final = 0.25
"""What is left of all else that speaks for a driver which an answer states that it did not go by."""
CONFIRMED: Final = 0.25
"""What is left of a rollout that only confirms what was argued before any was named."""
MOST_COUNTED: Final = 4.5
"""All that is not stated outright speaks for a driver with no more than this."""
GIVEN_UP: Final = 6.0
"""Weight of a sentence that goes back to earlier trials; nothing else counts then."""

_Reliance = dict[DriverName, list[tuple[float, Passage]]]
_PRECEDENCE: Final[tuple[DriverName, ...]] = ("shared", "worst", "median", "best", "history", "none", "structure")
"""Which of drivers with equal weight."""


def driver(text: str, shown: Shown, changed: Sequence[int] | None) -> Driver:
    """Judge what the main change is chiefly justified by.

    Args:
        text: a critic's answer.
        shown: what the critic was shown.
        changed: indices of the parameters that changed; None where they are not known.
    """
    found = _reliance(text, shown, changed)
    if not found:
        return Driver("none")
    chosen = max(_PRECEDENCE, key=lambda name: sum(weight for weight, _ in found.get(name, ())))
    _, sentence = max(found[chosen], key=lambda each: each[0])
    return Driver(chosen, text[sentence.start : sentence.end].strip())


def weights(text: str, shown: Shown, changed: Sequence[int] | None) -> dict[DriverName, float]:
    """How much an answer speaks for each driver, by the arguments of `driver`; empty where it gives no reason."""
    found = _reliance(text, shown, changed)
    return {name: sum(weight for weight, _ in each) for name, each in found.items()}


def _reliance(text: str, shown: Shown, changed: Sequence[int] | None) -> _Reliance:
    """The sentences that speak for each driver, and with what weight."""
    nothing_changed = changed is not None and not changed
    sentences = [] if nothing_changed else passages(text, shown, frozenset(changed or ()))
    trials = [False, *(sentence.trials and sentence.has(HISTORY) for sentence in sentences)]
    back = next(
        (
            each
            for each, before, here in zip(sentences, trials, trials[1:], strict=False)
            if goes_back(each.words, trials=before or here)
        ),
        None,
    )
    if back:
        return {"history": [(GIVEN_UP, back)]}
    confirming = _confirming(sentences)
    denied = _denied(sentences)
    counted: _Reliance = {}
    for name, weight, sentence in weighed(sentences, shown, confirming) if sentences else ():
        only_confirms = sentence.start in confirming or (confirming and sentence.named == () and name == "shared")
        kept = CONFIRMED if name in ROLLOUTS and only_confirms else 1.0
        counted.setdefault(name, []).append((weight * kept * (DENIED if name in denied else 1.0), sentence))
    found: _Reliance = {}
    for name, each in counted.items():
        share = min(1.0, MOST_COUNTED / sum(weight for weight, _ in each))
        found[name] = [(weight * share, sentence) for weight, sentence in each]
    for name, weight, sentence in _stated(sentences, confirming):
        found.setdefault(name, []).append((weight, sentence))
    return found


def _stated(sentences: Sequence[Passage], confirming: Collection[int]) -> Iterator[Weighed]:
    """What the sentences state outright."""
    for sentence in sentences:
        for each in sentence.statements:
            if each.driver and not each.denied:
                weight = STATED if each.strong and not SECONDARY.match(sentence.plain) else HINTED
                kept = CONFIRMED if each.driver in ROLLOUTS and sentence.start in confirming else 1.0
                yield each.driver, weight * kept, sentence
        if sentence.nominal:
            yield "none", STATED, sentence


def _confirming(sentences: Sequence[Passage]) -> set[int]:
    """Where sentences begin that only confirm what was argued before any rollout, to the end of their paragraph."""
    paragraph = None
    found = set()
    for sentence in sentences:
        if paragraph is None:
            if sentence.has(CONFIRMS):
                paragraph = sentence.paragraph
            elif sentence.named or any(GROUNDS[kind].driver == "shared" for kind in sentence.kinds):
                break
        if paragraph is not None and sentence.paragraph == paragraph:
            found.add(sentence.start)
    return found if sentences and sentences[0].start not in found else set()


def _denied(sentences: Sequence[Passage]) -> set[DriverName]:
    """The drivers that the answer states it did not go by."""
    stated = {each.driver for sentence in sentences for each in sentence.statements if not each.denied}
    found: set[DriverName] = set()
    for sentence in sentences:
        if any(not each.denied for each in sentence.statements):
            for each in sentence.statements:
                if each.denied:
                    found |= {each.driver} if each.driver else ROLLOUTS
    return found - stated

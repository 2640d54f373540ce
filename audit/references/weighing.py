"""How much the sentences of an answer speak for each driver, apart from what they state outright.

- `shared`: several rollouts have something in common, or the worst is set beside another one;
- `worst`: the others merely had luck;
- `structure`: nothing failed, or that was chance; or the argument begins or is made without any rollout;
- `worst`, `median` (or representative), `best`: that rollout is named, which counts double about the change;
- `history`: earlier trials are named in a sentence about the change, or show a trend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from audit.references.grounds import GROUNDS
from audit.references.passages import Passage, Role
from audit.references.phrases import (
    CONTRAST,
    EXEMPLARY,
    FAILING,
    FAULTY,
    HISTORY,
    IMPERFECTION,
    KNOWN,
    ONE_AND_THE_SAME,
    POLICY,
    REASONED,
    REASONING,
    RECORDS,
    SAME_REASON,
    TREND,
    TYPICAL,
    USUAL,
)
from audit.references.shown import Shown
from audit.vocabulary.drivers import DriverName

NAMING: Final = 1.5
"""Weight of the rollouts named, taken together."""
COMPARISON: Final = 1.0
"""Weight of a sentence that names the worst rollout and another one."""
USUAL_FAILURE: Final = 1.5
"""Weight of the first sentence that argues that the failure of worst and median, one rollout, is usual."""
TYPICAL_RUN: Final = 1.2
"""Weight of the first sentence that calls the median rollout the typical one."""
EXAMPLE: Final = 1.2
"""Weight of the first sentence that takes the best rollout as an example to follow."""
MOST_COMPARISONS: Final = 2
OPENING: Final = 2.0
"""Weight of the first sentence that names a fault, a rollout or trials: diagnosis goes before confirmation."""
OPENINGS: Final = 3
"""It is among this many."""
TRENDS: Final = 0.5
"""Weight of a sentence on what earlier trials show; at most three of them count."""
FAILURE: Final = 0.4
"""Weight of the first sentence on how the worst rollout failed."""
ARGUMENT: Final = 0.2
"""Weight of a sentence that argues without any rollout; at most `MOST_ARGUMENTS` of them count."""
MOST_ARGUMENTS: Final = 3
FLAW: Final = 4.0
"""Weight of a flaw seen in the one rollout that was shown, which did not fail."""
EARLIER_TRIALS: Final = 0.6
"""Weight of a sentence about the change that names earlier trials."""
NO_FAULT_SHOWN: Final = 1.0
"""Weight of `structure` where the rollouts shown are equally good, the worst is not among them, and no flaw is seen."""
OTHER_REASON: Final = 0.5
"""Weight of `structure` where nothing speaks for it."""


Weighed = tuple[DriverName, float, Passage]


def weighed(sentences: Sequence[Passage], shown: Shown, confirming: Collection[int]) -> Iterator[Weighed]:
    """What the sentences speak for, and with what weight."""
    about = [sentence for sentence in sentences if sentence.about_change]
    reasoned = any(each.has(REASONED, FAULTY, FAILING) for each in sentences)
    yield "structure" if reasoned else "none", OTHER_REASON, (about or sentences)[0]
    yield from _by_naming(sentences, shown)
    yield from _by_grounds(sentences, shown)
    yield from _by_opening(sentences, confirming)
    comparing = [
        each
        for each in sentences
        if each.compares and not ONE_AND_THE_SAME.search(each.plain) and not each.has(CONTRAST)
    ]
    yield from (("shared", COMPARISON, each) for each in comparing[:MOST_COMPARISONS])
    arguments = [each for each in about if not each.named and each.has(REASONING)]
    yield from (("structure", ARGUMENT, each) for each in arguments[:MOST_ARGUMENTS])
    failed = shown.without_luck
    failing = next((each for each in sentences if each.named == (failed,) and each.has(FAILING)), None)
    if failed and failing:
        yield failed, FAILURE, failing
    usual = shown.without_luck == "shared" and _usual(sentences)
    if usual:
        yield "shared", USUAL_FAILURE, usual
    earlier = next((each for each in about if each.trials and each.has(HISTORY)), None)
    if earlier:
        yield "history", EARLIER_TRIALS, earlier
    trends = [
        each
        for each in sentences
        if (each.trials or not each.words.stems.isdisjoint({"mean", "scor"})) and each.has(TREND)
    ]
    yield from (("history", TRENDS, each) for each in trends[:3])
    typical = [each for each in sentences if set(each.named) == {"median"} and each.has(TYPICAL)]
    yield from (("median", TYPICAL_RUN, each) for each in typical[:1])
    copied = [each for each in sentences if set(each.named) == {"best"} and each.has(EXEMPLARY)]
    yield from (("best", EXAMPLE, each) for each in copied[:1])


def _by_opening(sentences: Sequence[Passage], confirming: Collection[int]) -> Iterator[Weighed]:
    """What the argument begins with."""
    if confirming:
        argued = [sentence for sentence in sentences if sentence.start < min(confirming)]
        trials = next((sentence for sentence in argued if sentence.has(RECORDS)), None)
        yield ("history", OPENING, trials) if trials else ("structure", OPENING, argued[0])
        return
    for sentence in sentences[:OPENINGS]:
        shared = any(GROUNDS[kind].driver == "shared" for kind in sentence.kinds)
        if shared:
            return
        if sentence.named:
            return
        if sentence.has(TREND, RECORDS):
            yield "history", OPENING, sentence
            return
        if sentence.has(FAULTY, REASONING, KNOWN) and sentence.has(POLICY):
            yield "structure", OPENING, sentence
            return


def _by_grounds(sentences: Sequence[Passage], shown: Shown) -> Iterator[Weighed]:
    """The grounds that sentences give, each kind once a sentence."""
    nothing_failed = False
    escaped = _without_luck(sentences, shown)
    for sentence in sentences:
        kinds = sentence.kinds
        spoils = GROUNDS["luck"].unless
        lucky = "luck" in kinds and not (spoils and spoils.search(sentence.plain))
        for kind in kinds:
            ground = GROUNDS[kind]
            # Others that had luck and show the fault all the same share it.
            name = ground.driver or (None if "all" in kinds else escaped)
            if name is None or (ground.unless and ground.unless.search(sentence.plain)):
                continue
            # A fault that others escaped by luck is systematic, and still seen in one rollout only.
            if kind == "same" and not sentence.named and SAME_REASON.search(sentence.plain):
                continue
            if (kind in {"systematic", "same"} and lucky) or (kind == "set aside" and not shown.others_agree):
                continue
            nothing_failed = nothing_failed or kind == "nothing failed"
            yield name, ground.weight, sentence
    if (nothing_failed and shown.single) or shown.without_luck is None:
        flaw = next((sentence for sentence in sentences if sentence.has(IMPERFECTION)), None)
        if flaw is None and shown.without_luck is None:
            yield "structure", NO_FAULT_SHOWN, sentences[0]
        elif flaw and nothing_failed and shown.single:
            yield "shared", FLAW, flaw


def _without_luck(sentences: Sequence[Passage], shown: Shown) -> DriverName | None:
    """What fails where others have luck; of a rollout under two labels, the first name unless its failure is usual."""
    failed = shown.without_luck
    if failed != "shared":
        return failed
    if shown.labelled("worst") == shown.labelled("best"):
        return None
    if _usual(sentences):
        return failed
    named = (role for sentence in sentences for role in sentence.named if role in {"worst", "median"})
    return next(named, "worst")


def _usual(sentences: Sequence[Passage]) -> Passage | None:
    """The first sentence that argues that a failure is usual, or that rollouts share it without luck."""
    for sentence in sentences:
        kinds = set(sentence.kinds)
        if sentence.has(USUAL) or (kinds & {"all", "same", "systematic"} and "luck" not in kinds):
            return sentence
    return None


def _by_naming(sentences: Sequence[Passage], shown: Shown) -> Iterator[Weighed]:
    """The rollouts that are named, those of sentences about the change or just before one counting double.

    Of a rollout under two labels the first name that is used counts.
    """
    weights: dict[DriverName, float] = {}
    first: dict[DriverName, Passage] = {}
    name_of: dict[object, Role] = {}
    for number, sentence in enumerate(sentences):
        following = sentences[number + 1 : number + 2]
        weight = 2 if sentence.about_change or any(after.about_change for after in following) else 1
        for name in dict.fromkeys(name_of.setdefault(shown.labelled(role), role) for role in sentence.named):
            weights[name] = weights.get(name, 0.0) + weight / len(sentence.named)
            first.setdefault(name, sentence)
    for role, sentence in first.items():
        yield role, NAMING * weights[role] / sum(weights.values()), sentence

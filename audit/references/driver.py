"""What a revision is chiefly justified by, read off its answer by plain rules.

A baseline to compare coders and judges with: it knows the words of a justification and not its sense. `none` where
nothing was changed or no reason is given; `history` where a sentence goes back to earlier trials; otherwise the
driver for which the sentences speak most:

- `shared`: they state that several rollouts have something in common, or set the worst beside another one;
- `worst`: they state that the others merely had luck;
- `structure`: they state that nothing failed, or that it was chance, or argue without any rollout;
- `worst`, `median` (or representative), `best`: they name that rollout, which counts double about the change;
- `history`: a sentence about the change names earlier trials.

Sentences that only state what was kept are ignored, and so are mentions that are negated or discounted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from audit.references.drafts import compiled
from audit.references.folding import fold
from audit.references.grounds import FAILING, GROUNDS, HISTORY, IMPERFECTION, REASONING, goes_back, grounds_in
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


NAMING: Final = 1.5
"""Weight of the rollouts named, taken together."""
COMPARISON: Final = 1.0
"""Weight of a sentence that names the worst rollout and another one."""
ONE_ROLLOUT: Final = 1.5
"""Weight of the first sentence that names worst and median as one rollout: what happens in it is usual."""
FAILURE: Final = 0.4
"""Weight of the first sentence on how the worst rollout failed."""
ARGUMENT: Final = 0.2
"""Weight of a sentence that argues without any rollout; at most `MOST_ARGUMENTS` of them count."""
MOST_ARGUMENTS: Final = 3
FLAW: Final = 4.0
"""Weight of a flaw seen in the one rollout that was shown, which did not fail."""
GIVEN_UP: Final = 6.0
"""Weight of a sentence that goes back to earlier trials; nothing else counts then."""
EARLIER_TRIALS: Final = 0.6
"""Weight of a sentence about the change that names earlier trials."""
NO_FAULT_SHOWN: Final = 1.0
"""Weight of `structure` where the rollouts shown are equally good, the worst is not among them, and no flaw is seen."""
OTHER_REASON: Final = 0.5
"""Weight of `structure` where nothing speaks for it."""

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
_LABEL: Final = compiled(r"worst|median|best|representative")
_LETTERS: Final = re.compile("[a-z]{3}")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with the features that the rules need; `compares` if it names the worst rollout and another one."""

    start: int
    end: int
    plain: str
    about_change: bool
    named: frozenset[str]
    compares: bool


_Weighed = tuple[DriverName, float, _Sentence]


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


_Reliance = dict[DriverName, list[tuple[float, _Sentence]]]


def _reliance(text: str, shown: Shown, changed: Sequence[int] | None) -> _Reliance:
    """The sentences that speak for each driver, and with what weight."""
    nothing_changed = changed is not None and not changed
    sentences = [] if nothing_changed else _sentences(text, shown, frozenset(changed or ()))
    back = next((sentence for sentence in sentences if goes_back(sentence.plain)), None)
    if back:
        return {"history": [(GIVEN_UP, back)]}
    found: _Reliance = {}
    for name, weight, sentence in _weighed(sentences, shown) if sentences else ():
        found.setdefault(name, []).append((weight, sentence))
    return found


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
        if _PARAMETER_LINE.match(words) or not _LETTERS.search(words):
            continue
        changes = _CHANGE.search(words) is not None
        if _KEEP.search(words) and not changes:
            continue
        parameters = {int(index) for match in _PARAMETER.findall(words) for index in match if index}
        about = changes or not changed.isdisjoint(parameters)
        meant = mentions.get(number, ())
        compares = any(each.worst for each in meant) and len({each.labels for each in meant}) > 1
        found.append(_Sentence(start, end, words, about, _named(meant, shown), compares))
    return found


def _named(mentions: Iterable[Mention], shown: Shown) -> frozenset[str]:
    """The roles that a sentence speaks of: as named; where it uses no name, the first under which it was shown."""
    roles: set[str] = set()
    labels = {rollout.label for rollout in shown.rollouts}
    for mention in mentions:
        own = [label for label in mention.labels if label in labels] or mention.labels
        heading = shown.label_of(mention.text[-1]) if shown.has_headings and mention.kind == "label" else None
        roles.update([heading] if heading else _LABEL.findall(mention.text.lower()) or own[:1])
    # Of single rollouts that represent all, the one nearest to the mean is as typical as the median.
    return frozenset("median" if role == "representative" else role for role in roles)


def _weighed(sentences: Sequence[_Sentence], shown: Shown) -> Iterator[_Weighed]:
    """What the sentences speak for, and with what weight."""
    about = [sentence for sentence in sentences if sentence.about_change]
    yield "structure", OTHER_REASON, (about or sentences)[0]
    yield from _by_naming(sentences)
    yield from _by_grounds(sentences, shown)
    yield from (("shared", COMPARISON, each) for each in sentences if each.compares)
    as_one = [each for each in sentences if not each.compares and {"worst", "median"} <= each.named]
    yield from (("shared", ONE_ROLLOUT, each) for each in as_one[:1])
    arguments = [each for each in about if not each.named and REASONING.search(each.plain)]
    yield from (("structure", ARGUMENT, each) for each in arguments[:MOST_ARGUMENTS])
    failed = shown.without_luck
    failing = next((each for each in sentences if each.named == {failed} and FAILING.search(each.plain)), None)
    if failed and failing:
        yield failed, FAILURE, failing
    earlier = next((each for each in about if HISTORY.search(each.plain)), None)
    if earlier:
        yield "history", EARLIER_TRIALS, earlier


def _by_grounds(sentences: Sequence[_Sentence], shown: Shown) -> Iterator[_Weighed]:
    """The grounds that sentences give, each kind once a sentence."""
    nothing_failed = False
    for sentence in sentences:
        kinds = dict.fromkeys(grounds_in(sentence.plain))
        for kind in kinds:
            ground = GROUNDS[kind]
            # Others that had luck and show the fault all the same share it.
            name = ground.driver or (None if "same" in kinds or "all" in kinds else shown.without_luck)
            if name is None or (ground.unless and ground.unless.search(sentence.plain)):
                continue
            # A fault that others escaped by luck is systematic, and still seen in one rollout only.
            if (kind == "systematic" and "luck" in kinds) or (kind == "set aside" and not shown.others_agree):
                continue
            nothing_failed = nothing_failed or kind == "nothing failed"
            yield name, ground.weight, sentence
    if (nothing_failed and shown.single) or shown.without_luck is None:
        flaw = next((sentence for sentence in sentences if IMPERFECTION.search(sentence.plain)), None)
        if flaw is None and shown.without_luck is None:
            yield "structure", NO_FAULT_SHOWN, sentences[0]
        elif flaw and nothing_failed and shown.single:
            yield "shared", FLAW, flaw


def _by_naming(sentences: Sequence[_Sentence]) -> Iterator[_Weighed]:
    """The rollouts that are named, those of sentences about the change or just before one counting double."""
    weights: Counter[DriverName] = Counter()
    first: dict[DriverName, _Sentence] = {}
    for number, sentence in enumerate(sentences):
        following = sentences[number + 1 : number + 2]
        weight = 2 if sentence.about_change or any(after.about_change for after in following) else 1
        for name in _ROLES:
            if name in sentence.named:
                weights[name] += weight
                first.setdefault(name, sentence)
    for name, sentence in first.items():
        yield name, NAMING * weights[name] / weights.total(), sentence


_ROLES: Final[tuple[DriverName, ...]] = ("worst", "median", "best")
_PRECEDENCE: Final[tuple[DriverName, ...]] = ("shared", *_ROLES, "history", "structure")
"""Which of drivers with equal weight."""

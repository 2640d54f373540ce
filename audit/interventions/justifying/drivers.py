"""What a revision is chiefly justified by, read off its answer by plain rules: naming with a reason.

It knows the words of a justification and not its sense. Rules are tried in this order, and the first that holds
decides:

- nothing was changed, or it was changed for form's sake: `none`;
- a sentence goes back to earlier trials: `history`;
- a sentence states outright what the change goes by (`audit.interventions.justifying.statements`): that;
- the argument begins with earlier trials: `history`;
- one rollout was shown under several names, and is named: `shared`;
- the others merely had luck: the rollout that failed, where it is what the answer speaks of;
- several rollouts are said to do the same: `shared`;
- the argument begins with the policy's formula or with the task: `structure`;
- rollouts are named: the one that most is said of, or `shared`.

Sentences that only state what was kept are ignored, and so are mentions that are negated. Without any of these, an
answer with a reason goes by `structure`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from audit.interventions.justifying.passages import Passage, passages
from audit.references.shown import Shown
from audit.vocabulary.drivers import DriverName

MOST_SAID: Final = 0.6
"""The share of what is said of rollouts from which one alone is what a change is justified by."""
MUCH_SAID: Final = 0.4
"""The same where the others are said to have had luck."""
OPENINGS: Final = 3
"""The argument begins in one of so many sentences."""


def driver(text: str, shown: Shown, changed: Sequence[int] | None) -> DriverName:
    """Judge what the main change is chiefly justified by.

    Args:
        text: a critic's answer.
        shown: what the critic was shown.
        changed: indices of the parameters that changed; None where they are not known.
    """
    nothing_changed = changed is not None and not changed
    sentences = [] if nothing_changed else list(passages(text, shown, frozenset(changed or ())))
    return next(_judged(sentences, shown)) if sentences else "none"


def _judged(sentences: Sequence[Passage], shown: Shown) -> Iterator[DriverName]:
    """The driver by every rule that holds, in order."""
    cues = {kind for sentence in sentences for kind in sentence.cues}
    if "nominal" in cues:
        yield "none"
    if "back" in cues:
        yield "history"
    yield from (name for name, _ in Counter(n for each in sentences for n in each.stated).most_common(1))
    yield from _by_naming(sentences, shown, has_luck="luck" in cues)
    yield "structure" if any(each.reasoned or each.changes for each in sentences) else "none"


def _by_naming(sentences: Sequence[Passage], shown: Shown, *, has_luck: bool) -> Iterator[DriverName]:
    """The same, of rules on what the argument begins with and on the rollouts that it names."""
    opening = next((each for each in sentences[:OPENINGS] if each.named or each.cues), sentences[0])
    if "trials" in opening.cues and not (opening.named or "shared" in opening.cues):
        yield "history"
    said = _said(sentences, shown)
    named = [each for each in sentences if each.named]
    if named and shown.single and len(shown.rollouts) > 1:
        yield "shared"
    failed = _without_luck(shown)
    is_meant = failed in {*opening.named, "shared"} or said.get(failed, 0.0) >= MUCH_SAID
    several = [each for each in sentences for kind in each.cues if kind in {"shared", "compared"}]
    if has_luck and failed and is_meant and len(several) < 2:
        yield failed
    if several:
        yield "shared"
    if "formula" in opening.cues:
        yield "structure"
    for name, share in said.items():
        if name and (len(said) == 1 or (share >= MOST_SAID and name != "best")):
            yield name
    if named:
        yield "shared"


def _without_luck(shown: Shown) -> DriverName | None:
    """What fails where others have luck: the worst, or what all share where the median is the same rollout."""
    returns = {each.label: each.return_ for each in shown.rollouts}
    if not returns or "worst" in returns:
        return "shared" if shown.labelled("worst") == shown.labelled("median") else "worst"
    one, other = returns.get("median"), returns.get("best")
    same = one == other if one is None or other is None else abs(one - other) <= shown.rounding
    return None if same else "median"


def _said(sentences: Sequence[Passage], shown: Shown) -> dict[DriverName | None, float]:
    """How much is said of each rollout, as a share; a sentence about the change, or just before one, counts double.

    Of a rollout under two labels the first name that is used counts.
    """
    said: dict[DriverName | None, float] = {}
    name_of: dict[object, DriverName] = {}
    for sentence, following in zip(sentences, [*sentences[1:], None], strict=True):
        weight = 2 if sentence.changes or (following and following.changes) else 1
        for name in dict.fromkeys(name_of.setdefault(shown.labelled(role), role) for role in sentence.named):
            said[name] = said.get(name, 0.0) + weight / len(sentence.named)
    return {name: weight / sum(said.values()) for name, weight in said.items()}

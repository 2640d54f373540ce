"""Which rollouts an answer names as the reason of its change: those in sentences that give a reason.

Less is asked of a text here than in `drivers`: not which rollout the change is *chiefly* justified by, but which
ones are named where a reason is given. An answer can name none, or all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from audit.interventions.justifying.cues import Cue, stems
from audit.interventions.justifying.passages import Role, passages
from audit.interventions.justifying.statements import RECORD
from audit.references.folding import fold
from audit.references.mention import Mention
from audit.references.resolving import resolve
from audit.references.sentences import Sentences
from audit.references.shown import Shown

_WHY: Final = Cue(
    "beca sinc so ther thus henc due caus reas why faul resp orde avoi prev stop corr fix coun comp reme cure ensu make"
    " basi base driv led prom moti mean need shou must",
    r"because|since|so(?! (?:far|much|many|long|well|often|little|few)(?![a-z]))|therefore|thus|hence|due to|caus\w+"
    r"|reasons?|why|faults?|in (?:response|order) to|to (?:avoid|prevent|stop|correct|fix|counter\w*|compensate|remedy"
    r"|cure|ensure|make sure)|(?:based|on the basis of|on the strength of)|(?:driven|led|prompted|motivated) by"
    r"|means? that|needs?|should|must",
)
"""Words that state a cause or a purpose."""
_TRIALS: Final = re.compile(rf"(?<![a-z])(?:{RECORD})(?![a-z])")
_ROLLOUTS: Final = re.compile(
    r"roll-?out|(?<!earlier )(?<!previous )(?<!past )(?<!prior )(?<![a-z])(?:runs?|episodes?|traces?|trajector\w+"
    r"|simulations?|games?|examples?)(?![a-z])"
)
_THAT_ONE: Final = re.compile(r"(?<![a-z])(?:ones?|that)(?![a-z])")


def named(text: str, shown: Shown, changed: Sequence[int] | None) -> frozenset[Role]:
    """The rollouts that an answer names in a sentence that gives a reason for its change.

    A sentence gives a reason if it states a cause or a purpose, or outright what the change goes by, or if the change
    itself is stated in it or in the next one. Mentions that are negated do not count, nor does what is said of
    parameters that were kept, or of earlier trials alone.

    Args:
        text: a critic's answer.
        shown: what the critic was shown.
        changed: indices of the parameters that changed; None where they are not known.

    Returns:
        Roles of rollouts, as the text calls them; `median` for one that represents all. None where nothing was
        changed.
    """
    if changed is not None and not changed:
        return frozenset()
    plain = fold(text)
    sentences = list(passages(text, shown, frozenset(changed or ())))
    found: set[Role] = set()
    bounds = Sentences(text)
    apart = {bounds.start(number) for number in _of_trials(text, resolve(text, shown), bounds)}
    changing = {sentence.start for sentence in sentences if sentence.changes}
    for sentence in sentences:
        if sentence.start in apart:
            continue
        words = plain[sentence.start : sentence.end]
        follows = sentence.end in changing
        if sentence.changes or sentence.stated or follows or _WHY.found(words, stems(words)):
            found.update(sentence.named)
    return frozenset(found)


def of_rollouts(text: str, shown: Shown) -> list[Mention]:
    """The mentions of rollouts, without those in sentences that speak of earlier trials and of no rollout.

    "I moved towards the earlier trial, the one with the highest return" is no word on the best rollout, which has the
    highest return of those shown. A sentence with "the one" goes on with what the sentence before it spoke of.

    Args:
        text: a critic's answer.
        shown: what the critic was shown.
    """
    mentions, bounds = resolve(text, shown), Sentences(text)
    apart = _of_trials(text, mentions, bounds)
    return [mention for mention in mentions if bounds.number(mention.start) not in apart]


def _of_trials(text: str, mentions: Sequence[Mention], bounds: Sentences) -> set[int]:
    """The sentences with mentions that speak of trials and of no rollout."""
    plain = fold(text)
    by_name = {bounds.number(mention.start) for mention in mentions if mention.kind == "label"}
    found = set()
    for number in {bounds.number(mention.start) for mention in mentions} - by_name:
        sentence = plain[bounds.start(number) : bounds.end(number)]
        if not _TRIALS.search(sentence) and number and _THAT_ONE.search(sentence):
            sentence = plain[bounds.start(number - 1) : bounds.end(number)]
        if _TRIALS.search(sentence) and not _ROLLOUTS.search(sentence):
            found.add(number)
    return found

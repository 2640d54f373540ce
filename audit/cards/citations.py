"""What one answer cites of what its prompt shows, where there are no records: for transcripts from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audit.references.driver_rules import driver
from audit.references.mention import Mention
from audit.references.resolving import resolve
from audit.references.sentences import Sentences
from audit.references.shown import Shown
from audit.sources.prompt_evidence import PromptEvidence
from audit.vocabulary.evidence import ShownRollout


def cited(evidence: PromptEvidence, answer: str) -> dict[str, Any]:
    """What an answer cites, as the detector `resolved` has it.

    Args:
        evidence: of the prompt.
        answer: to it; the text that it proposes gives no reasons.

    Returns:
        The `value`; the places in the prompt of what is `shown`, from 1, that are `cited`, and those of the `worst` and
        the `best`, where scores tell; the `driver` of the revision; the `sentences` that cite.
    """
    shown = Shown(evidence.shown)
    reasons = evidence.reasons(answer)
    mentions = [each for each in resolve(reasons, shown) if each.labels or each.rollouts]
    split = Sentences(reasons)
    numbers = dict.fromkeys(split.number(each.start) for each in mentions)
    roles = {
        name: [place for place, target in enumerate(shown.targets, start=1) if name in target.labels]
        for name in ("worst", "best")
    }
    return {
        "value": _value(mentions, known=bool(roles["worst"])),
        "shown": len(evidence.shown),
        "cited": [
            place
            for place, each in enumerate(evidence.shown, start=1)
            if any(_cites(mention, each) for mention in mentions)
        ],
        **roles,
        "driver": driver(reasons, shown, None).name,
        "sentences": [reasons[split.start(number) : split.end(number)].strip() for number in numbers],
    }


def _value(mentions: Sequence[Mention], *, known: bool) -> str:
    """The value of what was shown, where it is known which is the worst or not."""
    of_worst = [each.worst for each in mentions]
    if not mentions:
        return "none"
    if any(of_worst):
        return "worst" if all(of_worst) else "worst and others"
    return "others" if known else "some"


def _cites(mention: Mention, shown: ShownRollout) -> bool:
    """Whether a mention points at what is shown: by its index, else by its label, of examples their heading."""
    if mention.rollouts and shown.rollout is not None:
        return shown.rollout in mention.rollouts
    return (str(shown.name).lower() if shown.label == "item" else shown.label) in mention.labels

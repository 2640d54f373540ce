"""What is written of an iteration whose candidates are texts: prompts or programs, scored on examples."""

from __future__ import annotations

import msgspec

from collector.records.fields import Count, EvidenceKind, ItemLabel, Proposer, RevisionStatus, Selected
from collector.records.iterations import Line


class TextCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A text in named components, and how it scored.

    Attributes:
        text: component → its text; None where it is not known.
        source: `parent` for a candidate of an earlier iteration, `critic` for one made from evidence.
        answer: the model's answer that the text was taken from, in full.
        thinking: its thinking, where it has any.
        returns: the score of each example; None where only their mean is known.
        example_ids: which examples these are, in the same order.
        mean_return: the mean of the scores.
    """

    text: dict[str, str] | None
    source: Proposer
    answer: str | None
    thinking: str | msgspec.UnsetType | None = msgspec.UNSET
    returns: list[float] | None
    example_ids: list[str] | None
    mean_return: float


class ShownItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something with a score that a critic was shown.

    Attributes:
        label: `worst` or `best` where it was shown as such; else `item`.
        rollout: its index in the initial candidate's `returns`; None where it is of another candidate.
        return_: its score.
        name: the heading above it in the prompt.
        text: what was shown of it.
    """

    label: ItemLabel
    rollout: Count | None
    return_: float | None = msgspec.field(name="return")
    name: str | None
    text: str | msgspec.UnsetType | None = msgspec.UNSET


class ShownItems(msgspec.Struct, frozen=True, kw_only=True):
    """What a critic was shown, in the order of display."""

    kind: EvidenceKind
    shown: list[ShownItem]


class TextEpisode(Line, frozen=True, kw_only=True):
    """One finished iteration: a line of `episodes.jsonl`. `error` is why its reflection failed, if it did."""

    initial: TextCandidate
    revised: TextCandidate | None
    revision_status: RevisionStatus
    selected: Selected
    evidence: ShownItems | None
    seconds: float | None
    error: str | msgspec.UnsetType | None = msgspec.UNSET

"""What is written of a candidate that joined a pool: where it came from, and how it did on validation."""

from __future__ import annotations

from typing import Literal

import msgspec

from collector.records.fields import Count

Role = Literal["seed", "revision", "merge"]


class PoolMember(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate of a pool of texts: a line of `lineage.jsonl`.

    Attributes:
        candidate: its name in the tool's log.
        parents: names of those that it was made from; two of a merge, none of a seed.
        role: whether a run began with it, a model revised its parent, or two parents were merged without a model.
        iteration: the iteration of the records that made it; None for seeds and merges.
        text: component → its text; None where it is not known.
        validation: its mean score on the validation set; None where it has none.
        validation_scores: example of the validation set → its score, where they are known.
    """

    candidate: str
    parents: list[str]
    role: Role
    iteration: Count | None = None
    text: dict[str, str] | None = None
    validation: float | None = None
    validation_scores: dict[str, float] | None = None

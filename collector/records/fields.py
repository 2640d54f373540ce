"""The values that fields of records can have."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

SCHEMA: Final = 1
"""The schema of records whose candidates are parameter vectors, which `collect` writes."""
TEXT_SCHEMA: Final = 2
"""The schema of records whose candidates are texts; the newest that is read."""

Source = Literal["search", "critic"]
Proposer = Literal[Source, "baseline", "parent"]
"""`parent` is a candidate of an earlier iteration, which a method that keeps several has chosen to revise."""
Selected = Literal["initial", "revised"]
RevisionStatus = Literal["ok", "unreadable", "none"]
EvidenceKind = Literal["median", "three", "representative", "batch", "pair", "programs"]
"""One or three of a candidate's rollouts, chosen by return; a batch of its scored examples, or a worse and a better
one; or other candidates."""
Ending = Literal["terminated", "truncated"]
RolloutLabel = Literal["worst", "median", "best", "representative"]
TrueDriver = Literal[RolloutLabel, "history", "none"]
ItemLabel = Literal[RolloutLabel, "item"]
"""`item` is what is shown without regard to its score."""
FirstCall = Literal["search", "informed_search", "solo_critic"]
SecondCall = Literal["repeat", "search", "critic"]
History = Literal["returns", "excerpts"]
Commits = Literal["first", "better", "revised"]
CandidateKind = Literal["params", "text"]
SelectionRule = Literal["better", "strict", "always", "pool"]
"""The revised candidate is kept where its mean is not lower, where it is higher, always; or every candidate is kept."""

LARGEST: Final = 2**63 - 1
LARGEST_SEED: Final = 2**64 - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
"""A number of things, or an index from 0."""
Number = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
"""A number that counts from 1."""
Seed = Annotated[int, msgspec.Meta(ge=0)]
"""At most `LARGEST_SEED`, which `check_seeds` sees to."""


def check_seeds(seeds: list[int] | None) -> None:
    """Refuse seeds of more than 64 bits.

    Raises:
        ValueError: there is one.
    """
    if seeds and max(seeds) > LARGEST_SEED:
        raise ValueError("seeds holds a number of more than 64 bits")

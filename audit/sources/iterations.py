"""One finished iteration as any log may state it: what `collect` writes, and what other logs leave out.

Lines of `collect` are read as strictly as `collector.records.Episode` requires, those of recorders as `TextEpisode`,
and those of imported and translated logs as strictly as `Iteration`, where None is what the log does not state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from audit.vocabulary.evidence import ShownRollout
from audit.vocabulary.keys import RunKey
from collector.records import (
    Acceptance,
    Answers,
    Count,
    Ending,
    Episode,
    EvidenceKind,
    Number,
    Proposer,
    RevisionStatus,
    Seed,
    Selected,
    Statistics,
    TextEpisode,
    check_seeds,
)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter vector and its K rollouts, or a text and its scores on examples."""

    recorded_params: list[float] | None = msgspec.field(name="params", default=None)
    out_of_range: bool | None = None
    source: Proposer
    answer: str | None = None
    thinking: str | None = None
    recorded_returns: list[float] | None = msgspec.field(name="returns", default=None)
    recorded_lengths: list[Count] | None = msgspec.field(name="lengths", default=None)
    seeds: list[Seed] | None = None
    ended: list[Ending] | None = None
    text: dict[str, str] | msgspec.UnsetType | None = msgspec.UNSET
    example_ids: list[str] | msgspec.UnsetType | None = msgspec.UNSET
    mean_return: float

    def __post_init__(self) -> None:
        """Refuse a seed of more than 64 bits."""
        check_seeds(self.seeds)

    @property
    def params(self) -> list[float]:
        """The parameters, none where the log does not state them."""
        return self.recorded_params or []

    @property
    def returns(self) -> list[float]:
        """A return per rollout, none where the log states their mean only."""
        return self.recorded_returns or []

    @property
    def lengths(self) -> list[int]:
        """Steps per rollout, none where the log does not state them."""
        return self.recorded_lengths or []


class ShownEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a critic was shown."""

    kind: EvidenceKind
    shown: list[ShownRollout] = []
    statistics: Statistics | None = None


class Iteration(msgspec.Struct, frozen=True, kw_only=True):
    """One finished iteration."""

    condition: str
    env: str
    variant: str
    run: Number
    iteration: Count
    initial: Candidate
    revised: Candidate | None = None
    revision_status: RevisionStatus
    selected: Selected
    evidence: ShownEvidence | None = None
    seconds: float | None = None
    error: str | msgspec.UnsetType | None = msgspec.UNSET
    tau_c: float | msgspec.UnsetType | None = msgspec.UNSET
    restrained: bool | msgspec.UnsetType | None = msgspec.UNSET
    answers: Answers | msgspec.UnsetType | None = msgspec.UNSET
    acceptance: Acceptance | msgspec.UnsetType | None = msgspec.UNSET

    @property
    def identity(self) -> RunKey:
        """What identifies its run."""
        return RunKey(self.condition, self.env, self.variant, self.run)

    def candidates(self) -> Iterator[tuple[str, Candidate]]:
        """The candidates by name, in the order in which they were run."""
        yield "initial", self.initial
        if self.revised is not None:
            yield "revised", self.revised

    @property
    def kept(self) -> Candidate:
        """The candidate that entered the history."""
        return self.revised if self.selected == "revised" and self.revised is not None else self.initial


class Translated(Iteration, frozen=True, kw_only=True):
    """An iteration of another log, read in place; `origin` is the file or folder that it is from."""

    origin: str


class Capabilities(NamedTuple):
    """What logs of a source can state.

    Attributes:
        lines: the type of its lines; `Translated` where the source makes them, so that their numbers mean nothing to
            users.
        precision_of_mean: how far a mean return may be from the mean of its returns, relative to it beyond 1.
    """

    lines: type[Episode | TextEpisode | Iteration]
    precision_of_mean: float = 1e-9

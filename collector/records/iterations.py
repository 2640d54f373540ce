"""What is written of each iteration and each call of a run: one line of JSON each."""

from __future__ import annotations

import msgspec

from collector.records.fields import (
    Count,
    Ending,
    EvidenceKind,
    Number,
    Proposer,
    RevisionStatus,
    RolloutLabel,
    Seed,
    Selected,
    Source,
    TrueDriver,
    check_seeds,
)


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What opens each line of a run's records: the run, and the iteration from 0."""

    condition: str
    env: str
    variant: str
    run: Number
    iteration: Count


class Range(msgspec.Struct, frozen=True):
    """Smallest, mean and largest of K numbers."""

    mean: float
    min: float
    max: float


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Aggregate statistics over the K rollouts of one evaluation, as shown to a critic."""

    returns: Range
    lengths: Range
    successes: Count
    rollouts: Count


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout shown to a critic; `rollout` is its index among the K, `name` its heading if it is not the label."""

    label: RolloutLabel
    rollout: Count
    # `return` is a Python keyword, and the record's field name.
    return_: float = msgspec.field(name="return")
    length: Count
    name: str | msgspec.UnsetType = msgspec.UNSET


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a critic was shown of the initial candidate's rollouts, in the order of display."""

    kind: EvidenceKind
    shown: list[Shown]
    statistics: Statistics | None = None


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter vector, who proposed it and why, and how its K rollouts went. A baseline records no vector."""

    params: list[float]
    out_of_range: bool
    source: Proposer
    answer: str
    thinking: str | None
    returns: list[float]
    lengths: list[Count]
    seeds: list[Seed] | None
    ended: list[Ending]
    mean_return: float

    def __post_init__(self) -> None:
        """Refuse a seed of more than 64 bits."""
        check_seeds(self.seeds)


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """How it was decided whether the revised candidate is kept, where more than the two mean returns decides.

    Attributes:
        rule: the remedy.
        pairs: seeds on which both candidates ran again.
        accepted: whether it is kept.
        value: the p-value, of a sequential test the e-value, of a recheck the difference of means that decided.
        rollouts: further rollouts that this took.
    """

    rule: str
    pairs: Count
    accepted: bool
    value: float
    rollouts: Count


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """The answers of a critic that was asked several times, one of which is the revision.

    Attributes:
        rule: the remedy.
        asked: how often it was asked; attempts after an unreadable answer are not counted.
        readable: how many answers could be read.
        attempt: which call in `calls.jsonl` has the one taken; 0 where there is none.
        rollouts: rollouts of the answers not taken.
    """

    rule: str
    asked: Count
    readable: Count
    attempt: Count
    rollouts: Count


class Episode(Line, frozen=True, kw_only=True):
    """One finished iteration: a line of `episodes.jsonl`.

    Attributes:
        answers: how the revision was chosen among several answers, where it was.
        acceptance: how it was decided whether the revised candidate is kept, where the mean returns alone do not.
        tau_c: the threshold that the critic's prompt states, where a rule chooses it; None where it states none.
        restrained: whether the initial candidate's mean return is at or above it.
    """

    initial: Candidate
    revised: Candidate | None
    revision_status: RevisionStatus
    selected: Selected
    evidence: Evidence | None
    seconds: float
    tau_c: float | msgspec.UnsetType | None = msgspec.UNSET
    restrained: bool | msgspec.UnsetType | None = msgspec.UNSET
    answers: Answers | msgspec.UnsetType | None = msgspec.UNSET
    acceptance: Acceptance | msgspec.UnsetType | None = msgspec.UNSET

    @property
    def kept(self) -> Candidate:
        """The candidate that entered the history."""
        if self.selected == "revised" and self.revised is not None:
            return self.revised
        return self.initial


class Skipped(Line, frozen=True, kw_only=True):
    """An iteration that was spent with nothing proposed: a line of `skipped.jsonl`, where runs skip such iterations.

    Attributes:
        attempts: answers that could not be read.
        error: why the last of them could not.
    """

    attempts: Number
    error: str
    seconds: float


class Call(Line, frozen=True, kw_only=True):
    """One model call: a line of `calls.jsonl`. `error` states why the answer was discarded.

    Attributes:
        cut: why the answer ends early, where the backend or `collect` ended it.
        raw: the answer as the model wrote it, where `completion` was made of a JSON object.
        mean_logprob: mean log-probability of the answer's tokens (natural logarithm), where the backend gives it.
        logprobs: tokens and their log-probabilities, where they were asked for.
    """

    role: Source
    attempt: Number
    prompt: str
    completion: str
    thinking: str | None
    model: str
    prompt_tokens: Count | None
    completion_tokens: Count | None
    seconds: float
    error: str | None
    cut: str | msgspec.UnsetType = msgspec.UNSET
    raw: str | msgspec.UnsetType = msgspec.UNSET
    mean_logprob: float | msgspec.UnsetType = msgspec.UNSET
    logprobs: list[tuple[str, float]] | msgspec.UnsetType = msgspec.UNSET


class Truth(Line, frozen=True, kw_only=True):
    """What the simulated critic really did: a line of `truth.jsonl`. Never read by an audit, but for calibration."""

    attempt: Number
    personality: str
    anchor: RolloutLabel | None
    rollout: Count | None
    driver: TrueDriver
    mention: str | None
    mentioned: RolloutLabel | None
    discounts_worst: bool

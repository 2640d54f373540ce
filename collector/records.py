"""The raw records of a run: what is written, field by field.

One folder per run holds `run.json` (what the run is), `episodes.jsonl` (one line per finished iteration) and
`calls.jsonl` (one line per model call). `docs/records.md` is the reference for people; this module is the
reference for programs. Unknown fields are ignored on reading, so that newer writers stay readable; a higher
`schema` is refused.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

SCHEMA: Final = 1

Source = Literal["search", "critic"]
Proposer = Literal[Source, "baseline"]
Selected = Literal["initial", "revised"]
RevisionStatus = Literal["ok", "unreadable", "none"]
EvidenceKind = Literal["median", "three", "representative"]
Ending = Literal["terminated", "truncated"]
RolloutLabel = Literal["worst", "median", "best", "representative"]


class RecordError(ValueError):
    """A record that cannot be read; the message says which and why."""


class Range(msgspec.Struct, frozen=True):
    """Smallest, mean and largest of K numbers."""

    mean: float
    min: float
    max: float


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """Aggregate statistics over the K rollouts of one evaluation, as shown to a critic."""

    returns: Range
    lengths: Range
    successes: int
    rollouts: int


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One rollout that a critic was shown; `rollout` is its index among the K."""

    label: RolloutLabel
    rollout: int
    # `return` is a Python keyword, and the record's field name.
    return_: float = msgspec.field(name="return")
    length: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a critic was shown of the initial candidate's rollouts."""

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
    lengths: list[int]
    seeds: list[int] | None
    ended: list[Ending]
    mean_return: float


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """One finished iteration: a line of `episodes.jsonl`."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    initial: Candidate
    revised: Candidate | None
    revision_status: RevisionStatus
    selected: Selected
    evidence: Evidence | None
    seconds: float

    @property
    def kept(self) -> Candidate:
        """The candidate that entered the history."""
        if self.selected == "revised" and self.revised is not None:
            return self.revised
        return self.initial


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One model call: a line of `calls.jsonl`. `error` says why the answer was discarded."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    role: Source
    attempt: int
    prompt: str
    completion: str
    thinking: str | None
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    error: str | None


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What the simulated critic really did: a line of `truth.jsonl`. Never read by an audit, but for calibration."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    attempt: int
    personality: str
    anchor: RolloutLabel | None
    rollout: int | None
    driver: str
    mention: str | None
    mentioned: RolloutLabel | None
    discounts_worst: bool


class WarmupTrial(msgspec.Struct, frozen=True, kw_only=True):
    """A random parameter vector, rolled out once, that opens the history."""

    params: list[float]
    return_: float = msgspec.field(name="return")
    seed: int


class Thresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Thresholds of the edit patterns on one task (`docs/audit.md`)."""

    partial: float
    high: float
    near_zero: float
    meaningful: float
    surgical_max: int
    redesign_min: int
    multi_state_min: int
    floor: float = 0.0
    origin: str = "project"


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is: `run.json`, written once before the first iteration. Holds no secrets.

    Null, where the type allows it, is what the log of an imported run does not say; `collect` writes them all, but for
    thresholds of rules that a run does not have.
    """

    condition: str
    env: str
    variant: str
    run: int
    seed: int | None
    iterations: int | None
    rollouts: int | None
    tau_c: float | None
    optimum: float | None
    step_size: float | None
    warmup: list[WarmupTrial]
    backend: str
    model: str | None
    options: dict[str, Any]
    switches: dict[str, Any]
    thresholds: Thresholds | None
    prompts: dict[str, str]
    versions: dict[str, str]
    started_at: str | None
    schema: int = SCHEMA


_encoder = msgspec.json.Encoder()


def encode(record: msgspec.Struct) -> bytes:
    """One record as one line of JSON, newline included."""
    return _encoder.encode(record) + b"\n"


def decode_run(data: bytes) -> Run:
    """Read a `run.json`.

    Raises:
        RecordError: it is not JSON, misses a field, or was written by a newer version of the project.
    """
    try:
        schema = msgspec.json.decode(data, type=_Schema).schema
        if schema > SCHEMA:
            raise RecordError(f"schema {schema} is newer than this version reads ({SCHEMA}); update salience-audit")
        return msgspec.json.decode(data, type=Run)
    except RecursionError:
        raise RecordError("nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordError(str(error)) from None


class _Schema(msgspec.Struct):
    schema: int

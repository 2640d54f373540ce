"""The raw records of a run: what is written, field by field.

One folder per run holds `run.json` (what the run is), `episodes.jsonl` (one line per finished iteration),
`calls.jsonl` (one line per model call) and, where there are any, `skipped.jsonl` (one line per iteration that proposed
nothing). `docs/records.md` is the reference for people; this module is the
reference for programs. Unknown fields are ignored on reading, so that newer writers stay readable; a higher
`schema` is refused.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

SCHEMA: Final = 1

Source = Literal["search", "critic"]
Proposer = Literal[Source, "baseline"]
Selected = Literal["initial", "revised"]
RevisionStatus = Literal["ok", "unreadable", "none"]
EvidenceKind = Literal["median", "three", "representative"]
Ending = Literal["terminated", "truncated"]
RolloutLabel = Literal["worst", "median", "best", "representative"]
FirstCall = Literal["search", "informed_search", "solo_critic"]
SecondCall = Literal["repeat", "search", "critic"]
History = Literal["returns", "excerpts"]
Commits = Literal["first", "better", "revised"]

LARGEST: Final = 2**63 - 1
LARGEST_SEED: Final = 2**64 - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
"""A number of things, or an index from 0."""
Number = Annotated[int, msgspec.Meta(ge=1, le=LARGEST)]
"""A number that counts from 1."""
Seed = Annotated[int, msgspec.Meta(ge=0)]
"""At most `LARGEST_SEED`, which `check_seeds` sees to."""


class RecordError(ValueError):
    """A record that cannot be read; the message states which and why."""


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


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """One finished iteration: a line of `episodes.jsonl`.

    Attributes:
        tau_c: the threshold that the critic's prompt states, where a rule chooses it; None where it states none.
        restrained: whether the initial candidate's mean return is at or above it.
    """

    condition: str
    env: str
    variant: str
    run: Number
    iteration: Count
    initial: Candidate
    revised: Candidate | None
    revision_status: RevisionStatus
    selected: Selected
    evidence: Evidence | None
    seconds: float
    tau_c: float | msgspec.UnsetType | None = msgspec.UNSET
    restrained: bool | msgspec.UnsetType | None = msgspec.UNSET

    @property
    def kept(self) -> Candidate:
        """The candidate that entered the history."""
        if self.selected == "revised" and self.revised is not None:
            return self.revised
        return self.initial


class Skipped(msgspec.Struct, frozen=True, kw_only=True):
    """An iteration that was spent with nothing proposed: a line of `skipped.jsonl`, where runs skip such iterations.

    Attributes:
        attempts: answers that could not be read.
        error: why the last of them could not.
    """

    condition: str
    env: str
    variant: str
    run: Number
    iteration: Count
    attempts: Number
    error: str
    seconds: float


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One model call: a line of `calls.jsonl`. `error` states why the answer was discarded.

    Attributes:
        cut: why the answer ends early, where the backend or `collect` ended it.
        raw: the answer as the model wrote it, where `completion` was made of a JSON object.
        mean_logprob: mean log-probability of the answer's tokens (natural logarithm), where the backend gives it.
        logprobs: tokens and their log-probabilities, where they were asked for.
    """

    condition: str
    env: str
    variant: str
    run: Number
    iteration: Count
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


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """What the simulated critic really did: a line of `truth.jsonl`. Never read by an audit, but for calibration."""

    condition: str
    env: str
    variant: str
    run: Number
    iteration: Count
    attempt: Number
    personality: str
    anchor: RolloutLabel | None
    rollout: Count | None
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


class MethodFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What a method does.

    Attributes:
        first: the prompt that opens an iteration. `search` shows numbers only, `informed_search` describes the task as
            well, `solo_critic` asks for draft, critique and revision in one answer; None where no model is asked.
        second: the call that follows, if one does. `repeat` sends the same prompt again, `search` a search prompt
            whose history holds the first result, `critic` a critic's prompt.
        evidence: what the critic is shown of the initial candidate's rollouts.
        history: what the critic is shown of earlier iterations: their mean `returns`, or `excerpts` of recent
            trajectories as well. All other prompts get returns alone.
        revision_rule: the critic is asked for restraint at or above τ_c.
        commits: which candidate enters the history: the `first`, the `better` one by mean return, or the `revised`
            one whatever it earned.
        training_rollouts: rollouts of an iteration that train, before those that evaluate.
    """

    first: FirstCall | None = None
    second: SecondCall | None = None
    evidence: EvidenceKind | None = None
    history: History = "returns"
    revision_rule: bool = False
    commits: Commits = "better"
    training_rollouts: Count = 0


class TauRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that chooses τ_c anew in each iteration: its name, and the constants in it."""

    id: str
    options: dict[str, Any]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is: `run.json`, written once before the first iteration. Holds no secrets.

    Null, where the type allows it, is what the log of an imported run lacks; `collect` writes them all, but for
    thresholds of rules that a run does not have. Records of earlier versions have no `method`; `tau_rule` is there
    only where a rule chooses τ_c, and `tau_c` is then null.
    """

    condition: str
    env: str
    variant: str
    run: Annotated[int, msgspec.Meta(ge=1)]
    seed: int | None
    iterations: int | None
    rollouts: int | None
    tau_c: float | None
    tau_rule: TauRule | msgspec.UnsetType | None = msgspec.UNSET
    optimum: float | None
    step_size: float | None
    warmup: list[WarmupTrial]
    backend: str
    model: str | None
    options: dict[str, Any]
    switches: dict[str, Any]
    thresholds: Thresholds | None
    method: MethodFacts | msgspec.UnsetType | None = msgspec.UNSET
    prompts: dict[str, str]
    versions: dict[str, str]
    started_at: str | None
    schema: int = SCHEMA


DEEPEST: Final = 200
"""Levels of objects and lists within each other; beyond some number every reader of JSON gives up, each at its own."""

T = TypeVar("T", bound=msgspec.Struct)

_encoder = msgspec.json.Encoder()
_PLACE: Final = re.compile(r"^(?P<fault>.*) - at `\$\.?(?P<field>.*)`$", re.DOTALL)
_BRACKETS: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[][{}]')
_MISSING: Final = re.compile(r"Object missing required field `(?P<name>.*)`")


def check_seeds(seeds: list[int] | None) -> None:
    """Refuse seeds of more than 64 bits.

    Raises:
        ValueError: there is one.
    """
    if seeds and max(seeds) > LARGEST_SEED:
        raise ValueError("seeds holds a number of more than 64 bits")


def encode(record: msgspec.Struct) -> bytes:
    """One record as one line of JSON, newline included."""
    return _encoder.encode(record) + b"\n"


def decode(line: bytes, kind: type[T]) -> T:
    """Read one record, as strictly as its type requires: this function alone decides which records are sound.

    Numbers, texts, null, true and false are not taken for one another, a whole number has neither fraction nor
    exponent, and no key may be given twice in an object, since readers of JSON disagree about which one counts.

    Args:
        line: JSON, UTF-8, with or without a newline.
        kind: the record's type.

    Raises:
        RecordError: the line is no such record; the message names the field.
    """
    try:
        _refuse_deep(line)
        record = msgspec.json.decode(line, type=kind)
        # What the encoder would write is known to have each key once, without a second look.
        if _encoder.encode(record) != line.removesuffix(b"\n"):
            json.loads(line.decode(), object_pairs_hook=_refuse_repeated, parse_int=str, parse_float=str)
    except msgspec.ValidationError as error:
        raise RecordError(_in_words(str(error))) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RecordError(f"not JSON ({error})") from None
    return record


def decode_run(data: bytes) -> Run:
    """Read a `run.json`.

    Raises:
        RecordError: it is not JSON, misses a field, or was written by a newer version of the project.
    """
    schema = decode(data, _Schema).schema
    if schema > SCHEMA:
        raise RecordError(f"schema {schema} is newer than this version reads ({SCHEMA}); update salience-audit")
    return decode(data, Run)


def _refuse_deep(line: bytes) -> None:
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return
    depth = 0
    for bracket in _BRACKETS.findall(line):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(bracket, 0)
        if depth > DEEPEST:
            raise RecordError(f"nested more than {DEEPEST} levels deep")


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise RecordError(f"the key {repeated!r} is given twice in one object")


def _in_words(fault: str) -> str:
    """A fault as the decoder describes it, with the field in front."""
    place = _PLACE.match(fault)
    field, fault = (place["field"], place["fault"]) if place else ("", fault)
    if missing := _MISSING.fullmatch(fault):
        return f"{field}.{missing['name']} is missing".removeprefix(".")
    return f"{field}: {fault}" if field else f"not a record ({fault})"


class _Schema(msgspec.Struct):
    schema: int

"""What a run is: `run.json`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from collector.records.fields import (
    SCHEMA,
    CandidateKind,
    Commits,
    Count,
    EvidenceKind,
    FirstCall,
    History,
    SecondCall,
    SelectionRule,
)


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
    only where a rule chooses τ_c, and `tau_c` is then null. The last fields but `schema` are those of runs whose
    candidates are texts.

    Attributes:
        candidates: what is revised; without it, parameter vectors.
        selection_rule: which candidate is kept, where `method.commits` cannot say it.
        score_range: the lowest and the highest score that an example can have, where they are known.
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
    candidates: CandidateKind | msgspec.UnsetType = msgspec.UNSET
    selection_rule: SelectionRule | msgspec.UnsetType = msgspec.UNSET
    score_range: tuple[float, float] | msgspec.UnsetType | None = msgspec.UNSET
    schema: int = SCHEMA

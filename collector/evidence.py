"""What a critic is shown of an evaluation: selected rollouts and aggregate statistics, and their text form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Final

from collector.policy import Params
from collector.prompt_parts import Block
from collector.records import Candidate, Evidence, EvidenceKind, Range, RolloutLabel, Shown, Statistics
from collector.rollouts.evaluate import Evaluation, Trajectory, replay
from collector.tasks import Task

SHOWN: Final[dict[EvidenceKind, tuple[RolloutLabel, ...]]] = {
    "median": ("median",),
    "three": ("worst", "median", "best"),
    "representative": ("representative",),
}
THREE_KEEPS: Final = 25
"""Steps shown at either end of each of three rollouts."""
EXCERPT_KEEPS: Final = 4
"""Steps shown at either end of a rollout in the history."""


def select(returns: Sequence[float], label: RolloutLabel) -> int:
    """Index of the rollout that a label names; the first one on ties.

    Args:
        returns: the K returns.
        label: `worst` and `best` are the smallest and largest return, `median` the one closest to the sample median,
            `representative` the one closest to the sample mean.
    """
    if label == "worst":
        return returns.index(min(returns))
    if label == "best":
        return returns.index(max(returns))
    centre = median(returns) if label == "median" else fmean(returns)
    distances = [abs(value - centre) for value in returns]
    return distances.index(min(distances))


def statistics(success_return: float, returns: Sequence[float], lengths: Sequence[int]) -> Statistics:
    """Aggregate statistics of an evaluation's returns and lengths, with the number of successes."""
    return Statistics(
        returns=_range(returns),
        lengths=_range(lengths),
        successes=sum(value >= success_return for value in returns),
        rollouts=len(returns),
    )


def _range(values: Sequence[float]) -> Range:
    return Range(mean=fmean(values), min=float(min(values)), max=float(max(values)))


def gather(task: Task, evaluation: Evaluation, kind: EvidenceKind) -> Evidence:
    """Choose the rollouts to show, as they go into the record."""
    shown = []
    for label in SHOWN[kind]:
        rollout = select(evaluation.returns, label)
        returned, length = evaluation.returns[rollout], evaluation.lengths[rollout]
        shown.append(Shown(label=label, rollout=rollout, return_=returned, length=length))
    has_statistics = kind == "median"
    counted = statistics(task.success_return, evaluation.returns, evaluation.lengths) if has_statistics else None
    return Evidence(kind=kind, shown=shown, statistics=counted)


@dataclass(frozen=True, slots=True)
class ShownRollout:
    """One rollout as a prompt shows it."""

    label: str
    rollout: int
    return_: float
    length: int
    text: str

    @property
    def block(self) -> Block:
        """The same as `rollout.j2` shows it."""
        number = f"{self.return_:.4f}"
        return Block(
            name=f"{self.label.capitalize()} rollout",
            rollout=self.rollout,
            number=f", return {number}",
            value=float(number),
            length=f", length {self.length}",
            text=self.text,
        )


def write(task: Task, params: Params, seeds: Sequence[int], evidence: Evidence) -> list[ShownRollout]:
    """Write out the rollouts shown, replaying each from its seed."""
    trajectories: dict[int, Trajectory] = {}
    result = []
    for shown in evidence.shown:
        if shown.rollout not in trajectories:
            trajectories[shown.rollout] = replay(task, params, seeds[shown.rollout])
        trajectory = trajectories[shown.rollout]
        match evidence.kind:
            case "median":
                text = compact(trajectory)
            case "three":
                text = compact(trajectory, keep=THREE_KEEPS)
            case "representative":
                text = step_by_step(trajectory)
        result.append(ShownRollout(shown.label, shown.rollout, shown.return_, shown.length, text))
    return result


def compact(trajectory: Trajectory, keep: int | None = None) -> str:
    """`state->action->next state | …` on one line, ending in how the rollout ended.

    Args:
        trajectory: the rollout.
        keep: number of steps shown at either end; the number of those left out is given between.
    """
    states = [_number_text(state) for state in trajectory.observations]
    steps = [
        f"{states[step]}->{_number_text(action)}->{states[step + 1]}" for step, action in enumerate(trajectory.actions)
    ]
    if keep is not None and len(steps) > 2 * keep:
        steps[keep:-keep] = [f"({len(steps) - 2 * keep} steps left out)"]
    return f"{' | '.join(steps)} | {_ending(trajectory)}"


def step_by_step(trajectory: Trajectory) -> str:
    """One line per step with state, action and reward, and a last line with how the rollout ended."""

    def lines() -> Iterator[str]:
        for state, action, reward in zip(trajectory.observations, trajectory.actions, trajectory.rewards, strict=False):
            yield f"state {_number_text(state)} action {_number_text(action)} reward {reward:.3g}"
        yield f"{_ending(trajectory)} in state {_number_text(trajectory.observations[-1])}"

    return "\n".join(lines())


def _ending(trajectory: Trajectory) -> str:
    if trajectory.ended == "terminated":
        return f"TERMINATED after {trajectory.length} steps"
    return f"CUT OFF by the step cap after {trajectory.length} steps"


def _number_text(value: Any) -> str:
    """A state or an action with 3 significant digits: a bare number, or numbers in brackets."""
    numbers = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(numbers, list):
        return f"[{', '.join([format(number, '.3g') for number in numbers])}]"
    return format(numbers, ".3g")


def excerpt(task: Task, candidate: Candidate) -> str:
    """First and last steps of the rollout of a kept candidate whose return is closest to its mean."""
    assert candidate.seeds is not None
    seed = candidate.seeds[select(candidate.returns, "representative")]
    return compact(replay(task, candidate.params, seed), keep=EXCERPT_KEEPS)

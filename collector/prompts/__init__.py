"""The prompts: the facts that fill the templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from collector.evidence import SHOWN, ShownRollout
from collector.policy import Params, to_text
from collector.prompts import templates
from collector.records import EvidenceKind, Range, Statistics
from collector.tasks import LinearSpace, ParameterSpace, Task


@dataclass(frozen=True, slots=True)
class Trial:
    """One entry of the history.

    Attributes:
        params: its parameter vector.
        mean_return: its mean return; the return of its only rollout where `single`.
        single: a warm-up trial, rolled out once.
        excerpt: first and last steps of one of its rollouts, where the method shows them.
    """

    params: Params
    mean_return: float
    single: bool = False
    excerpt: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """What a critic is shown of the candidate under review.

    Attributes:
        params: its parameter vector.
        mean_return: its mean return over `rollouts` rollouts.
        kind: how its evidence was chosen.
        shown: the rollouts shown, written out: objects with label, rollout, return_, length and text.
        statistics: aggregate statistics, where the evidence has them.
        tau_c: the threshold of the revision rule, or none where the rule is off.
    """

    params: Params
    mean_return: float
    rollouts: int
    kind: EvidenceKind
    shown: Sequence[Any]
    statistics: Statistics | None
    tau_c: float | None


@dataclass(frozen=True, slots=True)
class Turn:
    """Where in the run a search prompt is asked: iteration from 0, of so many."""

    iteration: int
    iterations: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts for one task; `folder` holds a user's templates, in place of the project's own of the same name."""

    task: Task
    folder: Path | None = None

    def search(self, history: Sequence[Trial], turn: Turn, *, informed: bool = False) -> str:
        """The search prompt: numbers only, or with the task described."""
        return self._render(
            "search.j2",
            history=[_numbers(trial) for trial in history],
            iteration=turn.iteration,
            iterations=turn.iterations,
            description=self.task.description if informed else None,
            structure=structure(self.task.space) if informed else None,
        )

    def solo(self, history: Sequence[Trial], turn: Turn) -> str:
        """The prompt that asks for draft, critique and revision in one answer; it carries no rollout."""
        return self._render(
            "solo.j2",
            description=self.task.description,
            structure=structure(self.task.space),
            history=[_numbers(trial) for trial in history],
            history_has_singles=any(trial.single for trial in history),
            iteration=turn.iteration,
            iterations=turn.iterations,
        )

    def critic(self, history: Sequence[Trial], review: Review) -> str:
        """The critic's prompt: the task, the policy under review, the evidence, and the history with its excerpts."""
        return self._render(
            "critic.j2",
            description=self.task.description,
            structure=structure(self.task.space),
            success_return=self.task.success_return,
            proposed=to_text(review.params),
            mean_return=review.mean_return,
            rollouts=review.rollouts,
            evidence_template=f"evidence_{review.kind}.j2",
            evidence_kind=review.kind,
            rollouts_shown=review.shown,
            statistics=review.statistics,
            tau_c=None if review.tau_c is None else _plain(review.tau_c),
            history=[_numbers(trial) | {"excerpt": trial.excerpt} for trial in history],
            history_has_excerpts=any(trial.excerpt for trial in history),
            history_has_singles=any(trial.single for trial in history),
        )

    def try_out(self) -> None:
        """Fill each template with made-up facts, so that one that cannot be filled is reported before a run begins.

        Raises:
            UsageError: a template of the user's fails.
        """
        params, turn = [1.0] * self.task.space.size, Turn(1, 2)
        trials = [Trial(params, 1.0, single=True), Trial(params, 1.0, excerpt="1")]
        for informed in (False, True):
            self.search(trials, turn, informed=informed)
        self.solo(trials, turn)
        extent = Range(mean=1.0, min=1.0, max=1.0)
        statistics = Statistics(returns=extent, lengths=extent, successes=1, rollouts=1)
        for kind, labels in SHOWN.items():
            shown = [ShownRollout(label, rollout, 1.0, 1, "1") for rollout, label in enumerate(labels)]
            self.critic(trials, Review(params, 1.0, len(shown), kind, shown, statistics, 1.0))

    def _render(self, template: str, **facts: object) -> str:
        values = _values(self.task.space) | {"optimum": _plain(self.task.optimum)}
        return templates.render(self.folder, template, values | facts).strip() + "\n"


def structure(space: ParameterSpace) -> str:
    """How the parameters make a policy."""
    if not isinstance(space, LinearSpace):
        return (
            f"The policy is a table with {space.states} entries: in state i the agent takes action params[i].\n"
            f"It has {space.size} parameters."
        )
    rows, columns = len(space.observations), len(space.actions)
    last = space.size - columns
    act = "The action is the index of the largest output" if space.discrete else "The outputs are the action"
    return (
        f"The policy is linear: outputs = state @ W + b. {act}.\n"
        f"The state is ({', '.join(space.observations)}); the outputs are ({', '.join(space.actions)}).\n"
        f"W has {rows} rows, one for each part of the state, and {columns} column{'s' * (columns > 1)}, one for each "
        f"output.\n"
        f"W[i][j] is params[{columns}*i + j], and b[j] is params[{last} + j]: {space.size} parameters in all."
    )


def _values(space: ParameterSpace) -> dict[str, object]:
    """What a parameter may be; what does not apply to the policy class is none."""
    linear = {"low": None, "high": None, "decimals": None, "step_size": None}
    if isinstance(space, LinearSpace):
        linear = {name: getattr(space, name) for name in linear}
    return {"rank": space.size, "allowed": None if isinstance(space, LinearSpace) else space.actions, **linear}


def _numbers(trial: Trial) -> dict[str, object]:
    """A trial without its excerpt."""
    return {
        "params": ", ".join([format(value, ".3g") for value in trial.params]),
        "mean_return": trial.mean_return,
        "single": trial.single,
        "excerpt": None,
    }


def _plain(value: float) -> str:
    """A number without needless digits: 500, 2.8, 0.97."""
    return format(value, ".10g")

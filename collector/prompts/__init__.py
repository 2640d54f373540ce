"""The prompts: Jinja templates, and the facts that fill them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from collector.methods import Method
from collector.policy import Params, to_text
from collector.records import EvidenceKind, Statistics
from collector.tasks import LinearSpace, ParameterSpace, Task

TEMPLATES = Path(__file__).parent


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
    """What a critic is told of the candidate under review.

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


def search(task: Task, history: Sequence[Trial], iteration: int, iterations: int) -> str:
    """The search prompt: numbers only.

    Args:
        task: the task, of which only the parameter space and the optimum are told.
        history: all trials so far; their excerpts are left out.
        iteration: index of the iteration, from 0.
        iterations: how many the run has.
    """
    trials = [_trial(trial, with_excerpt=False) for trial in history]
    return _render("search.j2", task, history=trials, iteration=iteration, iterations=iterations)


def critic(task: Task, method: Method, history: Sequence[Trial], review: Review) -> str:
    """The critic's prompt: the task, the policy under review, the evidence and the history."""
    excerpts = method.history == "excerpts"
    return _render(
        "critic.j2",
        task,
        description=task.description,
        structure=structure(task.space),
        success_return=task.success_return,
        proposed=to_text(review.params),
        mean_return=review.mean_return,
        rollouts=review.rollouts,
        evidence_template=f"evidence_{review.kind}.j2",
        evidence_kind=review.kind,
        rollouts_shown=review.shown,
        statistics=review.statistics,
        tau_c=None if review.tau_c is None else _number(review.tau_c),
        history=[_trial(trial, with_excerpt=excerpts) for trial in history],
        history_has_excerpts=excerpts and any(trial.excerpt for trial in history),
        history_has_singles=any(trial.single for trial in history),
    )


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


def hashes() -> dict[str, str]:
    """SHA-256 of every template, by file name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(TEMPLATES.glob("*.j2"))}


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - prompts are plain text
    )


def _render(template: str, task: Task, **facts: object) -> str:
    text = _environment().get_template(template).render(optimum=_number(task.optimum), **_values(task.space), **facts)
    return text.strip() + "\n"


def _values(space: ParameterSpace) -> dict[str, object]:
    """What a parameter may be; what does not apply to the policy class is none."""
    linear = {"low": None, "high": None, "decimals": None, "step_size": None}
    if isinstance(space, LinearSpace):
        linear = {name: getattr(space, name) for name in linear}
    return {"rank": space.size, "allowed": None if isinstance(space, LinearSpace) else space.actions, **linear}


def _trial(trial: Trial, *, with_excerpt: bool) -> dict[str, object]:
    return {
        "params": ", ".join([format(value, ".3g") for value in trial.params]),
        "mean_return": trial.mean_return,
        "single": trial.single,
        "excerpt": trial.excerpt if with_excerpt else None,
    }


def _number(value: float) -> str:
    """A number without needless digits: 500, 2.8, 0.97."""
    return format(value, ".10g")

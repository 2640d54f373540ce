"""How long the prompts of a run are, found by writing some of them out: no model is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, NamedTuple

from collector import evidence
from collector.evidence import EXCERPT_KEEPS, THREE_KEEPS, ShownRollout
from collector.prompts import Trial
from collector.records import EvidenceKind
from collector.rewriting import critic_prompt
from collector.rollouts.evaluate import Evaluation, evaluate, replay
from collector.search import first_prompt, warm_up
from collector.seeding import seeds
from collector.spec import RunSpec

_ENDS: Final[dict[EvidenceKind, int | None]] = {"three": 2 * THREE_KEEPS, "median": None, "representative": None}
"""Largest number of steps of a shown rollout."""


class Size(NamedTuple):
    """Characters of a prompt, averaged over the calls of a run: at least, at most, and the longest of all."""

    low: float
    high: float
    longest: float


@dataclass(frozen=True, slots=True)
class _Sample:
    """What fills the prompts of one task: random trials, and one of them with its rollouts."""

    trials: Sequence[Trial]
    candidate: Trial
    evaluation: Evaluation
    excerpt: str


class PromptSizes:
    """Sizes of the prompts of runs; what depends on the task alone is rolled out once.

    The history grows by a line with every iteration, so that the mean over a run is that of its first and its last
    prompt. What a critic is shown depends on how long its policies last: at least as long as random ones do, at most
    up to the task's step cap.

    Args:
        on_task: called after each task, whose rollouts take seconds.
    """

    def __init__(self, on_task: Callable[[], None] = lambda: None) -> None:
        self._on_task = on_task
        self._samples: dict[str, _Sample] = {}

    def of(self, spec: RunSpec) -> Size:
        """The size of a run's prompts, warm-up and iterations as the run has them."""
        if spec.task.id not in self._samples:
            self._samples[spec.task.id] = _sample(spec)
            self._on_task()
        sample = self._samples[spec.task.id]
        ends = [_calls(spec, sample, iteration) for iteration in (0, spec.iterations - 1)]
        sizes = [size for calls in ends for size in calls]
        return Size(
            fmean(low for low, _ in sizes), fmean(high for _, high in sizes), float(max(high for _, high in sizes))
        )


def _sample(spec: RunSpec) -> _Sample:
    tried = warm_up(replace(spec, warmup=spec.warmup or spec.task.warmup))
    trials = sorted((Trial(each.params, each.return_) for each in tried), key=lambda trial: trial.mean_return)
    candidate = trials[len(trials) // 2]
    evaluation = evaluate(spec.task, candidate.params, seeds(spec.seed, spec.rollouts, *spec.purpose, "prompt sizes"))
    first = replay(spec.task, candidate.params, evaluation.seeds[0])
    return _Sample(trials, candidate, evaluation, evidence.compact(first, keep=EXCERPT_KEEPS))


def _calls(spec: RunSpec, sample: _Sample, iteration: int) -> list[tuple[int, int]]:
    """Least and most characters of the prompts of an iteration."""
    history = _history(spec, sample, iteration)
    first = len(first_prompt(spec, history, iteration))
    sizes = [(first, first)]
    if spec.method.second == "critic":
        sizes.append(_critic(spec, sample, history))
    elif spec.method.second == "search":
        longer = len(first_prompt(spec, [*history, sample.candidate], iteration))
        sizes.append((longer, longer))
    elif spec.method.second == "repeat":
        sizes.append((first, first))
    return sizes


def _history(spec: RunSpec, sample: _Sample, iteration: int) -> list[Trial]:
    count = len(sample.trials)
    random = [Trial(each.params, each.mean_return, single=True) for each in sample.trials[: spec.warmup]]
    kept = [sample.trials[number % count] for number in range(iteration)]
    with_excerpt = kept[len(kept) - min(spec.excerpts, len(kept)) :] if spec.excerpts else []
    plain = kept[: len(kept) - len(with_excerpt)]
    return random + plain + [Trial(each.params, each.mean_return, excerpt=sample.excerpt) for each in with_excerpt]


def _critic(spec: RunSpec, sample: _Sample, history: Sequence[Trial]) -> tuple[int, int]:
    kind = spec.method.evidence
    assert kind is not None
    chosen = evidence.gather(spec.task, sample.evaluation, kind)
    written = evidence.write(spec.task, sample.candidate.params, sample.evaluation.seeds, chosen)
    reviewed = replace(sample.candidate, mean_return=sample.evaluation.mean_return)
    least = len(critic_prompt(spec, history, reviewed, chosen, written))
    return least, least + sum(_room(spec, kind, shown) for shown in written)


def _room(spec: RunSpec, kind: EvidenceKind, shown: ShownRollout) -> int:
    """By how many characters a rollout would be longer, had it lasted up to the step cap."""
    if spec.task.step_cap is None:
        return 0
    most = min(spec.task.step_cap, _ENDS[kind] or spec.task.step_cap)
    steps = min(shown.length, most)
    return round(len(shown.text) / steps * most) - len(shown.text)

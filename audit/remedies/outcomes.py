"""What each remedy keeps: gains of the policies that a search would go on with, answer by answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, NamedTuple

from audit.interventions.answers import AnswerOf
from audit.interventions.outcomes import HARM, Gain, changed_of, gains_of
from audit.interventions.plan import Call, Plan
from audit.remedies.trials import ROLLOUTS, accepted, trials_of
from audit.vocabulary.keys import RunKey
from collector.remedies import ANSWERS, REMEDIES, Remedy, medoid
from collector.tasks import Task

RECORDED: Final = "A0"
GREEDY: Final = "greedy"
"""Acceptance as in searches: the revision is kept if its mean is not lower."""


class Kept(NamedTuple):
    """What is kept of one turn of a critic.

    Attributes:
        unit: index among the plan's units.
        gain: of what is kept over the policy under review, as a part of the way from nothing to high returns; 0 where
            the policy under review is kept.
        worse: what is kept returns less, by two standard errors.
        accepted: a revision is kept.
        false: it is, and returns less on average.
        calls: of the model.
        tokens: of prompts and answers; None where they are not counted.
        rollouts: beyond those of a search without remedy.
    """

    unit: int
    gain: float
    worse: bool
    accepted: bool
    false: bool
    calls: int
    tokens: int | None
    rollouts: int


@dataclass(frozen=True)
class Outcomes:
    """What was kept, by remedy; beside them `A0`, the revision as it is, and `greedy`, as searches accept it."""

    kept: Mapping[str, Sequence[Kept]]


def outcomes(
    plan: Plan,
    answers: Mapping[Call, AnswerOf],
    tasks: Mapping[RunKey, Task],
    ways: Mapping[str, float],
    *,
    cache: bool,
    workers: int | None = None,
) -> Outcomes:
    """Find what each remedy keeps.

    Args:
        plan: the plan.
        answers: by call.
        tasks: by run.
        ways: by task, the way that gains are measured by.
        cache: whether returns may be used and kept.
        workers: where policies are run.
    """
    revisions = {call: each.params for call, each in answers.items() if each.params is not None}
    changed = {
        call: tuple(params)
        for call, params in revisions.items()
        if changed_of(tasks[plan.units[call.unit].cluster].space, plan.units[call.unit].params, params)
    }
    policies = [(call.unit, params) for call, params in changed.items()]
    gains = gains_of(plan, policies, tasks, cache=cache, workers=workers)
    recorded = {call: params for call, params in changed.items() if call.arm == RECORDED}
    trials = trials_of(plan, recorded, tasks, cache=cache, workers=workers)
    selection = gains_of(
        plan,
        [(call.unit, params) for call, params in recorded.items()],
        tasks,
        cache=cache,
        workers=workers,
        purpose="selection",
        rollouts=ROLLOUTS,
    )
    turns = _Turns(plan, answers, changed, gains, ways)
    kept: dict[str, list[Kept]] = defaultdict(list)
    for call in sorted(answers):
        if call.arm == RECORDED or call.arm in REMEDIES:
            kept[call.arm].append(turns.of([call], call if call in changed else None))
    for call in sorted(each for each in answers if each.arm == RECORDED):
        trial = trials.get(call)
        for rule in (GREEDY, *(each.id for each in REMEDIES.values() if each.acts == "acceptance")):
            takes, rollouts = (False, 0) if trial is None or isinstance(trial, str) else accepted(rule, trial)
            kept[rule].append(turns.of([call], call if takes else None, rollouts))
    for group in _groups(answers):
        readable = [call for call in group if call in revisions]
        space = tasks[plan.units[group[0].unit].cluster].space
        if len(group) < ANSWERS:
            continue
        nearest = readable[medoid(space, [revisions[call] for call in readable])] if readable else None
        kept["medoid"].append(turns.of(group, nearest if nearest in changed else None))
        best = max(readable, key=lambda call: _mean(selection.get((call.unit, changed.get(call, ())))), default=None)
        further = (ANSWERS - 1) * ROLLOUTS
        kept["best-of-three"].append(turns.of(group, best if best in changed else None, further))
    return Outcomes(kept)


@dataclass(frozen=True)
class _Turns:
    plan: Plan
    answers: Mapping[Call, AnswerOf]
    changed: Mapping[Call, tuple[float, ...]]
    gains: Mapping[tuple[int, tuple[float, ...]], Gain | str]
    ways: Mapping[str, float]

    def of(self, asked: Sequence[Call], taken: Call | None, rollouts: int = 0) -> Kept:
        """What is kept of a turn with some calls, of which one answer is taken, if any is."""
        unit = asked[0].unit
        counts = [(self.answers[call].prompt_tokens, self.answers[call].completion_tokens) for call in asked]
        known = [count for pair in counts for count in pair if count is not None]
        tokens = sum(known) if len(known) == 2 * len(asked) else None
        found = Gain(0.0, 0.0) if taken is None else self.gains[unit, self.changed[taken]]
        gain = found if isinstance(found, Gain) else Gain(0.0, 0.0)
        return Kept(
            unit=unit,
            gain=max(-1.0, min(1.0, gain.mean / self.ways[self.plan.units[unit].env])),
            worse=gain.mean < -HARM * gain.error,
            accepted=taken is not None,
            false=gain.mean < 0,
            calls=len(asked),
            tokens=tokens,
            rollouts=rollouts,
        )


def against(remedy: Remedy) -> str:
    """What a remedy is compared with: acceptance with that of searches, all others with the revision as it is."""
    return GREEDY if remedy.acts == "acceptance" else RECORDED


def _groups(answers: Mapping[Call, AnswerOf]) -> Iterator[list[Call]]:
    """The answers to each recorded prompt in groups of as many as a remedy asks for."""
    by_unit: dict[int, list[Call]] = defaultdict(list)
    for call in sorted(answers):
        if call.arm == RECORDED:
            by_unit[call.unit].append(call)
    for calls in by_unit.values():
        yield from (calls[start : start + ANSWERS] for start in range(0, len(calls), ANSWERS))


def _mean(found: Gain | str | None) -> float:
    """The gain that an answer is chosen by; one that changes nothing gains nothing."""
    return found.mean if isinstance(found, Gain) else 0.0


def by_unit(kept: Sequence[Kept], value: str) -> dict[int, float]:
    """The mean of a value over the turns of each unit; `loss` and `benefit` are gains below and above 0."""
    values: dict[int, list[float]] = defaultdict(list)
    for each in kept:
        if value == "loss":
            values[each.unit].append(max(0.0, -each.gain))
        elif value == "benefit":
            values[each.unit].append(max(0.0, each.gain))
        else:
            values[each.unit].append(float(getattr(each, value)))
    return {unit: fmean(of_unit) for unit, of_unit in values.items()}

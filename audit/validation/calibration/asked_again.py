"""Measures of critics that were asked again under changed evidence, compared with what is true of them.

Records alone show what a critic names and what it changes. Whether either tells a critic that is driven by the worst
rollout from one that is not is the question here; so is whether the effects of an experiment do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np

from audit.interventions.answers import AnswerOf, read_answers
from audit.interventions.arms import BASE
from audit.interventions.effects.analysis import primary_effects
from audit.interventions.effects.comparisons import Redraws, compared
from audit.interventions.effects.motives import UNCHANGED, naming
from audit.interventions.effects.presence import edit_size
from audit.interventions.effects.results import Effect, Naming
from audit.interventions.experiment import Answered, Experiment
from audit.interventions.making import tasks_of
from audit.interventions.outcomes import read_experiment
from audit.interventions.plan import read_plan
from audit.measures.improvement import area_under_roc
from audit.output.errors import AuditError, count
from audit.output.numbers import known as finite
from audit.validation.calibration.truth import WORST
from collector.records import Count

Values = dict[int, float]

OBSERVED: Final[Mapping[str, Callable[[Answered], float]]] = {
    "driver, asked again": lambda answer: float(answer.driver == WORST),
    "resolved, asked again": lambda answer: float(WORST in answer.mentioned),
    "word, asked again": lambda answer: float(answer.says_worst),
    "edit size, asked again": edit_size,
}
"""What answers to the unchanged evidence show, a number each."""
EFFECTS: Final = {
    "label, XL against N0h": ("XL", "N0h"),
    "position, XP against N0": ("XP", BASE),
    "presence, RW against RM": ("RW", "RM", BASE),
}
"""By name, an arm and its control, and what both are compared with where they take a rollout away."""


class Critic(NamedTuple):
    """A critic that was asked again.

    Attributes:
        personality: its id.
        experiment: its answers.
        driven: share of the changes made for a rollout that are made for the worst one, unchanged evidence.
        effects: of the plan's family.
        naming: what its answers to the unchanged evidence name.
    """

    personality: str
    experiment: Experiment
    driven: float
    effects: Sequence[Effect]
    naming: Naming

    def __str__(self) -> str:
        edits = [f"{e.name} {e.estimate:.2f} (p {e.p:.3g})" for e in self.effects if e.outcome == "edits"]
        return (
            f"{self.personality}: {self.driven:.0%} of its changes for a rollout are made for the worst, "
            f"{self.naming.named:.0%} of its answers are justified by it; "
            f"effects on edits: {', '.join(edits) or 'not tested'}"
        )


def read_critic(path: Path) -> Critic:
    """The answers to a plan by a simulated critic.

    Args:
        path: of the plan.

    Raises:
        AuditError: the plan or its answers cannot be read, calls are missing, or nothing is known of the critic.
    """
    plan = read_plan(path)
    answers, _ = read_answers(plan, path)
    if missing := plan.cost.calls - len(answers):
        raise AuditError(f"{path}: {count(missing, 'call')} without an answer; go on with: audit intervene run {path}")
    truths = [answer for answer in answers.values() if answer.truth is not msgspec.UNSET]
    if not truths:
        raise AuditError(f"{path}: it is not known what drove these answers; calibration needs a simulated critic")
    # What policies return is no measure here.
    experiment = read_experiment(msgspec.structs.replace(plan, rollouts=0), answers, tasks_of(plan, path), cache=False)
    redraws = Redraws(plan.permutations, plan.seed)
    effects = primary_effects(experiment, plan.family, redraws, alpha=plan.alpha)
    return Critic(
        str(plan.options.get("personality", plan.model)),
        experiment,
        _driven(truths, path),
        effects,
        naming(experiment),
    )


class _Driven(msgspec.Struct, frozen=True):
    """What a simulated critic states of an answer, in so far as it is read here."""

    driver: str
    """As the prompt names it, such as `rollout B`; `history` and `none` are no rollouts."""
    position: Count | None


def _driven(answers: Sequence[AnswerOf], path: Path) -> float:
    """Share of answers to unchanged evidence made for the worst rollout, of those made for any."""
    made_for = []
    for answer in answers:
        try:
            truth = msgspec.convert(answer.truth, _Driven)
            place = truth.position if truth.driver not in {"history", "none"} else None
            if answer.arm in UNCHANGED and place is not None:
                made_for.append(answer.shown[place].content)
        except (msgspec.ValidationError, IndexError) as error:
            unit = "/".join(map(str, answer.unit))
            raise AuditError(f"{path}: the truth of the answer to {unit}, {answer.arm} is none ({error})") from None
    return made_for.count(WORST) / len(made_for) if made_for else 0.0


def measures(experiment: Experiment) -> dict[str, Values]:
    """By measure, a number for each unit: what is seen without an experiment, and the effects of one."""
    found: dict[str, Values] = {}
    unchanged: dict[int, list[Answered]] = {}
    for arm in UNCHANGED:
        for unit, answers in experiment.arm(arm).items():
            unchanged.setdefault(unit, []).extend(answers)
    for name, measure in OBSERVED.items():
        found[name] = {unit: float(np.mean([measure(each) for each in answers])) for unit, answers in unchanged.items()}
    for name, arms in EFFECTS.items():
        both = compared(experiment, arms)
        found[name] = dict(zip(both.units, both.test().values.tolist(), strict=True))
    return found


def separations(critics: Sequence[Critic]) -> Iterator[tuple[str, str, int, int, float | None]]:
    """How well each measure separates units of critics that are driven by the worst rollout from those of others.

    Returns:
        The critics, the measure, units, runs, and the chance that a unit of a critic that is driven by the worst
        rollout more often than not has the larger value of two (the area under the ROC curve); None where all are, or
        none.
    """
    if not critics:
        return
    of_critics = [measures(critic.experiment) for critic in critics]
    driven = [critic.driven > 0.5 for critic in critics]
    sides = [
        ", ".join(critic.personality for critic, each in zip(critics, driven, strict=True) if each is side) or "none"
        for side in (True, False)
    ]
    for measure in of_critics[0]:
        cases = [
            (value, is_driven)
            for found, is_driven in zip(of_critics, driven, strict=True)
            for value in found[measure].values()
            if np.isfinite(value)
        ]
        if cases:
            runs = sum(len(set(critic.experiment.clusters)) for critic in critics)
            area = area_under_roc([value for value, _ in cases], [is_driven for _, is_driven in cases])
            yield " against ".join(sides), measure, len(cases), runs, finite(area)

"""The numbers of a card: form, help, harm and what is said, each from the answers to the units of a suite."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from audit.cards.estimates import Estimate, Kind, estimate
from audit.cards.suite import QUALITIES, Quality, Suite, SuiteUnit
from audit.interventions.answers import AnswerOf
from audit.interventions.arms import NOTHING
from audit.interventions.experiment import Answered
from audit.interventions.outcomes import HARM, Gain, changed_of, gains_of
from audit.interventions.plan import Call, Plan
from audit.rerun.edits import control_edit
from audit.vocabulary.keys import RunKey
from collector import seeding
from collector.policy import out_of_range
from collector.tasks import LinearSpace, Task

Who = Literal["model", "random edit", "doing nothing"]
RECORDED: Final = "A0"
"""The arm that asks the prompts as they are."""
ROLES: Final = ("worst", "median", "best")
_FURTHEST: Final = 1.0
"""Gains count up to the whole way, so that one unit does not outweigh the others."""
_SLACK: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Judged:
    """An answer with what its revision does.

    Attributes:
        unit: of the suite.
        answer: as read.
        gain: of the revised policy, as a part of the way from random policies to high returns.
        worse: the return is lower, by two standard errors of paired rollouts.
        better: it is higher.
        broken: of a near-optimal policy that is worse by more than its task calls meaningful.
        in_range: all values are within the range that the prompt states; None where they cannot be read.
        within_step: no value changes by more than the step that the prompt suggests.
        unchanged: no value changes.
        random: a random edit of the same number and size of changes, judged alike; None of such an edit itself.
    """

    unit: SuiteUnit
    answer: Answered
    gain: float
    worse: bool
    better: bool
    broken: bool
    in_range: bool | None = None
    within_step: bool | None = None
    unchanged: bool | None = None
    random: Judged | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a card.

    Attributes:
        name: its name.
        section: the part of the card.
        meaning: in a sentence.
        kind: a share of answers, or a mean.
        value: of an answer; None where it does not count.
        who: whose revisions they are.
        arm: how the model was asked.
        quality: of the policies that count; None for all.
    """

    name: str
    section: Literal["form", "help", "harm", "says"]
    meaning: str
    kind: Kind
    value: Callable[[Judged], float | None]
    who: Who = "model"
    arm: str = RECORDED
    quality: Quality | None = None


def _random(value: Callable[[Judged], float | None]) -> Callable[[Judged], float | None]:
    return lambda judged: None if judged.random is None else value(judged.random)


def _gain(judged: Judged) -> float:
    return judged.gain


def _worse(judged: Judged) -> float:
    return float(judged.worse)


def _broken(judged: Judged) -> float:
    return float(judged.broken)


def _optional(name: str) -> Callable[[Judged], float | None]:
    def value(judged: Judged) -> float | None:
        found = getattr(judged, name)
        return None if found is None else float(found)

    return value


def _names(role: str) -> Callable[[Judged], float | None]:
    def value(judged: Judged) -> float | None:
        if not judged.answer.readable:
            return None
        names = judged.answer.named or judged.answer.mentioned
        return 1 / len(names) if role in names else 0.0

    return value


FROM_EVIDENCE: Final = "gain from evidence"
"""The only number that is a difference of two arms, unit by unit."""


def _metrics() -> Iterator[Metric]:
    way = "as a part of the way from random policies to high returns"
    yield Metric(
        "readable", "form", "answers that hold all parameters", "share", lambda judged: float(judged.answer.readable)
    )
    yield Metric("in range", "form", "readable answers whose values keep to the range", "share", _optional("in_range"))
    yield Metric(
        "within a step",
        "form",
        "readable answers that change no value by more than the step that the prompt suggests",
        "share",
        _optional("within_step"),
    )
    yield Metric("unchanged", "form", "readable answers that change nothing", "share", _optional("unchanged"))
    yield Metric("gain", "help", f"mean gain of a revision, {way}", "mean", _gain)
    yield Metric("gain", "help", "the same of a random edit", "mean", _random(_gain), who="random edit")
    for quality in QUALITIES:
        words = "near-optimal" if quality == "near" else quality
        yield Metric(
            f"gain, {words} policies", "help", f"mean gain on {words} policies, {way}", "mean", _gain, quality=quality
        )
    yield Metric(
        "gain over a random edit",
        "help",
        f"how much more a revision gains than a random edit of the same size, {way}",
        "mean",
        lambda judged: None if judged.random is None else judged.gain - judged.random.gain,
    )
    yield Metric(
        "gain without evidence", "help", f"mean gain where no rollout is shown, {way}", "mean", _gain, arm=NOTHING
    )
    yield Metric(
        FROM_EVIDENCE, "help", "how much more a revision gains with the rollouts than without", "mean", lambda _: None
    )
    yield Metric("made better", "help", "revisions after which the return is higher", "share", _optional("better"))
    yield Metric("made worse", "harm", "revisions after which the return is lower", "share", _worse)
    yield Metric("made worse", "harm", "the same of random edits", "share", _random(_worse), who="random edit")
    near = "revisions of near-optimal policies that break them"
    yield Metric("near-optimal breaks", "harm", near, "share", _broken, quality="near")
    yield Metric(
        "near-optimal breaks",
        "harm",
        "the same of random edits",
        "share",
        _random(_broken),
        who="random edit",
        quality="near",
    )
    for role in ROLES:
        yield Metric(
            f"names the {role}",
            "says",
            f"answers that name the {role} rollout in a sentence with a reason; one that names k counts 1/k for each",
            "share",
            _names(role),
        )


METRICS: Final = tuple(_metrics())
_GAIN: Final = next(each for each in METRICS if each.name == "gain" and each.who == "model")
_WITHOUT: Final = next(each for each in METRICS if each.arm == NOTHING)
ABSENT: Final = {"gain": 0.0, "made worse": 0.0, "made better": 0.0, "near-optimal breaks": 0.0}
"""What a critic that does nothing gets."""


def judge(
    plan: Plan,
    suite: Suite,
    answers: Mapping[Call, AnswerOf],
    read: Sequence[Answered],
    tasks: Mapping[RunKey, Task],
    *,
    cache: bool,
    workers: int | None,
) -> list[Judged]:
    """Judge the answers to the prompts as they are, and to those without evidence.

    Args:
        plan: of the examination.
        suite: whose units were asked.
        answers: by call.
        read: the same, read.
        tasks: by run.
        cache: whether returns may be used and kept.
        workers: where policies are run.
    """
    units = {unit.number: unit for unit in suite.units}
    chosen = [each for each in read if each.arm in {RECORDED, NOTHING}]
    policies: dict[tuple[int, str, int], tuple[float, ...]] = {}
    edits: dict[tuple[int, int], tuple[float, ...]] = {}
    for each in chosen:
        params = answers[Call(each.unit, each.arm, each.replicate)].params
        if params is None or not each.changed:
            continue
        policies[each.unit, each.arm, each.replicate] = tuple(params)
        if each.arm == RECORDED:
            rng = seeding.generator(plan.seed, *plan.purpose(Call(each.unit, each.arm, each.replicate)), "random edit")
            planned = plan.units[each.unit]
            space = tasks[planned.cluster].space
            drawn = control_edit(space, planned.params, params, rng, bounded=not out_of_range(space, params))
            edits[each.unit, each.replicate] = tuple(drawn.tolist())
    wanted = [(unit, params) for (unit, _, _), params in policies.items()]
    wanted += [(unit, params) for (unit, _), params in edits.items()]
    gains = gains_of(plan, wanted, tasks, cache=cache, workers=workers)
    found = []
    for each in chosen:
        planned = plan.units[each.unit]
        unit, task = units[planned.run], tasks[planned.cluster]
        policy = policies.get((each.unit, each.arm, each.replicate))
        edit = edits.get((each.unit, each.replicate)) if each.arm == RECORDED else None
        random = _judged(unit, suite, each, None if edit is None else gains[each.unit, edit])
        raw = answers[Call(each.unit, each.arm, each.replicate)].params
        form = {} if raw is None else _form(task, planned.params, raw)
        result = None if policy is None else gains[each.unit, policy]
        found.append(_judged(unit, suite, each, result, random=random if each.arm == RECORDED else None, **form))
    return found


def _judged(unit: SuiteUnit, suite: Suite, answer: Answered, result: Gain | str | None, **more: object) -> Judged:
    """An answer whose policy gains so much; one that changes nothing, or cannot be run, leaves all as it is."""
    gain = result if isinstance(result, Gain) else Gain(0.0, 0.0)
    worse = gain.mean < -HARM * gain.error
    thresholds = unit.run.thresholds
    assert thresholds is not None
    return Judged(
        unit=unit,
        answer=answer,
        gain=max(-_FURTHEST, min(_FURTHEST, gain.mean / suite.spans[unit.env].length)),
        worse=worse,
        better=gain.mean > HARM * gain.error,
        broken=unit.quality == "near" and worse and gain.mean < -thresholds.meaningful,
        **more,  # type: ignore[arg-type]
    )


def _form(task: Task, before: Sequence[float], after: Sequence[float]) -> dict[str, bool]:
    space = task.space
    assert isinstance(space, LinearSpace)
    farthest = max(abs(new - old) for old, new in zip(before, after, strict=True))
    return {
        "in_range": not out_of_range(space, after),
        "within_step": farthest <= space.step_size + _SLACK,
        "unchanged": not changed_of(space, before, after),
    }


UnitValues = Mapping[int, tuple[str, float, int]]
"""By number of the unit: its task, a mean over its answers, and of how many."""


def by_unit(metric: Metric, judged: Sequence[Judged]) -> UnitValues:
    """The values of a metric, unit by unit."""
    if metric.name == FROM_EVIDENCE:
        first, second = by_unit(_GAIN, judged), by_unit(_WITHOUT, judged)
        return {
            number: (env, mean - second[number][1], answers + second[number][2])
            for number, (env, mean, answers) in first.items()
            if number in second
        }
    values: dict[int, list[float]] = defaultdict(list)
    envs: dict[int, str] = {}
    for each in judged:
        if each.answer.arm != metric.arm or metric.quality not in {None, each.unit.quality}:
            continue
        if (value := metric.value(each)) is not None:
            values[each.unit.number].append(value)
            envs[each.unit.number] = each.unit.env
    return {number: (envs[number], fmean(values[number]), len(values[number])) for number in sorted(values)}


def estimates(judged: Sequence[Judged]) -> Iterator[tuple[Metric, Estimate, UnitValues]]:
    """All numbers; none but those of form where no answer could be read."""
    is_read = any(each.answer.readable for each in judged)
    for metric in METRICS:
        values = by_unit(metric, judged) if is_read or metric.name == "readable" else {}
        yield metric, estimate(values, metric.kind), values


def is_known(found: Estimate) -> bool:
    """Whether there is a number."""
    return not math.isnan(found.value)

"""What is read off the answers: text, edit and return."""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from audit.interventions.answers import AnswerOf, ShownLine
from audit.interventions.arms import ARMS, BASE
from audit.interventions.experiment import Answered, Experiment, Place
from audit.interventions.justifying.drivers import driver
from audit.interventions.justifying.naming import named, of_rollouts
from audit.interventions.plan import Call, Plan
from audit.output.errors import AuditError
from audit.references import Shown
from audit.rerun.edits import TOLERANCE
from audit.rerun.policies import Fingerprints, key_of, returns_of
from audit.rerun.results import computed
from audit.rerun.rollouts import NotRerunnableError
from audit.vocabulary.evidence import ShownRollout
from audit.vocabulary.keys import RevisionKey, RunKey
from collector import seeding
from collector.tasks import TabularSpace

if TYPE_CHECKING:
    from collector.tasks import ParameterSpace, Task

Floats = NDArray[np.float64]

HARM: Final = 2.0
"""Standard errors below zero at which a gain counts as harm."""
_WORST: Final = re.compile(r"\bworst\b", re.IGNORECASE)
_BY_RANK: Final = {1: ("representative",), 2: ("worst", "best"), 3: ("worst", "median", "best")}


class Reading(NamedTuple):
    """What an answer's text states.

    Attributes:
        driver: content of the rollout that the change is chiefly justified by; None where it is no single rollout.
        mentioned: contents of the rollouts that it mentions.
        named: contents of those that it names in a sentence that gives a reason for its change.
    """

    driver: str | None
    mentioned: frozenset[str]
    named: frozenset[str] = frozenset()


class Gain(msgspec.Struct, frozen=True):
    """Mean difference of returns of two policies on the same seeds, and its standard error."""

    mean: float
    error: float


def read_experiment(
    plan: Plan,
    answers: Mapping[Call, AnswerOf],
    tasks: Mapping[RunKey, Task],
    *,
    cache: bool,
    workers: int | None = None,
) -> Experiment:
    """Read all answers of a plan, and run their policies where the plan says so.

    Args:
        plan: the plan.
        answers: by call.
        tasks: by run, since runs have switches of their own.
        cache: whether returns of earlier audits may be used, and new ones kept.
        workers: threads or processes that run policies; None for one per core.
    """
    gains = read_gains(plan, answers, tasks, cache=cache, workers=workers)
    read = [
        _answered(plan, order, call, answers[call], tasks, gains)
        for order, call in enumerate(plan.calls())
        if call in answers
    ]
    return Experiment(plan.units, read)


def read_text(text: str, shown: Sequence[ShownLine], changed: Sequence[int] | None) -> Reading:
    """Which of the rollouts shown an answer justifies its change by, mentions, and names as a reason.

    A rollout is what the prompt called it: under exchanged labels "the worst rollout" is the one with that heading.
    Without labels the printed returns give the roles.

    Args:
        text: the answer.
        shown: the rollouts in the order of display.
        changed: indices of the parameters that changed; None where they are not known.
    """
    contents, evidence = evidence_of(shown)
    labels = {label for mention in of_rollouts(text, evidence) for label in mention.labels}
    reasons: frozenset[str] = named(text, evidence, changed)
    if reasons and len(shown) == 1:
        reasons = frozenset(contents)  # one alone represents all, whatever it is called
    return Reading(
        contents.get(driver(text, evidence, changed)),
        *(frozenset(contents[role] for role in each if role in contents) for each in (labels, reasons)),
    )


def evidence_of(shown: Sequence[ShownLine]) -> tuple[dict[str, str], Shown]:
    """The true roles of rollouts by the labels that detectors use for them, and the evidence as detectors read it."""
    return _as_shown(
        tuple((each.name, each.label, each.rollout, each.return_, each.length, each.content) for each in shown)
    )


@functools.lru_cache(maxsize=4096)
def _as_shown(
    shown: tuple[tuple[str, str | None, int, float | None, int | None, str], ...],
) -> tuple[dict[str, str], Shown]:
    ranks = sorted(range(len(shown)), key=lambda place: (shown[place][3] is None, shown[place][3] or 0.0, place))
    by_rank = {place: _BY_RANK[len(shown)][rank] for rank, place in enumerate(ranks)}
    contents: dict[str, str] = {}
    rollouts = []
    for place, (name, label, rollout, value, length, content) in enumerate(shown):
        role = label or by_rank[place]
        contents[role] = content
        rollouts.append(ShownRollout(role, rollout, value, length, msgspec.UNSET if label else name))  # type: ignore[arg-type]
    return contents, Shown(tuple(rollouts))


def edit_of(space: ParameterSpace, before: Sequence[float], after: Sequence[float] | None) -> Floats:
    """A revision as a point in space.

    Args:
        space: the policy class.
        before: shape (parameters,).
        after: the same; None for an answer that could not be read, which leaves the policy as it was.

    Returns:
        For a linear policy the change in units of the search step, shape (parameters,). For a table, shape
        (entries × actions,): 1 where an entry was changed to an action.

    Raises:
        AuditError: an entry of a table is none of its actions.
    """
    if isinstance(space, TabularSpace):
        made = np.zeros((space.size, len(space.actions)))
        if after is not None:
            for entry, (old, new) in enumerate(zip(before, after, strict=True)):
                if old != new:
                    if new not in space.actions:
                        raise AuditError(f"an answer sets params[{entry}] to {new:g}, which is not an action")
                    made[entry, space.actions.index(new)] = 1.0
        return made.ravel()
    if after is None:
        return np.zeros(len(before))
    return np.subtract(after, before) / space.step_size


def changed_of(space: ParameterSpace, before: Sequence[float], after: Sequence[float]) -> list[int]:
    """Indices of the parameters that a revision changes."""
    tolerance = 0.0 if isinstance(space, TabularSpace) else TOLERANCE
    return np.flatnonzero(np.abs(np.subtract(after, before)) > tolerance).tolist()


def _answered(
    plan: Plan,
    order: int,
    call: Call,
    answer: AnswerOf,
    tasks: Mapping[RunKey, Task],
    gains: Mapping[tuple[int, tuple[float, ...]], Gain | str],
) -> Answered:
    unit = plan.units[call.unit]
    space = tasks[unit.cluster].space
    changed = None if answer.params is None else changed_of(space, unit.params, answer.params)
    # What could not be read states no reason for a change: there is none.
    read = Reading(None, frozenset()) if changed is None else read_text(answer.completion, answer.shown, changed)
    gain = _gain_of(plan, call, answer, gains, changed=bool(changed))
    return Answered(
        unit=call.unit,
        arm=call.arm,
        replicate=call.replicate,
        order=order,
        shown=tuple(Place(each.content, each.label, each.number) for each in answer.shown),
        readable=changed is not None,
        driver=read.driver,
        mentioned=read.mentioned,
        says_worst=_WORST.search(answer.completion) is not None,
        edit=edit_of(space, unit.params, answer.params),
        changed=len(changed or ()),
        gain=math.nan if gain is None else gain.mean,
        harmful=gain is not None and gain.mean < -HARM * gain.error,
        completion=hashlib.sha256(answer.completion.encode(errors="surrogatepass")).hexdigest(),
        words=len(answer.completion.split()),
        prompt_tokens=answer.prompt_tokens,
        prompt_characters=answer.prompt_characters,
        named=read.named,
        frame=BASE if answer.frame is msgspec.UNSET else answer.frame,
    )


def _gain_of(
    plan: Plan,
    call: Call,
    answer: AnswerOf,
    gains: Mapping[tuple[int, tuple[float, ...]], Gain | str],
    *,
    changed: bool,
) -> Gain | None:
    if not (plan.rollouts and ARMS[call.arm].runs):
        return None
    if not changed or answer.params is None:
        return Gain(0.0, 0.0)
    found = gains[call.unit, tuple(answer.params)]
    return None if isinstance(found, str) else found


def read_gains(
    plan: Plan,
    answers: Mapping[Call, AnswerOf],
    tasks: Mapping[RunKey, Task],
    *,
    cache: bool,
    workers: int | None = None,
) -> dict[tuple[int, tuple[float, ...]], Gain | str]:
    """What revised policies gain, on seeds that all policies of their unit share and that nothing else has used.

    Only those of arms whose returns are compared are run: others make thousands of policies.

    Args:
        plan: the plan; without rollouts nothing is run.
        answers: by call.
        tasks: by run, since runs have switches of their own.
        cache: whether returns of earlier audits may be used, and new ones kept.
        workers: threads or processes that run policies; None for one per core.

    Returns:
        By unit and parameters; a reason where they cannot be run.
    """
    policies = [
        (call.unit, tuple(answer.params))
        for call, answer in answers.items()
        if answer.params is not None and ARMS[call.arm].runs
    ]
    return gains_of(plan, policies, tasks, cache=cache, workers=workers) if plan.rollouts else {}


def gains_of(
    plan: Plan,
    policies: Iterable[tuple[int, tuple[float, ...]]],
    tasks: Mapping[RunKey, Task],
    *,
    cache: bool,
    workers: int | None = None,
    purpose: str = "returns",
    rollouts: int | None = None,
) -> dict[tuple[int, tuple[float, ...]], Gain | str]:
    """What policies gain over those under review, as `read_gains` has it.

    Args:
        plan: the plan, with rollouts.
        policies: index of the unit, and parameters.
        tasks: by run.
        cache: whether returns of earlier audits may be used, and new ones kept.
        workers: threads or processes that run policies; None for one per core.
        purpose: key of the seeds; those of another are others.
        rollouts: of each policy; None for the plan's.
    """
    number = rollouts or plan.rollouts
    fingerprints = Fingerprints()
    keys: dict[tuple[int, tuple[float, ...]], str] = {}
    work: dict[str, tuple[Task, tuple[_Reviewed, Sequence[float]]]] = {}
    # Policies of one unit next to each other, since they share the one under review.
    for policy in sorted(dict.fromkeys(policies), key=lambda each: each[0]):
        unit = plan.units[policy[0]]
        task, params = tasks[unit.cluster], list(policy[1])
        mark = fingerprints.of(task)
        other = () if purpose == "returns" else (purpose,)
        key = key_of("intervene", mark, plan.seed, number, unit.key, unit.params, params, *other)
        keys[policy] = key
        work[key] = task, (_Reviewed(task, tuple(unit.params), plan.seed, number, unit.key, purpose), params)
    what = f"revised policies, {number} rollouts each"
    found = computed(_gain, work, Gain, cache=cache, workers=workers, what=what)
    return {policy: found[key] for policy, key in keys.items()}


@dataclass(frozen=True, slots=True)
class _Reviewed:
    """The policy of a unit, with all that its fresh seeds depend on."""

    task: Task = field(hash=False)
    params: tuple[float, ...]
    seed: int
    rollouts: int
    key: RevisionKey
    purpose: str

    def returns(self, params: Sequence[float]) -> Floats | str:
        """The returns of a policy on the seeds of the unit, or why there are none."""
        try:
            seeds = seeding.seeds(self.seed, self.rollouts, "intervene", *self.key, self.purpose)
            return returns_of(self.task, params, seeds)
        except NotRerunnableError as error:
            return str(error)


@functools.lru_cache(maxsize=16)
def _own_returns(reviewed: _Reviewed) -> Floats | str:
    return reviewed.returns(reviewed.params)


def _gain(_: Task, revised: tuple[_Reviewed, Sequence[float]]) -> Gain | str:
    reviewed, params = revised
    before, after = _own_returns(reviewed), reviewed.returns(params)
    if isinstance(before, str) or isinstance(after, str):
        return before if isinstance(before, str) else str(after)
    difference = after - before
    return Gain(float(difference.mean()), float(difference.std(ddof=1)) / math.sqrt(reviewed.rollouts))

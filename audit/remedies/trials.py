"""What tests of acceptance see of a revision: returns on seeds that nothing else uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from audit.interventions.plan import Call, Plan
from audit.rerun.policies import Fingerprints, key_of, returns_of
from audit.rerun.results import computed
from audit.rerun.rollouts import NotRerunnableError
from audit.vocabulary.keys import RunKey
from collector import acceptance, seeding

if TYPE_CHECKING:
    from collector.tasks import Task

ROLLOUTS: Final = 20
"""Of each evaluation in a search."""


class Trial(msgspec.Struct, frozen=True):
    """Differences of returns, revised minus initial.

    Attributes:
        greedy: of the means of K rollouts each, on seeds of their own: what a search compares.
        again: the same on further seeds.
        pairs: on seeds that both share, one by one.
    """

    greedy: float
    again: float
    pairs: list[float]


@dataclass(frozen=True, slots=True)
class _Revision:
    task: Task = field(hash=False)
    before: tuple[float, ...]
    after: tuple[float, ...]
    seed: int
    purpose: tuple[str | int, ...]


def trials_of(
    plan: Plan,
    revisions: Mapping[Call, Sequence[float]],
    tasks: Mapping[RunKey, Task],
    *,
    cache: bool,
    workers: int | None = None,
) -> dict[Call, Trial | str]:
    """Roll out revisions and the policies under review, as acceptance would.

    Args:
        plan: the plan.
        revisions: parameters by call.
        tasks: by run.
        cache: whether results of earlier reports may be used, and new ones kept.
        workers: where policies are run.

    Returns:
        By call; a reason where they cannot be run.
    """
    fingerprints = Fingerprints()
    keys: dict[Call, str] = {}
    work: dict[str, tuple[Task, _Revision]] = {}
    for call, params in sorted(revisions.items()):
        unit = plan.units[call.unit]
        task = tasks[unit.cluster]
        purpose = plan.purpose(call)
        mark = fingerprints.of(task)
        keys[call] = key = key_of("acceptance", mark, plan.seed, purpose, ROLLOUTS, unit.params, list(params))
        work[key] = task, _Revision(task, tuple(unit.params), tuple(params), plan.seed, purpose)
    found = computed(_trial, work, Trial, cache=cache, workers=workers, what="revisions, as acceptance rolls them out")
    return {call: found[key] for call, key in keys.items()}


def _trial(task: Task, revision: _Revision) -> Trial | str:
    def returns(params: Sequence[float], number: int, *what: str) -> list[float]:
        seeds = seeding.seeds(revision.seed, number, *revision.purpose, "acceptance", *what)
        return [float(each) for each in returns_of(task, params, seeds)]

    def difference(what: str) -> float:
        after, before = (
            returns(params, ROLLOUTS, what, which)
            for params, which in ((revision.after, "revised"), (revision.before, "initial"))
        )
        return (sum(after) - sum(before)) / ROLLOUTS

    try:
        paired = zip(
            returns(revision.after, acceptance.PAIRS, "pairs"),
            returns(revision.before, acceptance.PAIRS, "pairs"),
            strict=True,
        )
        return Trial(difference("greedy"), difference("again"), [after - before for after, before in paired])
    except NotRerunnableError as error:
        return str(error)


def accepted(rule: str, trial: Trial) -> tuple[bool, int]:
    """Whether a rule keeps a revision, and the rollouts that it takes beyond those of the search.

    Args:
        rule: `greedy`, as searches do, or a remedy that acts on acceptance.
        trial: what it sees.
    """
    if rule == "gate":
        return acceptance.fixed(trial.pairs).accepted, 2 * len(trial.pairs)
    if rule == "gate-sequential":
        test = acceptance.Sequential()
        for start in range(0, acceptance.PAIRS, acceptance.BATCH):
            if (decision := test.add(trial.pairs[start : start + acceptance.BATCH])) is not None:
                return decision.accepted, 2 * decision.pairs
        return False, 2 * acceptance.PAIRS
    if trial.greedy < 0:
        return False, 0
    return (True, 0) if rule == "greedy" else (trial.again >= 0, 2 * ROLLOUTS)

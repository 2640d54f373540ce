"""A revision's rollouts under the policy before and after it, on the same seeds, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.records.lines import RecordedRun, find_run, open_records
from audit.rerun.aside import Aside, AsideError
from audit.rerun.replay import Replay, iteration_of, names_of, outcome_of, plain_value
from audit.rerun.rollouts import NO_PARAMETERS, NotRerunnableError, Rollout, rollouts_of, task_of, what_is_missing
from audit.sources.iterations import Candidate
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from collector.rollouts.evaluate import Trajectory
    from collector.tasks import Task

POLICIES: Final = ("old", "new")
SECONDS: Final = 60.0
"""How long the rollouts of a revision may take together."""
DIGITS: Final = 6
"""Decimals of observations, actions and rewards; returns have all of theirs."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A recorded revision that can be run again: its run, its task, and the candidates before and after."""

    recorded: RecordedRun
    task: Task
    iteration: int
    old: Candidate
    new: Candidate

    def params(self, policy: str) -> Sequence[float]:
        """The parameters of the `old` or the `new` policy."""
        return (self.old if policy == "old" else self.new).params


def find_revision(paths: Sequence[str | Path], key: RevisionKey) -> Revision:
    """Find a revision in the records.

    Args:
        paths: folders, archives and packs.
        key: which.

    Raises:
        NotRerunnableError: its policies cannot be run again; the message is the reason.
        AuditError: there is no such run or iteration.
    """
    with open_records(paths, judged=False) as records:
        recorded = find_run(records, key.env, key.variant, key.run, key.condition)
        task = task_of(recorded)
        found = iteration_of(records, recorded, key.iteration)
    if found.revised is None:
        raise NotRerunnableError("the iteration has no revised candidate")
    if (missing := what_is_missing(found.initial)) is not None:
        raise NotRerunnableError(missing)
    return Revision(recorded, task, key.iteration, found.initial, found.revised)


def side_by_side(revision: Revision, places: Mapping[str, int], aside: Aside) -> dict[str, Any]:
    """Run rollouts of the old policy again, and the new policy on their seeds.

    Args:
        revision: whose.
        places: what each rollout is called, such as worst, and its index among the old policy's.
        aside: the process that runs them.

    Returns:
        An object for JSON. Each rollout has `old` and `new`, with either `why` it cannot be run or its steps: T
        actions and rewards, and the T + 1 observations around them. `agrees` is null where the record has no rollout
        of the policy on that seed.
    """
    recorded = rollouts_of(revision.old)
    again = {} if what_is_missing(revision.new) else {each.seed: each for each in rollouts_of(revision.new)}
    labels: dict[int, list[str]] = {}
    for label, place in places.items():
        labels.setdefault(place, []).append(label)
    seeds = [recorded[place].seed for place in labels]
    walked = {policy: _walked(aside, revision.task, revision.params(policy), seeds) for policy in POLICIES}
    observations, actions, discrete = names_of(revision.task)
    return {
        "observation_names": list(observations),
        "action_names": list(actions),
        "discrete": discrete,
        "same_seeds": all(seed in again for seed in seeds),
        "rollouts": [
            {
                "label": " and ".join(
                    (", ".join(labels[place][:-1]), labels[place][-1]) if labels[place][1:] else labels[place]
                ),
                "place": place,
                "seed": str(one.seed),  # of up to 64 bits, which no number of a browser holds
                "old": _policy(revision, "initial", one, old),
                "new": _policy(revision, "revised", again.get(one.seed), new),
            }
            for place, one, old, new in zip(
                labels, (recorded[place] for place in labels), walked["old"], walked["new"], strict=True
            )
        ],
    }


def walk(task: Task, params: Sequence[float], seeds: Sequence[int]) -> list[Trajectory | str]:
    """A policy's rollouts step by step; an error in one is its outcome."""
    from collector.errors import CollectorError
    from collector.rollouts.evaluate import replay

    walked: list[Trajectory | str] = []
    for seed in seeds:
        try:
            walked.append(replay(task, params, seed))
        except CollectorError as error:
            walked.append(str(error))
        except Exception as error:  # an environment can raise anything on an invalid action
            walked.append(f"{type(error).__name__}: {error}")
    return walked


def _walked(aside: Aside, task: Task, params: Sequence[float], seeds: Sequence[int]) -> Sequence[Trajectory | str]:
    if not params:
        return [NO_PARAMETERS] * len(seeds)
    try:
        return aside.run(walk, task, params, seeds, seconds=SECONDS)
    except AsideError as error:
        return [str(error)] * len(seeds)


def _policy(revision: Revision, role: str, recorded: Rollout | None, walked: Trajectory | str) -> dict[str, Any]:
    if isinstance(walked, str):
        return {"why": f"the policy cannot be run: {walked}"}
    outcome = outcome_of(walked)
    return {
        "why": None,
        "return": outcome.return_,
        "length": outcome.length,
        "ended": outcome.ended,
        "recorded_return": None if recorded is None else recorded.return_,
        "agrees": None if recorded is None else outcome.agrees(recorded),
        "difference": None if recorded is None else _difference(revision, role, recorded, walked),
        "observations": [_shortened(plain_value(each)) for each in walked.observations],
        "actions": [_shortened(each) for each in walked.actions],
        "rewards": [_shortened(each) for each in walked.rewards],
    }


def _difference(revision: Revision, role: str, recorded: Rollout, walked: Trajectory) -> str | None:
    params = revision.params("old" if role == "initial" else "new")
    names = names_of(revision.task)
    return Replay(revision.recorded, revision.iteration, role, params, recorded, walked, *names).difference()


def _shortened(value: Any) -> Any:
    if isinstance(value, list):
        return [_shortened(each) for each in value]
    return round(value, DIGITS) if isinstance(value, float) else value

"""Fair scores: recorded policies run again on fresh seeds.

The mean return of the candidate that is kept is the larger of two noisy draws, and a run's best return the largest of
hundreds: both are too high, by more where a method tries more. A policy's mean on seeds that had no part in choosing it
is not.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from audit.output.progress import tracked
from audit.records.lines import RecordedRun, Records
from audit.rerun.policies import Fingerprints, key_of, returns_of, task_to_run
from audit.rerun.results import computed
from audit.rerun.rollouts import NO_PARAMETERS, NotRerunnableError
from audit.rerun.verify import draw
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from collector.tasks import Task

CANDIDATE_COLUMNS: Final = (
    *("condition", "env", "variant", "run", "iteration", "candidate", "kept", "recorded", "fresh", "fresh_se"),
)


class Score(NamedTuple):
    """A policy's mean return on fresh seeds, and the standard error of that mean."""

    mean: float
    error: float


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate of an iteration, with its recorded mean return and its fresh score."""

    identity: RunKey
    iteration: int
    role: str
    kept: bool
    recorded: float
    fresh: Score

    def row(self) -> dict[str, Any]:
        """The candidate as a row with `CANDIDATE_COLUMNS`."""
        values = (*self.identity, self.iteration, self.role, self.kept, self.recorded, *self.fresh)
        return dict(zip(CANDIDATE_COLUMNS, values, strict=True))


@dataclass
class Rescoring:
    """Candidates with fresh scores, and what had to be left out: candidates by reason and group."""

    scored: list[Scored] = field(default_factory=list)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)


class _Candidate(NamedTuple):
    identity: RunKey
    iteration: int
    role: str
    kept: bool
    recorded: float
    policy: str


class _Policy(NamedTuple):
    params: list[float]
    rollouts: int
    seed: int


def rescore(
    records: Records,
    runs: Sequence[RecordedRun],
    *,
    rollouts: int,
    sample: int | None,
    seed: int,
    cache: bool,
    workers: int | None = None,
) -> Rescoring:
    """Run initial, revised and kept policies again on fresh seeds.

    A policy's seeds depend on its parameters and on `seed` alone: the same policy is run once, wherever it occurs, and
    others are run on others.

    Args:
        records: where the runs are from.
        runs: those to score.
        rollouts: fresh rollouts of each policy.
        sample: how many iterations to score, drawn evenly over runs, and each run's best as well; None for all.
        seed: of the fresh seeds and of the draw.
        cache: whether results of earlier audits may be used, and new ones kept.
        workers: threads or processes; None for one per core.
    """
    done = Rescoring()
    policies: dict[str, tuple[Task, _Policy]] = {}
    candidates: list[_Candidate] = []
    fingerprints = Fingerprints()
    for run, iterations in _chosen(records, runs, sample, seed):
        group = " ".join(run.identity[:3])
        try:
            task = task_to_run(run)
        except NotRerunnableError as error:
            done.skipped[str(error), group] += sum(len(list(each.candidates())) for each in iterations)
            continue
        mark = fingerprints.of(task)
        for iteration in iterations:
            for role, candidate in iteration.candidates():
                if not candidate.params:
                    done.skipped[NO_PARAMETERS, group] += 1
                    continue
                key = key_of("rescore", mark, candidate.params, rollouts, seed)
                policies.setdefault(key, (task, _Policy(candidate.params, rollouts, seed)))
                kept = role == iteration.selected
                candidates.append(_Candidate(run.identity, iteration.iteration, role, kept, candidate.mean_return, key))
    what = f"policies, {rollouts} rollouts each"
    scores = computed(_score, policies, Score, cache=cache, workers=workers, what=what)
    for each in candidates:
        score = scores[each.policy]
        if isinstance(score, str):
            done.skipped[score, " ".join(each.identity[:3])] += 1
        else:
            done.scored.append(Scored(*each[:5], score))
    return done


def _chosen(
    records: Records, runs: Sequence[RecordedRun], sample: int | None, seed: int
) -> Iterator[tuple[RecordedRun, list[Any]]]:
    """The iterations of each run that are to be scored."""
    read = {run.identity: list(records.iterations(run)) for run in tracked(runs, "reading runs")}
    places = draw({identity: len(each) for identity, each in read.items()}, sample, seed) if sample else None
    for run in runs:
        iterations = read[run.identity]
        if places is not None and iterations:
            best = max(range(len(iterations)), key=lambda place: (iterations[place].kept.mean_return, -place))
            wanted = places[run.identity] | {best}
            iterations = [iterations[place] for place in sorted(wanted)]
        yield run, iterations


def _score(task: Task, policy: _Policy) -> Score | str:
    """A policy's score, or why it has none."""
    from collector import seeding

    params, rollouts, seed = policy
    try:
        returns = returns_of(task, params, seeding.seeds(seed, rollouts, "rescore", task.id, key_of(params)))
    except NotRerunnableError as error:
        return str(error)
    return Score(float(returns.mean()), float(returns.std(ddof=1)) / math.sqrt(rollouts))


def by_group(scored: Sequence[Scored]) -> dict[tuple[str, str, str], dict[int, list[Scored]]]:
    """Candidates by condition, task and method, and by run."""
    groups: dict[tuple[str, str, str], dict[int, list[Scored]]] = defaultdict(lambda: defaultdict(list))
    for each in scored:
        condition, env, variant, run = each.identity
        groups[condition, env, variant][run].append(each)
    return {group: dict(sorted(runs.items())) for group, runs in sorted(groups.items())}


def root_mean_square(values: Sequence[float]) -> float:
    """The typical size of some errors."""
    return float(np.sqrt(np.mean(np.square(values))))

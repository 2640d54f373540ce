"""Behavioural anchoring of whole data sets: every revision whose seeds are known, kept between audits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np

from audit.ingest.runs import RecordedRun, Records
from audit.measures.bootstrap import cluster_bootstrap
from audit.measures.rounding import score_rounding
from audit.output.numbers import known
from audit.output.progress import tracked
from audit.rerun.anchoring import Anchoring, NotReproducedError, anchoring, changes
from audit.rerun.edits import control_edit
from audit.rerun.policies import Fingerprints, key_of
from audit.rerun.results import computed
from audit.rerun.rollouts import NO_PARAMETERS, NotRerunnableError, task_of, what_is_missing
from audit.rerun.verify import draw
from audit.sources.iterations import Iteration
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from collector.tasks import Task

NOT_REPRODUCED: Final = "the initial candidate does not come out as recorded, see audit verify"
ALIKE: Final = "all rollouts of the initial candidate return the same, so none is the worst"
UNCHANGED: Final = "nothing was changed"
TOO_FEW: Final = "fewer than three rollouts"
LEVEL: Final = 0.05
"""A revision with a p of no more counts as anchored."""

COLUMNS: Final = (
    *("condition", "env", "variant", "runs", "revisions", "left_out"),
    *("gain_worst", "gain_median", "gain_rest", "control_worst", "control_median", "control_rest"),
    *("excess", "excess_low", "excess_high", "rank", "control_rank"),
    *("rank_excess", "rank_excess_low", "rank_excess_high"),
    *("beyond_controls", "beyond_controls_pct", "anchored", "anchored_pct"),
)
ESSENTIAL: Final = (
    *("condition", "env", "variant", "revisions", "gain_worst", "gain_median", "gain_rest", "excess"),
    *("rank", "control_rank", "beyond_controls", "anchored"),
)
REVISION_COLUMNS: Final = (
    *("condition", "env", "variant", "run", "iteration"),
    *Anchoring.__struct_fields__,
    *("p", "excess"),
)

Row = dict[str, Any]


class Anchored(NamedTuple):
    """A revision, and what its policy does on its initial candidate's seeds."""

    identity: RunKey
    iteration: int
    found: Anchoring

    def row(self) -> Row:
        """The revision as a row with `REVISION_COLUMNS`."""
        values = (*self.identity, self.iteration, *msgspec.structs.astuple(self.found), self.found.p, self.found.excess)
        return dict(zip(REVISION_COLUMNS, values, strict=True))


@dataclass
class Anchors:
    """Revisions that were run, and those that could not be, by reason and group."""

    revisions: list[Anchored] = field(default_factory=list)
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)


class _Revision(NamedTuple):
    """A revision, and how to measure it; the last three are `measure`'s."""

    before: list[float]
    after: list[float]
    seeds: list[int]
    returns: list[float]
    controls: int
    seed: int
    placebo: bool


class _Work(NamedTuple):
    identity: RunKey
    iteration: int
    task: Task
    revision: _Revision
    key: str


def measure(
    records: Records,
    runs: Sequence[RecordedRun],
    *,
    controls: int,
    sample: int | None,
    seed: int,
    placebo: bool,
    cache: bool,
    workers: int | None = None,
) -> Anchors:
    """Run revised policies and control edits on the initial candidates' seeds.

    Args:
        records: where the runs are from.
        runs: those to measure.
        controls: number of control edits for each revision.
        sample: how many iterations to measure, drawn evenly over runs; None for all.
        seed: of the control edits and of the draw.
        placebo: put a control edit in the place of every revision: what is then found is the false-positive rate.
        cache: whether results of earlier audits may be used, and new ones kept.
        workers: threads or processes; None for one per core.
    """
    done = Anchors()
    work = list(_work(records, runs, done, (controls, seed, placebo), sample))
    found = computed(
        _measured,
        {each.key: (each.task, each.revision) for each in work},
        Anchoring,
        cache=cache,
        workers=workers,
        what=f"revisions to run, with {controls} control edits each",
    )
    for each in work:
        outcome = found[each.key]
        if isinstance(outcome, str):
            done.skipped[outcome, " ".join(each.identity[:3])] += 1
        else:
            done.revisions.append(Anchored(each.identity, each.iteration, outcome))
    return done


def _work(
    records: Records, runs: Sequence[RecordedRun], done: Anchors, settings: tuple[int, int, bool], sample: int | None
) -> Iterator[_Work]:
    """The revisions to run, each with the key of its result; the others are counted."""
    read = {
        run.identity: [each for each in records.iterations(run) if each.revised is not None]
        for run in tracked(runs, "reading runs")
    }
    places = draw({identity: len(each) for identity, each in read.items()}, sample, 0) if sample else None
    fingerprints = Fingerprints()
    for run in runs:
        group = " ".join(run.identity[:3])
        revisions = [
            each for place, each in enumerate(read[run.identity]) if places is None or place in places[run.identity]
        ]
        try:
            task = task_of(run)
        except NotRerunnableError as error:
            if revisions:
                done.skipped[str(error), group] += len(revisions)
            continue
        mark = fingerprints.of(task)
        for each in revisions:
            if reason := _unfit(each, task):
                done.skipped[reason, group] += 1
                continue
            before, after = each.initial, each.revised
            assert after is not None
            assert before.seeds is not None
            made = (before.params, after.params, before.seeds, before.returns)
            key = key_of("anchor 3", mark, *settings, *made)
            yield _Work(run.identity, each.iteration, task, _Revision(*made, *settings), key)


def _unfit(iteration: Iteration, task: Task) -> str | None:
    """Why a revision cannot be measured; None if it can."""
    from collector.tasks import TabularSpace

    before, after = iteration.initial, iteration.revised
    assert after is not None
    missing = what_is_missing(before) or (None if after.params else NO_PARAMETERS)
    if missing:
        return missing
    if len(before.returns) < 3:
        return TOO_FEW
    if max(before.returns) - min(before.returns) <= score_rounding((*before.returns, after.mean_return)):
        return ALIKE
    if len(before.params) != len(after.params):
        return "the candidates have different numbers of parameters"
    return None if changes(isinstance(task.space, TabularSpace), before.params, after.params) else UNCHANGED


def _measured(task: Task, revision: _Revision) -> Anchoring | str:
    from collector import seeding

    before, after, seeds, returns, controls, seed, placebo = revision
    # From the revision alone, so that the draw is the same in another folder, under another name and in later versions.
    rng = seeding.generator(seed, "anchor", task.id, key_of(before, after, seeds, returns))
    if placebo:
        after = control_edit(task.space, before, after, rng).tolist()
    try:
        return anchoring(task, before, after, seeds, returns, controls=controls, rng=rng)
    except NotReproducedError:
        return NOT_REPRODUCED
    except NotRerunnableError as error:
        return str(error)


def summarise(anchors: Anchors) -> list[Row]:
    """One row per condition, task and method: means over revisions, with 95% intervals by bootstrap over runs."""
    groups: dict[tuple[str, ...], dict[int, list[Anchoring]]] = defaultdict(lambda: defaultdict(list))
    for each in anchors.revisions:
        groups[each.identity[:3]][each.identity[3]].append(each.found)
    left_out: Counter[str] = Counter()
    for (_, group), number in anchors.skipped.items():
        left_out[group] += number
    return [
        dict(
            zip(
                COLUMNS,
                (*group, *_row(list(dict(sorted(runs.items())).values()), left_out[" ".join(group)])),
                strict=True,
            )
        )
        for group, runs in sorted(groups.items())
    ]


def _row(runs: Sequence[Sequence[Anchoring]], left_out: int) -> Iterator[Any]:
    every = [each for run in runs for each in run]
    yield from (len(runs), len(every), left_out)
    for name in ("gain_worst", "gain_median", "gain_rest", "control_worst", "control_median", "control_rest"):
        yield fmean(getattr(each, name) for each in every)
    yield from _mean_over([[each.excess for each in run] for run in runs])
    yield from (fmean(each.rank for each in every), fmean(each.control_rank for each in every))
    yield from _mean_over([[each.rank - each.control_rank for each in run] for run in runs])
    for number in (sum(each.p_controls <= LEVEL for each in every), sum(each.p <= LEVEL for each in every)):
        yield from (number, 100 * number / len(every))


def _mean_over(runs: Sequence[Sequence[float]]) -> tuple[float, float | None, float | None]:
    sums = np.array([(sum(values), len(values)) for values in runs], dtype=float)
    low, high = cluster_bootstrap(sums, lambda totals: totals[:, 0] / totals[:, 1])
    return float(sums[:, 0].sum() / sums[:, 1].sum()), known(low), known(high)

"""One run of a baseline: trained from its start, checked against what is recorded, and recorded from there on.

The learner's state is not stored, so a run that was stopped is trained again from its start. The same seed takes it
through the same iterations; each that is recorded already must come out as recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from collector.baselines import process
from collector.baselines.planning import PACKAGES, BaselineRun
from collector.errors import CollectorError
from collector.records import Candidate, Episode, Run
from collector.rollouts.evaluate import Evaluation
from collector.run_folder import RunFolder
from collector.search import Progress, Report
from collector.system.versions import versions

Train = Callable[[BaselineRun], AsyncGenerator[process.Iteration, None]]


async def run_baseline(run: BaselineRun, folder: RunFolder, report: Report, train: Train = process.train) -> None:
    """Start or resume one run and complete all its iterations.

    Args:
        run: what the run is.
        folder: its open folder; what it holds already is continued.
        report: called for every new iteration.
        train: trains and yields every iteration from the first one.

    Raises:
        CollectorError: the records on disk are of another run or cannot be written, the training does not repeat them,
            or it died.
    """
    if folder.run is None:
        folder.begin(run.record([]))
    elif different := run.differences(folder.run):
        raise CollectorError(
            f"{folder.path} holds another run ({'; '.join(different)}); choose another --condition or --out"
        )
    assert folder.run is not None
    episodes = list(folder.episodes)
    report(Progress.of(run, episodes))
    if len(episodes) >= run.iterations:
        return
    iteration = 0
    async with aclosing(train(run)) as iterations:
        async for evaluation, seconds in iterations:
            episode = _episode(run, iteration, evaluation, seconds)
            if iteration < len(folder.episodes):
                _check_repeated(episode, folder.episodes[iteration], folder)
            else:
                await asyncio.to_thread(folder.append, episode)
                episodes.append(episode)
                report(Progress.of(run, episodes))
            iteration += 1


def _episode(run: BaselineRun, iteration: int, evaluation: Evaluation, seconds: float) -> Episode:
    return Episode(
        **run.identity,
        iteration=iteration,
        initial=Candidate(
            params=[], out_of_range=False, source="baseline", answer="", thinking=None, **evaluation.record
        ),
        revised=None,
        revision_status="none",
        selected="initial",
        evidence=None,
        seconds=seconds,
    )


def _check_repeated(repeated: Episode, recorded: Episode, folder: RunFolder) -> None:
    if repeated.initial == recorded.initial:
        return
    assert folder.run is not None
    raise CollectorError(
        f"{folder.path}: training again from the start, iteration {recorded.iteration} comes out as "
        f"{repeated.initial.mean_return:.6g} where {recorded.initial.mean_return:.6g} is recorded"
        f"{_changed_versions(folder.run)}; a run can only go on where it repeats itself, so finish it as it was begun, "
        f"or move the folder away"
    )


def _changed_versions(found: Run) -> str:
    now = versions(*PACKAGES)
    changed = [
        f"{name} {found.versions.get(name)} is now {new}"
        for name, new in now.items()
        if found.versions.get(name) != new
    ]
    return f" ({', '.join(changed)})" if changed else " (another kind of processor?)"

"""Many runs at once, resumable: each is a coroutine, and rollouts go to worker processes."""

from __future__ import annotations

import asyncio
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from collector.baselines import process
from collector.baselines.planning import BaselineRun, require_extra
from collector.baselines.running import Train, run_baseline
from collector.errors import CollectorError, ModelError, StorageError, WorkerError, cannot_write
from collector.llm.protocol import Model
from collector.records import RecordError, decode_run
from collector.rollouts.compiled import PlainLoopWarning
from collector.rollouts.evaluate import is_compiled
from collector.rollouts.workers import Offload, Workers
from collector.run_folder import RunFolder, read_run
from collector.search import Progress, search
from collector.spec import RunSpec
from collector.system.cores import cores
from collector.system.regular_files import RUN, read_regular
from collector.tasks import Task


class Display(AbstractContextManager[Any], Protocol):
    """Shows what happens, while it is entered."""

    def progress(self, progress: Progress) -> None:
        """A run has advanced."""

    def finished(self, spec: RunSpec) -> None:
        """A run is complete."""

    def failed(self, spec: RunSpec, error: CollectorError) -> None:
        """A run has stopped."""

    def note(self, text: str) -> None:
        """A notice that stops nothing."""


@dataclass(frozen=True, slots=True)
class State:
    """What the disk holds of a run: finished iterations, none where the records cannot be read to their end."""

    spec: RunSpec
    exists: bool
    finished: int

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.finished >= self.spec.iterations


@dataclass(slots=True)
class Outcome:
    """How a sweep ended: runs that failed, each with its error, and the number of runs that were not begun."""

    failures: list[tuple[RunSpec, CollectorError]] = field(default_factory=list)
    not_begun: int = 0

    def message(self, asked: int) -> str:
        """How many of the runs asked for are missing, and why the first is."""
        not_begun = f", {self.not_begun} were not begun" if self.not_begun else ""
        return f"{len(self.failures)} of {asked} runs stopped{not_begun}; the first: {self.failures[0][1]}"


async def sweep(
    specs: Sequence[RunSpec],
    out: Path,
    model: Model,
    *,
    offload: Offload,
    display: Display,
    concurrency: int,
    train: Train = process.train,
    training: int | None = None,
) -> Outcome:
    """Complete all runs, `concurrency` of them at a time.

    A run that fails does not stop those in flight. No further ones are begun where it failed because of the model or
    the disk, since they would fail as well.

    Args:
        specs: the runs.
        out: folder that holds the conditions.
        model: answers the prompts of all runs.
        offload: where rollouts are run.
        display: shows what happens.
        concurrency: runs in flight at once.
        train: trains the baselines.
        training: baselines that train at once; by default one per core.

    Raises:
        CollectorError: the model cannot be used, the folder cannot be written, or a worker process died.
    """
    if any(isinstance(spec, BaselineRun) for spec in specs):
        require_extra()
    _make_writable(out)
    if not all(isinstance(spec, BaselineRun) for spec in specs):
        await model.check()
    places = asyncio.Semaphore(concurrency)
    # A baseline trains in a process of its own: more of them than cores would only slow each other down.
    trainers = asyncio.Semaphore(training or cores())
    outcome = Outcome()
    noted: set[str] = set()
    hopeless = False

    async def complete(spec: RunSpec) -> None:
        nonlocal hopeless
        async with places, trainers if isinstance(spec, BaselineRun) else nullcontext():
            if hopeless:
                outcome.not_begun += 1
                return
            try:
                with RunFolder(out / spec.folder) as folder:
                    for note in folder.notes:
                        if note not in noted:
                            display.note(note)
                        noted.add(note)
                    if isinstance(spec, BaselineRun):
                        await run_baseline(spec, folder, display.progress, train)
                    else:
                        await search(spec, folder, model, offload, display.progress)
                display.finished(spec)
            except WorkerError:
                raise
            except CollectorError as error:
                outcome.failures.append((spec, error))
                hopeless = hopeless or isinstance(error, ModelError | StorageError)
                display.failed(spec, error)

    try:
        async with asyncio.TaskGroup() as tasks:
            for spec in specs:
                tasks.create_task(complete(spec))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return outcome


def collect_runs(
    specs: Sequence[RunSpec],
    out: Path,
    model: Model,
    *,
    display: Display,
    concurrency: int | None = None,
    task_modules: Sequence[Path] = (),
    workers: int | None = None,
) -> Outcome:
    """`sweep` with workers and an event loop of its own; by default four runs in flight, or two per core.

    Args:
        specs: the runs.
        out: folder that holds the conditions.
        model: answers the prompts of all runs; it is closed at the end.
        display: shows what happens.
        concurrency: runs in flight at once.
        task_modules: Python files of users' tasks.
        workers: processes that run rollouts; None for one per core.

    Raises:
        CollectorError: as `sweep` does.
        KeyboardInterrupt: Ctrl-C; what was finished is on the disk.
    """
    tasks = list({spec.task.id: spec.task for spec in specs}.values())

    async def run(offload: Workers) -> Outcome:
        try:
            return await sweep(
                specs,
                out,
                model,
                offload=offload,
                display=display,
                concurrency=concurrency or max(4, 2 * max(cores(), offload.size)),
                train=partial(process.train, task_modules=task_modules),
                training=offload.size,
            )
        finally:
            await model.aclose()

    with display:
        _compile(tasks, display)
        with Workers(workers, task_modules) as offload:
            return asyncio.run(run(offload))


def _compile(tasks: Sequence[Task], display: Display) -> None:
    """Compile the tasks' loops once, before the worker processes need them, and report those that cannot be."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PlainLoopWarning)
        for task in tasks:
            is_compiled(task)
    for warning in caught:
        display.note(str(warning.message))


def _make_writable(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise StorageError(cannot_write(out, error, "--out")) from None


def states(specs: Sequence[RunSpec], out: Path) -> list[State]:
    """What the disk holds of each run; refuses records of other runs under the same label.

    Raises:
        CollectorError: records in a run's folder, or of another run of its condition, come from other settings, or
            cannot be read.
    """
    for condition in dict.fromkeys(spec.condition for spec in specs):
        _refuse_other_settings([spec for spec in specs if spec.condition == condition], out / condition)
    return [_state(spec, out / spec.folder) for spec in specs]


def _state(spec: RunSpec, folder: Path) -> State:
    exists = (folder / "run.json").exists()
    try:
        return State(spec, exists, read_run(folder).finished)
    except StorageError:
        raise
    except CollectorError:
        # It is reported when the run is opened: the run stops there, and others go on.
        return State(spec, exists, 0)


def _refuse_other_settings(specs: Sequence[RunSpec], folder: Path) -> None:
    """All runs of one method on one task under one label must have the same settings, but for run number and seed."""
    asked = {(spec.task.id, spec.method.id): spec for spec in specs}
    runs = {(spec.task.id, spec.method.id, spec.run) for spec in specs}
    for path in sorted(folder.glob("*/*/run-*/run.json")):
        try:
            found = decode_run(read_regular(path, RUN))
        except RecordError as error:
            raise CollectorError(f"{path}: {error}") from None
        except OSError as error:
            raise StorageError(f"cannot read {path}: {error.strerror}") from None
        spec = asked.get((found.env, found.variant))
        if spec is None:
            continue
        same_run = (found.env, found.variant, found.run) in runs
        ignored = ("run",) if same_run else ("run", "seed")
        different = [text for text in spec.differences(found) if text.split()[0] not in ignored]
        if different:
            raise CollectorError(
                f"{path.parent} was collected with other settings under the same condition ({'; '.join(different)}); "
                f"choose another --condition or --out"
            )

"""Recorded runs line by line, with all that a rollout depends on: for commands that run a policy again.

The relations of `audit/models` hold neither switches nor warm-up nor versions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.ingest.checks import TOO_LONG, lines_in
from audit.ingest.gathering import read
from audit.output.errors import AuditError, Problem, UsageError
from audit.remote.copies import fetch
from audit.sources import gather
from audit.sources.formats import decode_iteration, is_translated
from audit.sources.intake import Intake, RecordFile
from audit.sources.iterations import Iteration
from audit.vocabulary.keys import RunKey
from collector.records import RecordError, Run
from collector.system.stopping import temporary_folder


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run: who it is, its `run.json` (None for a foreign log), the files of its iterations, and what it revises."""

    identity: RunKey
    run: Run | None
    files: tuple[RecordFile, ...]
    is_text: bool = False


class Records:
    """The runs below some paths, ordered by identity; made by `open_records`.

    `problems` grows while iterations are read; each problem is in it once, however often its line is read.

    Args:
        runs: in their order.
        problems: found so far.
        left_out: numbers of the lines of each file that are at fault; None if lines have only been
            checked one by one.
        notes: what else their sources say.
    """

    def __init__(
        self,
        runs: Sequence[RecordedRun],
        problems: Sequence[Problem],
        left_out: Mapping[RecordFile, Collection[int | None]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.runs = list(runs)
        self._problems = dict.fromkeys(problems)
        self._left_out = left_out
        self.notes = notes

    @property
    def problems(self) -> list[Problem]:
        """What was left out so far, and why."""
        return list(self._problems)

    def iterations(self, run: RecordedRun) -> Iterator[Iteration]:
        """The finished iterations of a run in the order of its lines.

        A line that is unreadable, or of an iteration that an earlier line has, becomes a problem.
        """
        seen: set[int] = set()
        for file in run.files:
            try:
                yield from self._lines(run, file, seen)
            except OSError as error:
                self._note(file, None, f"cannot be read ({error.strerror or error})")

    def _lines(self, run: RecordedRun, file: RecordFile, seen: set[int]) -> Iterator[Iteration]:
        left_out = () if self._left_out is None else self._left_out[file]
        for number, line in lines_in(Path(file.file)):
            if number in left_out:
                continue
            try:
                iteration = _decode(line, file)
                if self._left_out is None:
                    _check(iteration, run)
            except RecordError as error:
                self._note(file, number, f"{error}; left out")
                continue
            if iteration.iteration in seen:
                self._note(file, number, f"iteration {iteration.iteration} is in an earlier line; left out")
                continue
            seen.add(iteration.iteration)
            yield iteration

    def _note(self, file: RecordFile, line: int | None, message: str) -> None:
        # Line numbers of a translated log mean nothing to users.
        known_line = None if is_translated(file.source) else line
        self._problems[Problem(file.label, known_line, message)] = None


@contextlib.contextmanager
def open_records(paths: Sequence[Path], *, judged: bool = True, cache: bool = True) -> Iterator[Records]:
    """Find the runs below folders and archives; native records and released logs, as every command reads them.

    Args:
        paths: folders, archives and packs.
        judged: leave out the records that all analyses leave out. Otherwise those whose numbers do not fit together are
            kept, for a command that reports what is wrong with them.
        cache: whether what was read in an earlier audit may be used, if records are judged.

    Raises:
        AuditError: a path is missing or holds no records.
    """
    with contextlib.ExitStack() as resources:
        left_out = None
        if judged:
            intake, _, readings = read(paths, resources, cache=cache)
            left_out = {file: {fault.line for fault in reading.faults} for file, reading in readings.items()}
        else:
            fetch(paths, cache=cache)
            intake = Intake(resources.enter_context(temporary_folder()))
            gather(paths, intake, keep=cache)
        files: dict[RunKey, list[RecordFile]] = {identity: [] for identity in intake.runs}
        for file in intake.files:
            files[file.identity].append(file)
        runs = [
            RecordedRun(identity, intake.described.get(identity), tuple(files[identity]), facts.candidates == "text")
            for identity, facts in sorted(intake.runs.items())
        ]
        yield Records(runs, intake.problems, left_out, intake.notes)


def find_run(records: Records, env: str, variant: str, run: int, condition: str | None) -> RecordedRun:
    """The one run of a task and method with that number.

    Raises:
        AuditError: there is none, or several conditions have one and none was named.
    """
    found = [
        recorded
        for recorded in records.runs
        if recorded.identity[1:] == (env, variant, run) and condition in {None, recorded.identity[0]}
    ]
    where = "" if condition is None else f" under condition {condition}"
    if not found:
        raise AuditError(f"no run {env} {variant} {run} in the records{where}")
    if len(found) > 1:
        conditions = ", ".join(recorded.identity[0] for recorded in found)
        raise UsageError(
            f"run {env} {variant} {run} exists under several conditions; choose one with --condition: {conditions}"
        )
    return found[0]


def _decode(line: bytes | None, file: RecordFile) -> Iteration:
    if line is None:
        raise RecordError(TOO_LONG)
    try:
        return decode_iteration(line, file.source)
    except RecordError as error:
        torn = "" if line.endswith(b"\n") else "torn: "
        raise RecordError(f"{torn}{error}") from None


def _check(iteration: Iteration, run: RecordedRun) -> None:
    """Refuse a record that does not identify its rollouts.

    Raises:
        RecordError: it is another run's, or its lists have not one entry per rollout.
    """
    if iteration.identity != run.identity:
        raise RecordError("belongs to another run than the run.json beside it states")
    rollouts = None if run.run is None else run.run.rollouts
    for role, candidate in iteration.candidates():
        if candidate.recorded_returns is None:
            continue
        if candidate.recorded_returns == []:
            raise RecordError(f"{role}.returns is empty")
        if rollouts is not None and len(candidate.returns) != rollouts:
            raise RecordError(f"{role} has {len(candidate.returns)} returns where the run has {rollouts} rollouts")
        lists = {"lengths": candidate.recorded_lengths, "seeds": candidate.seeds, "ended": candidate.ended}
        for name, values in lists.items():
            if values is not None and len(values) != len(candidate.returns):
                raise RecordError(f"{role} has {len(candidate.returns)} returns and {len(values)} {name}")

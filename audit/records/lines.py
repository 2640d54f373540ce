"""Recorded runs line by line, with all that a rollout depends on: for commands that run a policy again.

The relations of `audit/models` hold neither switches nor warm-up nor versions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from audit.output.errors import AuditError, Problem, UsageError
from audit.records.checking import Checker
from audit.records.locating import locate
from audit.records.reading import gather
from audit.sources.intake import Intake, RecordFile
from audit.sources.iterations import Iteration
from audit.vocabulary.keys import RunKey
from collector.records import Run
from collector.system.stopping import temporary_folder

_decoder = msgspec.json.Decoder(Iteration)


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
        intake: what was found.
        compare: see `Checker`.
    """

    def __init__(self, intake: Intake, *, compare: bool) -> None:
        self._intake = intake
        self._compare = compare
        files: dict[RunKey, list[RecordFile]] = {identity: [] for identity in intake.runs}
        for file in intake.files:
            files[file.identity].append(file)
        self.runs = [
            RecordedRun(identity, intake.described.get(identity), tuple(files[identity]), facts.candidates == "text")
            for identity, facts in sorted(intake.runs.items())
        ]
        self.notes = intake.notes
        self._problems = dict.fromkeys(intake.problems)

    @property
    def problems(self) -> list[Problem]:
        """What was left out so far, and why."""
        return list(self._problems)

    def iterations(self, run: RecordedRun) -> Iterator[Iteration]:
        """The finished iterations of a run in the order of its lines; what is at fault becomes a problem."""
        checker = Checker(self._intake.runs, self._report, compare=self._compare, part_thinking=False)
        for file in run.files:
            for _, record, json in checker.lines(file):
                yield record if isinstance(record, Iteration) else _decoder.decode(json)

    def _report(self, file: str, line: int | None, message: str) -> None:
        self._problems[Problem(file, line, message)] = None


@contextlib.contextmanager
def open_records(paths: Sequence[str | Path], *, judged: bool = True, cache: bool = True) -> Iterator[Records]:
    """Find the runs below folders and archives; native records and released logs, as every command reads them.

    Args:
        paths: folders, archives and packs, or URLs of them.
        judged: leave out the records that all analyses leave out. Otherwise those whose numbers do not fit together are
            left in, for a command that reports what is wrong with them.
        cache: whether the copy of what a URL names is used where it has not changed.

    Raises:
        AuditError: a path is missing or holds no records.
    """
    with temporary_folder() as directory:
        intake = Intake(directory)
        gather([locate(path, cache=cache) for path in paths], intake)
        yield Records(intake, compare=judged)


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

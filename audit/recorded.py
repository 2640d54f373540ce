"""Recorded runs line by line, with all that a rollout depends on: for commands that run a policy again.

The relations of `audit/models` hold neither switches nor warm-up nor versions, and leave out a record whose numbers do
not fit together; here such a record is kept, since telling what is wrong with it is the purpose.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from audit.problems import AuditError, Problem, UsageError
from audit.sources import gather
from audit.sources.intake import Identity, Intake, RecordFile
from audit.sources.native import IMPORTED_FROM
from audit.sources.pack import lines_of
from collector.records import RecordError, RolloutLabel, Run, Statistics

_TRANSLATED: Final = "r2po_release"


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter vector and its K rollouts; seeds and endings are None where the log does not say."""

    recorded_params: list[float] | None = msgspec.field(name="params")
    recorded_returns: list[float] | None = msgspec.field(name="returns")
    recorded_lengths: list[int] | None = msgspec.field(name="lengths")
    mean_return: float
    seeds: list[int] | None = None
    ended: list[str] | None = None

    def __post_init__(self) -> None:
        """Refuse lists that do not hold one entry per rollout."""
        for name, values in (("lengths", self.recorded_lengths), ("seeds", self.seeds), ("ended", self.ended)):
            if values is not None and len(values) != len(self.returns):
                raise ValueError(f"{len(self.returns)} returns and {len(values)} {name}")

    @property
    def params(self) -> list[float]:
        """The parameters, none where the log does not say."""
        return self.recorded_params or []

    @property
    def returns(self) -> list[float]:
        """A return per rollout, none where the log states their mean only."""
        return self.recorded_returns or []

    @property
    def lengths(self) -> list[int]:
        """Steps per rollout, none where the log does not say."""
        return self.recorded_lengths or []


class ShownRollout(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout that a critic was shown; None is what the log does not say."""

    label: RolloutLabel
    rollout: int | None = None
    return_: float | None = msgspec.field(name="return", default=None)
    length: int | None = None


class ShownEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a critic was shown, as far as the log says."""

    shown: list[ShownRollout] = []
    statistics: Statistics | None = None


class Iteration(msgspec.Struct, frozen=True, kw_only=True):
    """One finished iteration."""

    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    initial: Candidate
    revised: Candidate | None = None
    selected: str = "initial"
    evidence: ShownEvidence | None = None

    def candidates(self) -> Iterator[tuple[str, Candidate]]:
        """The candidates by name, in the order in which they were run."""
        yield "initial", self.initial
        if self.revised is not None:
            yield "revised", self.revised

    @property
    def kept(self) -> Candidate:
        """The candidate that entered the history."""
        return self.revised if self.selected == "revised" and self.revised is not None else self.initial


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run: who it is, its `run.json` (None for a foreign log), and the files of its iterations."""

    identity: Identity
    run: Run | None
    files: tuple[RecordFile, ...]

    def named(self, column: str) -> str:
        """Its condition, env or variant."""
        return str(self.identity[("condition", "env", "variant").index(column)])


class Records:
    """The runs below some paths, ordered by identity; made by `open_records`.

    `problems` grows while iterations are read; each problem is in it once, however often its line is read.
    """

    def __init__(self, runs: Sequence[RecordedRun], problems: Sequence[Problem]) -> None:
        self.runs = list(runs)
        self._problems = dict.fromkeys(problems)

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
        for number, line in enumerate(lines_of(file), start=1):
            if not line.strip():
                continue
            try:
                iteration = _decode(line, run)
            except RecordError as error:
                self._note(file, number, f"{error}; left out")
                continue
            if iteration.iteration in seen:
                self._note(file, number, f"iteration {iteration.iteration} stands in an earlier line; left out")
                continue
            seen.add(iteration.iteration)
            yield iteration

    def _note(self, file: RecordFile, line: int | None, message: str) -> None:
        # The lines of a translated log are nobody's but ours.
        known_line = None if file.source == _TRANSLATED else line
        self._problems[Problem(file.label, known_line, message)] = None


@contextlib.contextmanager
def open_records(paths: Sequence[Path]) -> Iterator[Records]:
    """Find the runs below folders and archives; native records and released logs, as every command reads them.

    Raises:
        AuditError: a path is missing or holds no records.
    """
    with tempfile.TemporaryDirectory(prefix="audit-") as directory:
        intake = Intake(Path(directory))
        gather(paths, intake)
        files: dict[Identity, list[RecordFile]] = {identity: [] for identity in intake.runs}
        for file in intake.files:
            files[file.condition, file.env, file.variant, file.run].append(file)
        runs = [
            RecordedRun(identity, intake.described.get(identity), tuple(files[identity])) for identity in sorted(files)
        ]
        yield Records(runs, intake.problems)


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
            f"run {env} {variant} {run} is there under several conditions; choose one with --condition: {conditions}"
        )
    return found[0]


def is_imported(run: RecordedRun) -> bool:
    """Whether a run was made from another log, which need not say everything."""
    return run.run is not None and IMPORTED_FROM in run.run.options


_decoder = msgspec.json.Decoder(Iteration)


def _decode(line: bytes, run: RecordedRun) -> Iteration:
    try:
        iteration = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        torn = "" if line.endswith(b"\n") else "torn: "
        raise RecordError(f"{torn}not a record ({error})") from None
    if (iteration.condition, iteration.env, iteration.variant, iteration.run) != run.identity:
        raise RecordError("belongs to another run than the run.json beside it says")
    for role, candidate in iteration.candidates():
        fields = (candidate.recorded_params, candidate.recorded_returns, candidate.recorded_lengths)
        if None in fields and not is_imported(run):
            raise RecordError(f"{role} lacks params, returns or lengths")
        if candidate.recorded_returns == []:
            raise RecordError(f"{role} has no rollouts")
        rollouts = None if run.run is None else run.run.rollouts
        if rollouts is not None and candidate.returns and len(candidate.returns) != rollouts:
            raise RecordError(f"{role} has {len(candidate.returns)} returns where the run has {rollouts} rollouts")
    return iteration

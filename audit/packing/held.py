"""What a folder of packs holds already, and what of a data set is to be added to it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import msgspec

from audit.ingest.checks import size_of
from audit.output.errors import AuditError, Problem
from audit.sources.intake import Intake, RecordFile, RunFacts
from audit.sources.native import IMPORTED, NATIVE, RECORDED, facts_of
from audit.sources.pack import contents_of
from audit.vocabulary.endings import PACK
from audit.vocabulary.keys import RunKey

CHANGED = "is not what was packed with more lines behind it; left out; pack the data set anew"


@dataclass
class HeldRun:
    """A run as packs hold it: its facts, the sizes of its files, and whether lines are held as they are."""

    facts: RunFacts
    sizes: set[int] = field(default_factory=set)
    skipped: set[int] = field(default_factory=set)
    has_raw_lines: bool = False


@dataclass
class Held:
    """All that the packs of a folder hold."""

    runs: dict[RunKey, HeldRun] = field(default_factory=dict)
    problems: set[Problem] = field(default_factory=set)

    @classmethod
    def of(cls, folder: Path) -> Held:
        """Read what each pack of a folder states.

        Raises:
            AuditError: one cannot be read, or does not state the sizes of its files, as those of earlier versions.
        """
        held = cls()
        for path in sorted(folder.glob(f"*{PACK}")):
            held._add(path)
        return held

    def _add(self, path: Path) -> None:
        try:
            contents = contents_of(path)
            found = [facts_of(run.described) if run.described else run.facts for run in contents.runs]
        except (OSError, AuditError, msgspec.MsgspecError, RecursionError, duckdb.Error) as error:
            reason = str(getattr(error, "strerror", None) or error).strip().splitlines()[0]
            raise AuditError(f"{path}: cannot be read as a pack ({reason}); nothing is added beside it") from error
        runs = [facts.complete() for facts in found if facts is not None]
        if len(runs) != len(contents.runs) or any(file.size == 0 for file in contents.files):
            raise AuditError(
                f"{path}: packed by an earlier version, which nothing can be added to; pack the data set anew"
            )
        for facts in runs:
            self.runs.setdefault(facts.identity, HeldRun(facts))
        for file in contents.files:
            run = self.runs[runs[file.run].identity]
            run.sizes.add(file.size)
            run.has_raw_lines |= file.is_raw
        for skips in contents.skipped:
            self.runs[runs[skips.run].identity].skipped.update(skips.iterations)
        self.problems.update(contents.problems)


def keep_new(intake: Intake, held: Held) -> dict[RecordFile, int]:
    """Leave in an intake what is not held: other runs whole, and of runs that have grown the lines that are new.

    Args:
        intake: what was found of a data set; takes the problems of runs that have changed otherwise.
        held: what there is already.

    Returns:
        Bytes of the files which those that are left continue, both together.
    """
    sizes: dict[RecordFile, int] = {}
    files: list[RecordFile] = []
    left_out: set[RunKey] = set()
    intake.problems = [problem for problem in intake.problems if problem not in held.problems]
    for identity, facts in intake.runs.items():
        if identity in held.runs and held.runs[identity].facts != facts:
            label = next((file.label for file in intake.files if file.identity == identity), str(identity))
            intake.problem(label, None, "is of a run that the packs describe differently; left out")
            left_out.add(identity)
    for file in intake.files:
        run = held.runs.get(file.identity)
        if run is None or not run.sizes:
            files.append(file)
        elif file.identity not in left_out and size_of(file) not in run.sizes:
            end = max(run.sizes)
            if run.has_raw_lines or file.source not in {NATIVE, RECORDED, IMPORTED} or not _continues(file, end):
                intake.problem(file.label, None, CHANGED)
                continue
            more = msgspec.structs.replace(file, file=str(_tail(file, end, intake)), real=None, content=None)
            sizes[more] = size_of(file)
            files.append(more)
    intake.files = files
    with_files = {file.identity for file in files}
    for identity in list(intake.runs):
        run = held.runs.get(identity)
        is_new = run is None or intake.skipped.get(identity, set()) > run.skipped
        if identity in left_out or not (identity in with_files or is_new):
            intake.runs.pop(identity)
            intake.described.pop(identity, None)
            intake.skipped.pop(identity, None)
    return sizes


def _continues(file: RecordFile, end: int) -> bool:
    """Whether a file has whole lines up to a place, and more behind it."""
    if size_of(file) <= end:
        return False
    with Path(file.file).open("rb") as stream:
        stream.seek(end - 1)
        return stream.read(1) == b"\n"


def _tail(file: RecordFile, start: int, intake: Intake) -> Path:
    path = intake.new_file("grown")
    with Path(file.file).open("rb") as stream, path.open("wb") as copy:
        stream.seek(start)
        shutil.copyfileobj(stream, copy)
    return path

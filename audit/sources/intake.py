"""Collects what sources find: runs, and the files that hold their records.

Native record files stay where they are; everything else is translated into lines of the native form in a
temporary folder, one at a time, so that no data set has to fit into memory and one analysis serves every format.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from audit.output.errors import Problem
from audit.vocabulary.keys import RunKey
from audit.vocabulary.methods import method_facts
from collector.records import LONGEST_LINE, CandidateKind, MethodFacts, Run, SelectionRule

_encoder = msgspec.json.Encoder()


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a run as a whole; None where its log does not state it."""

    condition: str
    env: str
    variant: str
    run: int
    source: str
    seed: int | None = None
    iterations: int | None = None
    rollouts: int | None = None
    tau_c: float | None = None
    optimum: float | None = None
    step_size: float | None = None
    backend: str | None = None
    model: str | None = None
    thresholds: dict[str, Any] | None = None
    method: MethodFacts | None = None
    candidates: CandidateKind = "params"
    selection_rule: SelectionRule | None = None
    score_range: tuple[float, float] | None = None
    warmup: int = 0

    @property
    def identity(self) -> RunKey:
        """What identifies the run."""
        return RunKey(self.condition, self.env, self.variant, self.run)


class RecordFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of iteration records and the run that it belongs to.

    `label` is what people know it by.
    """

    file: str
    label: str
    condition: str
    env: str
    variant: str
    run: int
    source: str

    @property
    def identity(self) -> RunKey:
        """What identifies its run."""
        return RunKey(self.condition, self.env, self.variant, self.run)


class Intake:
    """Collects runs, record files and problems while sources read.

    `described` has the `run.json` of native runs in full, `skipped` the iterations of runs that proposed nothing;
    `notes` are for the user, and are not problems.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.files: list[RecordFile] = []
        self.runs: dict[RunKey, RunFacts] = {}
        self.described: dict[RunKey, Run] = {}
        self.skipped: dict[RunKey, set[int]] = {}
        self._seen: set[str] = set()
        self._made = 0

    def problem(self, file: str, line: int | None, message: str) -> None:
        """Note something that is left out of the analysis."""
        self.problems.append(Problem(file, line, message))

    def first_sight(self, real_path: str) -> bool:
        """Whether a file is seen for the first time: a folder given twice, or below another one given, counts once."""
        known = real_path in self._seen
        self._seen.add(real_path)
        return not known

    def add_run(self, facts: RunFacts, described: Run | None = None) -> bool:
        """Add a run; False where another run of the same identity is known that was run differently."""
        if not facts.method:  # then it is known by its name, if at all
            facts = msgspec.structs.replace(facts, method=method_facts(facts.variant))
        if self.runs.setdefault(facts.identity, facts) != facts:
            return False
        if described is not None:
            self.described.setdefault(facts.identity, described)
        return True

    def add_file(self, path: Path, label: str, facts: RunFacts) -> None:
        """Add a file of records that belongs to a run."""
        condition, env, variant, run = facts.identity
        self.files.append(
            RecordFile(
                file=str(path),
                label=label,
                condition=condition,
                env=env,
                variant=variant,
                run=run,
                source=facts.source,
            )
        )

    def new_file(self, stem: str, suffix: str = ".jsonl") -> Path:
        """A path in the temporary folder that nothing else uses."""
        self._made += 1
        return self.directory / f"{stem}-{self._made}{suffix}"

    def readable(self, path: Path) -> Path:
        """A path by which DuckDB finds a file.

        It takes a backslash in a name for the end of a folder's, and to match a wildcard it reads the folder, which it
        cannot where something beside begins with a backslash.
        """
        if os.sep == "\\" or not re.search(r"[\\[*?]", str(path)):
            return path
        link = self.new_file("linked", path.suffix)
        link.symlink_to(path.absolute())
        return link

    @property
    def logged_returns(self) -> Path:
        """The file of iteration returns that foreign logs state on their own."""
        return self.directory / "logged_returns.jsonl"

    def append(self, path: Path, *records: object) -> None:
        """Add lines to a file of the temporary folder."""
        with path.open("ab") as stream:
            stream.write(_encoder.encode_lines(records))

    def append_record(self, path: Path, record: object) -> bool:
        """Add a record to a file of the temporary folder; False where it is too long to be read again."""
        line = _encoder.encode(record)
        if len(line) >= LONGEST_LINE:
            return False
        with path.open("ab") as stream:
            stream.write(line + b"\n")
        return True

    def write(self, name: str, records: Iterable[object]) -> Path:
        """Write a small relation, one record a line; DuckDB reads an empty file as no rows."""
        path = self.directory / name
        path.write_bytes(_encoder.encode_lines(list(records)))
        return path

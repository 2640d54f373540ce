"""The project's own records: `run.json`, `episodes.jsonl` and `skipped.jsonl` in a folder per run (`docs/records.md`).

`calls.jsonl` and `truth.jsonl` are in the same folder and are never opened here.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from audit.output.errors import AuditError
from audit.records.locating import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Capabilities, Iteration
from audit.vocabulary.methods import METHODS
from audit.vocabulary.thresholds import presets
from collector.records import Episode, RecordError, Run, Skipped, TextEpisode, decode, decode_run
from collector.system.regular_files import RECORDS, RUN, open_regular

Folder = tuple[str, ...]

NATIVE: Final = "native"
"""The source of records that `collect` wrote, which have every field."""
RECORDED: Final = "recorded"
"""The source of native records whose candidates are texts."""
IMPORTED: Final = "imported"
"""The source of records that `audit import` made from another log."""

LARGEST: Final = 64 * 2**30
"""Bytes of the largest file of iterations; it is read line by line."""
IMPORTED_FROM: Final = "imported_from"
"""The option in `run.json` that marks a run which `audit import` made from another log; it lists the log's files."""


class NativeSource:
    """Puts the files of each run folder together; lines of iterations are read by DuckDB."""

    capabilities: ClassVar = {
        NATIVE: Capabilities(Episode),
        RECORDED: Capabilities(TextEpisode),
        IMPORTED: Capabilities(Iteration),
    }
    looked_for = "run.json with episodes.jsonl (native records)"

    def __init__(self) -> None:
        self._runs: dict[Folder, tuple[str, RunFacts]] = {}
        self._refused: set[Folder] = set()
        self._episodes: dict[Folder, tuple[str, Path]] = {}
        self._skipped: dict[Folder, tuple[str, dict[int, Skipped]]] = {}
        self._handlers: dict[str, Callable[[Found, Intake], None]] = {
            "run.json": self._run,
            "episodes.jsonl": self._episode_file,
            "skipped.jsonl": self._skipped_file,
        }

    def claims(self, found: Found) -> bool:
        """Whether the file has one of the three names."""
        return found.name in self._handlers

    def take(self, found: Found, intake: Intake) -> None:
        """Read a file; note where an `episodes.jsonl` is."""
        try:
            self._handlers[found.name](found, intake)
        except OSError as error:
            self._refused.add(found.folder)
            intake.problem(found.label, None, f"cannot be read ({error.strerror or error})")

    def finish(self, intake: Intake) -> None:
        """Hand over what each run folder holds, if it has a `run.json`."""
        for folder, (label, path) in self._episodes.items():
            if facts := self._facts(folder, label, intake):
                intake.add_file(path, label, facts)
        for folder, (label, records) in self._skipped.items():
            if facts := self._facts(folder, label, intake):
                for number, record in records.items():
                    if (record.condition, record.env, record.variant, record.run) == facts.identity:
                        intake.skipped.setdefault(facts.identity, set()).add(record.iteration)
                    else:
                        other = "belongs to another run than the run.json beside it states; left out"
                        intake.problem(label, number, other)

    def _facts(self, folder: Folder, label: str, intake: Intake) -> RunFacts | None:
        """The facts of the run that a file belongs to; without them it is left out, and reported unless the run is."""
        if folder in self._runs:
            return self._runs[folder][1]
        if folder not in self._refused:
            intake.problem(label, None, "no run.json beside it, so it is unknown what was run; left out")
        return None

    def _run(self, found: Found, intake: Intake) -> None:
        try:
            run = decode_run(found.read(RUN))
            facts = facts_of(run)
        except (RecordError, AuditError) as error:
            self._refused.add(found.folder)
            intake.problem(found.label, 1, f"{error}; the run is left out")
            return
        if not intake.add_run(facts, run):
            self._refused.add(found.folder)
            intake.problem(found.label, 1, "describes a run that another run.json describes differently; left out")
            return
        self._runs[found.folder] = (found.label, facts)

    def _episode_file(self, found: Found, _: Intake) -> None:
        with open_regular(found.path) as stream:
            if stream.seek(0, os.SEEK_END) > LARGEST:
                raise OSError(errno.EFBIG, f"larger than {LARGEST >> 30} GiB")
        self._episodes[found.folder] = (found.label, found.path)

    def _skipped_file(self, found: Found, intake: Intake) -> None:
        records: dict[int, Skipped] = {}
        for number, line in enumerate(found.read(RECORDS).splitlines(), start=1):
            try:
                records[number] = decode(line, Skipped)
            except RecordError as error:
                intake.problem(found.label, number, f"{error}; left out")
        self._skipped[found.folder] = (found.label, records)


def facts_of(run: Run) -> RunFacts:
    """What the audit needs of a `run.json`.

    Raises:
        AuditError: the task or the method is not known, or something in it cannot be held in tables.
    """
    is_text = run.candidates == "text"
    if not is_text and run.env not in presets() and run.thresholds is None:
        raise AuditError(f"task {run.env!r} is not known and the run brings no thresholds for it")
    is_imported = IMPORTED_FROM in run.options
    if run.variant not in METHODS and not run.method and not is_imported:
        raise AuditError(f"method {run.variant!r} is not known")
    if "\0" in f"{run.condition}{run.env}{run.variant}":
        raise AuditError("a NUL character in condition, env or variant, at which tables would cut the name off")
    if run.score_range and not run.score_range[0] < run.score_range[1]:
        raise AuditError("score_range: the lowest score is not below the highest")
    counts = [run.run, run.iterations or 0, run.rollouts or 0]
    if run.thresholds is not None:
        counts += [run.thresholds.surgical_max, run.thresholds.redesign_min, run.thresholds.multi_state_min]
    if any(abs(number) >= 2**63 for number in counts) or abs(run.seed or 0) >= 2**127:
        raise AuditError("a number in it is too large")
    return RunFacts(
        condition=run.condition,
        env=run.env,
        variant=run.variant,
        run=run.run,
        source=IMPORTED if is_imported else RECORDED if is_text else NATIVE,
        seed=run.seed,
        iterations=run.iterations,
        rollouts=run.rollouts,
        tau_c=run.tau_c,
        optimum=run.optimum,
        step_size=run.step_size,
        backend=run.backend,
        model=run.model,
        thresholds=None if run.thresholds is None else msgspec.to_builtins(run.thresholds),
        method=run.method or None,
        candidates=run.candidates or "params",
        selection_rule=run.selection_rule or None,
        score_range=run.score_range or None,
        warmup=len(run.warmup),
    )

"""Opens a data set: what was kept of its analysis, its records, or those of some of its runs."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audit.detectors.detector import Detector
from audit.engine.database import Database
from audit.ingest.analyses import Analysis
from audit.ingest.options import Options
from audit.output.errors import Problem

if TYPE_CHECKING:
    from audit.sources.intake import Intake
    from audit.vocabulary.keys import RunKey

_FILES: Final = "files"
"""Under which it is kept where the records are."""


@dataclass
class Opening:
    """The arguments of `open_store`, and what reading found."""

    paths: Sequence[Path]
    directory: Path
    resources: contextlib.ExitStack
    strict: bool
    detector: Detector
    overrides: dict[str, dict[str, float]]
    cache: bool
    judgements: Sequence[Path]
    judge: str | None
    plans: Sequence[Path]
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    found: Intake | None = None
    kept: Analysis | None = None

    def analysis(self) -> Analysis | None:
        """What was kept of the analysis; nothing with judgements, which may change while the records do not."""
        is_kept = self.cache and not self.detector.is_judged and not self.judgements
        self.kept = Analysis.of(self.paths, self._options.key) if is_kept else None
        return self.kept

    @property
    def _options(self) -> Options:
        return Options(self.detector, self.overrides)

    def read(self, database: Database) -> None:
        """Read the records into a database; not called if every relation needed was kept."""
        from audit.ingest.batches import Batches
        from audit.ingest.gathering import nothing, read_into, refuse
        from audit.ingest.judgements import load_judgements

        intake, readings, segments = read_into(
            database, self.paths, self.directory, self.resources, strict=self.strict, cache=self.cache
        )
        self._options.set(database, self.directory)
        database.set("plan_files", [str(file) for file in self.plans])
        database.set("plan_cache", self.cache)
        load_judgements(
            self.paths, self.judgements, self.judge, detector=self.detector, intake=intake, database=database
        )
        refuse(intake, strict=self.strict)
        if segments is not None or intake.carriers:
            database.take_parts(Batches(intake, readings, segments, self._options).parts)
        if not database.relation("episodes").select("iteration").limit(1).fetchall():
            raise nothing(intake)
        self.problems, self.notes = intake.problems, intake.notes
        self.found = intake

    def keep_files(self, analysis: Analysis) -> None:
        """Keep which files the records are in."""
        from audit.ingest.run_files import encoded

        content = None if self.found is None else encoded(self.found)
        if content is not None:
            with contextlib.suppress(OSError), analysis.room(_FILES) as room:
                if room is not None:
                    room.write_bytes(content)

    def of_runs(self, database: Database, runs: Collection[RunKey]) -> Database | None:
        """A database of some runs alone; None where they are not read alone, as where all records are in memory."""
        from audit.ingest.judgements import load_judgements
        from audit.ingest.run_files import fill, found_again

        directory = Path(tempfile.mkdtemp(prefix="runs-", dir=self.directory))
        intake = None
        if self.found is None and self.kept is not None and (path := self.kept.find(_FILES)) is not None:
            intake = found_again(path.read_bytes(), runs, directory)
        if intake is None:
            database.read()
            if database.is_small or self.found is None:
                return None
            if self.kept is not None:
                self.keep_files(self.kept)
            intake = self.found.part(directory, [file for file in self.found.files if file.identity in runs])
        alone = Database(directory)
        if not fill(alone, intake, self._options):
            alone.close()
            return None
        load_judgements(self.paths, self.judgements, self.judge, detector=self.detector, intake=intake, database=alone)
        return alone

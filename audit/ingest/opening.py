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
from audit.vocabulary.reading import Reading

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
    reading: Reading
    detector: Detector
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    found: Intake | None = None
    kept: Analysis | None = None

    def analysis(self) -> Analysis | None:
        """What was kept of the analysis; nothing with judgements, which may change while the records do not."""
        is_kept = self.reading.cache and not self.detector.is_judged and not self.reading.judgements
        self.kept = Analysis.of(self.paths, self._options.key) if is_kept else None
        return self.kept

    @property
    def _options(self) -> Options:
        return Options(self.detector, {env: dict(values) for env, values in self.reading.overrides.items()})

    def _load_judgements(self, intake: Intake, database: Database) -> None:
        from audit.ingest.judgements import load_judgements

        files = [Path(file) for file in self.reading.judgements]
        load_judgements(self.paths, files, self.reading.judge, detector=self.detector, intake=intake, database=database)

    def read(self, database: Database) -> None:
        """Read the records into a database; not called if every relation needed was kept."""
        from audit.ingest.batches import Batches
        from audit.ingest.gathering import nothing, read_into, refuse

        intake, readings, segments = read_into(
            database, self.paths, self.directory, self.resources, strict=self.reading.strict, cache=self.reading.cache
        )
        self._options.set(database, self.directory)
        database.set("plan_files", [str(file) for file in self.reading.plans])
        database.set("plan_cache", self.reading.cache)
        self._load_judgements(intake, database)
        refuse(intake, strict=self.reading.strict)
        if segments is not None:
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
        self._load_judgements(intake, alone)
        return alone

"""Compares what packs carry with what is found in their records again."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from audit.engine.carried import CARRIED, KEYS
from audit.engine.database import Database
from audit.ingest.carriers import believed
from audit.ingest.columns import describe, show
from audit.ingest.gathering import read
from audit.ingest.readings import Readings
from audit.output.errors import Problem, count
from audit.output.progress import tracked
from audit.packing.findings import write_findings
from audit.sources.intake import Intake


class Verified(NamedTuple):
    """How many packs carry findings that audits believe, and a problem for each pack and column that differ."""

    packs: int
    problems: list[Problem]


def verify_findings(paths: Sequence[Path], *, strict: bool = False) -> Verified:
    """Find everything again that packs carry and audits believe, and compare it.

    Args:
        paths: as every command of the audit takes them.
        strict: see `open_store`.

    Returns:
        What differs. It is not left out: audits go on believing it.

    Raises:
        AuditError: see `open_store`.
    """
    with contextlib.ExitStack() as resources:
        intake, _, readings, _ = read(paths, resources, strict=strict)
        packs = list(believed(intake).items())
        problems = [
            problem
            for pack, columns in tracked(packs, "comparing findings")
            for problem in _verified(pack, columns, intake, readings)
        ]
        return Verified(len(packs), problems)


def _verified(pack: str, columns: frozenset[str], intake: Intake, readings: Readings) -> list[Problem]:
    known = [each for each in CARRIED if each.column in columns]
    files = [file for file in intake.files if readings[file].segment == pack]
    with contextlib.ExitStack() as resources:
        directory = Path(resources.enter_context(tempfile.TemporaryDirectory(dir=intake.directory)))
        part = intake.part(directory, files)
        if intake.logged_returns.exists():
            part.logged_returns.write_bytes(intake.logged_returns.read_bytes())
        level = "all" if any(each.in_full for each in known) else "word"
        found = write_findings(part, readings, None, level, resources)
        database = resources.enter_context(contextlib.closing(Database(directory)))
        describe(part, database)
        show(readings, part, database)
        problems = []
        for each in known:
            database.set("found_again", found[each.column])
            again = f"select {KEYS}, \"{each.column}\" from read_parquet(getvariable('found_again'))"
            held = f'select {KEYS}, "{each.column}" from segments where {each.is_there}'
            rows = database.number_of(
                f"select {KEYS} from (({again}) except all ({held})) "
                f"union select {KEYS} from (({held}) except all ({again}))"
            )
            if rows:
                message = f"{each.column} differs from what its records give in {count(rows, 'revision')}"
                problems.append(Problem(pack, None, message))
        return problems

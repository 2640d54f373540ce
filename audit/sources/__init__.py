"""Log formats that can be read, one module each; `gather` finds out which one a file belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError, count
from audit.sources.files import Found, find_files
from audit.sources.formats import FORMATS, Source
from audit.sources.intake import Intake
from audit.sources.pack import PackSource

SOURCES: Final[tuple[Callable[[], Source], ...]] = (*FORMATS, PackSource)


def gather(paths: Sequence[Path], intake: Intake) -> None:
    """Read everything below the given folders and archives into the intake.

    Raises:
        AuditError: a path does not exist, or holds nothing that any source reads.
    """
    sources = [make() for make in SOURCES]
    for path in paths:
        if not _gather_one(path, sources, intake):
            looked_for = "; ".join(source.looked_for for source in sources)
            raise AuditError(f"{path}: no records found; looked for {looked_for}")
    for source in sources:
        source.finish(intake)
    if intake.skipped:
        iterations = count(sum(map(len, intake.skipped.values())), "iteration")
        runs = count(len(intake.skipped), "run")
        intake.notes.append(f"{iterations} of {runs} proposed nothing, and are in no average")


def _gather_one(path: Path, sources: Sequence[Source], intake: Intake) -> bool:
    anything = False
    for found in find_files(path, intake):
        source = next((source for source in sources if source.claims(found)), None)
        if source is not None:
            anything = True
            if not _has_text_name(found):
                intake.problem(found.label, None, "its name, or a folder's, is not UTF-8; rename it; left out")
            elif intake.first_sight(found.real):
                source.take(found, intake)
    return anything or bool(intake.problems)


def _has_text_name(found: Found) -> bool:
    """Whether a file's name is text, which DuckDB and JSON ask for; file systems take any bytes."""
    try:
        f"{found.label}{found.real}".encode()
    except UnicodeEncodeError:
        return False
    return True

"""Log formats that can be read, one module each; `gather` finds out which one a file belongs to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError, count
from audit.sources.files import Found, find_files
from audit.sources.formats import FORMATS, TRANSLATED, Source
from audit.sources.intake import Intake
from audit.sources.pack import PackSource
from audit.sources.translations import translate

SOURCES: Final[tuple[Callable[[], Source], ...]] = (*FORMATS, PackSource)


def gather(paths: Sequence[Path], intake: Intake, *, keep: bool = True) -> None:
    """Read everything below the given folders and archives into the intake.

    Args:
        paths: folders, archives and packs.
        intake: takes what is found.
        keep: whether translations of tools' logs are kept, and those that were kept are used.

    Raises:
        AuditError: a path does not exist, or holds nothing that any source reads.
    """
    sources = [make() for make in SOURCES]
    later: dict[Source, list[Found]] = {source: [] for source in sources if isinstance(source, TRANSLATED)}
    streamed: set[Source] = set()
    for path in paths:
        if not _gather_one(path, sources, intake, later, streamed):
            looked_for = "; ".join(source.looked_for for source in sources)
            raise AuditError("\n".join([f"{path}: no records found; looked for {looked_for}", *intake.notes]))
    for source in sources:
        if (claimed := later.get(source)) is not None:
            translate(source, claimed, intake, keep=keep and source not in streamed)
        else:
            source.finish(intake)
    if intake.skipped:
        iterations = count(sum(map(len, intake.skipped.values())), "iteration")
        runs = count(len(intake.skipped), "run")
        intake.notes.append(f"{iterations} of {runs} proposed nothing, and are in no average")


def _gather_one(
    path: Path,
    sources: Sequence[Source],
    intake: Intake,
    later: Mapping[Source, list[Found]],
    streamed: set[Source],
) -> bool:
    """Have sources take what is below a path.

    Files on disk that are translated as a whole are collected in `later` instead; `streamed` has the sources that took
    a member of an archive, which cannot wait.
    """
    anything = False
    for found in find_files(path, intake):
        source = next((source for source in sources if source.claims(found)), None)
        if source is not None:
            anything = True
            if not _has_text_name(found):
                intake.problem(found.label, None, "its name, or a folder's, is not UTF-8; rename it; left out")
            elif intake.first_sight(found.real):
                if found.path is not None and source in later:
                    later[source].append(found)
                else:
                    streamed.add(source)
                    source.take(found, intake)
    return anything or bool(intake.problems)


def _has_text_name(found: Found) -> bool:
    """Whether a file's name is text, which DuckDB and JSON ask for; file systems take any bytes."""
    try:
        f"{found.label}{found.real}".encode()
    except UnicodeEncodeError:
        return False
    return True

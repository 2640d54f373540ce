"""Exports recorded answers: from records to a file or folder in another program's format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Unpack

from audit.exporting.formats import FORMATS
from audit.exporting.transcripts import Tally, transcripts
from audit.exporting.verdicts import write_verdicts
from audit.exporting.writing import PartWriter
from audit.options import Data, Options, RevisionSelection, options_of
from audit.output.errors import AuditError, UsageError, count
from audit.output.unfinished_results import folder_for, put_in_place
from audit.records.lines import open_records
from audit.records.locating import local_path

ROLES: Final = ("critic", "search")

_PART: Final = re.compile(r"transcripts_\d{5}\.parquet")
_INDEX: Final = "_index"
"""A folder that `scout db index` adds."""


@dataclass(frozen=True, slots=True)
class Export:
    """What was exported.

    Attributes:
        path: the file or folder.
        transcripts: how many.
        files: how many files they are in.
        size: bytes.
        notes: what is not in it, and why.
    """

    path: Path
    transcripts: int
    files: int
    size: int
    notes: list[str]


def export(
    data: Data,
    out: str | Path,
    file_format: str = "scout",
    *,
    role: str = "critic",
    force: bool = False,
    **keywords: Unpack[RevisionSelection],
) -> Export:
    """Export recorded prompts and answers with the audit's verdicts, for trace viewers and other programs.

    Args:
        data: records.
        out: the file that is written; a folder for the format scout.
        file_format: scout, chat-jsonl or parquet.
        role: whose calls: critic or search.
        force: replace an earlier export.
        keywords: which groups, and how records are opened and classified.

    Raises:
        UsageError: an unknown format or role, or `out` cannot be written or already exists.
        AuditError: nothing is recorded of such calls.
    """
    for what, value, known in (("format", file_format, FORMATS), ("role", role, ROLES)):
        if value not in known:
            raise UsageError(f"no {what} {value!r}; there are {', '.join(known)}")
    form = FORMATS[file_format]
    target = Path(out)
    options = options_of(data, RevisionSelection, keywords)
    _refuse(target, options, is_folder=form.in_parts, force=force)
    with folder_for(target) as folder:
        verdicts = folder / "verdicts.parquet"
        with options.open() as store:
            columns = write_verdicts(store, verdicts)
            caption = options.caption(store)
        tally = Tally()
        new = folder / "new"
        with open_records(options.paths, cache=options.cache) as records:
            found = transcripts(records, options.choose(records), role, tally)
            files = PartWriter(form, folder, verdicts, columns).write(found, new)
        if not tally.transcripts:
            raise AuditError(f"nothing to export: no answer of a {role} is in the records")
        size = sum(path.stat().st_size for path in (new.iterdir() if form.in_parts else [new]))
        _refuse(target, options, is_folder=form.in_parts, force=force)
        put_in_place(new, target)
    return Export(target, tally.transcripts, files, size, [*_notes(tally), *([caption] if caption else [])])


def _notes(tally: Tally) -> Iterator[str]:
    if tally.no_calls:
        yield f"{count(tally.no_calls, 'line')} of calls.jsonl left out: no calls of their run, or torn"
    if tally.without_prompt:
        yield (
            f"the prompt of {tally.without_prompt} of {count(tally.transcripts, 'answer')} is not recorded, or is "
            "in an archive or pack: these transcripts have the answer only"
        )


def _refuse(target: Path, options: Options, *, is_folder: bool, force: bool) -> None:
    """Refuse a place where the export would overwrite something, or be among the records.

    Raises:
        UsageError: this is such a place.
    """
    for path in options.paths:
        if target.resolve().is_relative_to(local_path(path).resolve()):
            raise UsageError(f"--out {target}: is in the records that are exported; name another place")
    if target.parent.exists() and not target.parent.is_dir():
        raise UsageError(f"--out {target}: {target.parent} is not a folder")
    if not target.exists():
        return
    if target.is_dir() != is_folder:
        raise UsageError(f"--out {target}: already exists, and is {'not ' if is_folder else ''}a folder")
    if is_folder and not any(target.iterdir()):
        return
    if not force:
        raise UsageError(f"--out {target}: already exists; replace an earlier export with --force")
    if is_folder:
        strange = next(
            (path for path in target.iterdir() if not _PART.fullmatch(path.name) and path.name != _INDEX), None
        )
        if strange is not None:
            raise UsageError(
                f"--out {target}: holds {strange.name}, which no export made; --force replaces earlier exports only"
            )

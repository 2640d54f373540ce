"""Packs a data set: the records that audits use, and what is known of them, in one file (`records/packs.py`)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from audit.models.connection import connect, write_parquet
from audit.models.sql_text import exactly
from audit.output.errors import AuditError, Problem, UsageError
from audit.output.progress import PrintedProgress
from audit.output.unfinished_results import folder_for, put_in_place
from audit.records.cache import state_of
from audit.records.loading import size_of
from audit.records.locating import beside, label_of, local_path, locate
from audit.records.packs import About, PackedRun
from audit.records.reading import read_records
from audit.sources.intake import Intake
from audit.vocabulary.endings import PACK
from collector.system.stopping import temporary_folder

_PACKED: Final = """
    select ? as about
    union all by name
    select * from (
        select file, * exclude (file, line)
        from read_parquet(?)
        order by condition, env, variant, run, file, iteration
    )
"""


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack, and what it was made from; `problems` and `notes` are as in a store."""

    path: Path
    runs: int
    size_before: int
    size_after: int
    problems: Sequence[Problem]
    notes: Sequence[str]


def pack(
    path: str | Path,
    out: str | Path | None = None,
    *,
    force: bool = False,
    strict: bool = False,
) -> Packed:
    """Pack a folder or an archive.

    Args:
        path: as every command of the audit takes it.
        out: the pack, or a folder for it; without it the pack is written beside its source.
        force: overwrite the pack if there is one.
        strict: refuse records with problems. Otherwise those that audits leave out are left out, and every audit of the
            pack reports them again.

    Raises:
        UsageError: the pack already exists, or cannot have that name or place.
        AuditError: there are no records, or they change meanwhile, or `strict` and something is wrong with them.
    """
    target = _target(path, None if out is None else Path(out))
    _refuse_overwriting(target, force=force)
    place = locate(path)
    with contextlib.ExitStack() as resources:
        before = state_of([place.path])
        directory = resources.enter_context(temporary_folder())
        connection = resources.enter_context(contextlib.closing(connect(directory)))
        intake, files = read_records([place], directory, connection, strict=strict)
        part = resources.enter_context(folder_for(target)) / "pack"
        with PrintedProgress() as progress:
            progress.begin(0, "writing the pack", counted=False)
            about = msgspec.json.encode(_contents(intake)).decode()
            write_parquet(connection, _PACKED, part, [about, exactly(files["records"])])
        if state_of([place.path]) != before:
            raise AuditError(f"{place.label} changed meanwhile; pack it when nothing is written to it any more")
        _refuse_overwriting(target, force=force)
        put_in_place(part, target)
        return Packed(
            path=target,
            runs=len(intake.runs),
            size_before=sum(size_of(file) for file in intake.files),
            size_after=target.stat().st_size,
            problems=intake.problems,
            notes=intake.notes,
        )


def _contents(intake: Intake) -> About:
    return About(
        runs=[
            PackedRun(
                described=intake.described.get(identity),
                facts=None if identity in intake.described else facts,
                skipped=sorted(intake.skipped.get(identity, ())),
            )
            for identity, facts in intake.runs.items()
        ],
        problems=intake.problems,
        logged_returns=[msgspec.json.decode(line) for line in intake.logged_returns.read_bytes().splitlines()],
    )


def _target(path: str | Path, out: Path | None) -> Path:
    if out is None:
        target = beside(path, PACK)
    elif out.is_dir():
        target = out / beside(Path(label_of(path)), PACK).name
    elif out.name.endswith(PACK):
        target = out
    else:
        raise UsageError(f"--out {out}: neither an existing folder, nor a name that ends in {PACK}")
    if not target.parent.is_dir():
        raise UsageError(f"--out {out}: no such folder {target.parent}; a pack is written to this machine")
    folder = local_path(path)
    if folder.is_dir() and target.resolve().is_relative_to(folder.resolve()):
        what = f"{label_of(path)}: its pack, named like it," if out is None else f"--out {out}:"
        raise UsageError(f"{what} is in the folder that is packed, whose audits would read both; name another --out")
    return target


def _refuse_overwriting(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise UsageError(f"{target} already exists; overwrite it with --force")

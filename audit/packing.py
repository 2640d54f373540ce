"""Packs a data set: the records that audits use, and what is known of them, in one Parquet file (`sources/pack.py`)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from audit.ingest.checks import size_of
from audit.ingest.gathering import read
from audit.ingest.segment_lists import look_of
from audit.output.errors import AuditError, Problem, UsageError
from audit.output.progress import PrintedProgress
from audit.output.unfinished_results import clear_remains, folder_for, put_in_place
from audit.remote.urls import path_of
from audit.sources.files import beside
from audit.sources.intake import Intake
from audit.sources.pack import About, PackedRun
from audit.vocabulary.endings import PACK

_PACKED: Final = """
    select getvariable('about') as about
    union all by name
    select * from (
        select label as file, segments.* exclude (segment, place, bytes, defect)
        from segments
        join record_files using (segment, place)
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
    cache: bool = True,
) -> Packed:
    """Pack a folder or an archive.

    Args:
        path: as every command of the audit takes it.
        out: the pack, or a folder for it; without it the pack is written beside its source.
        force: overwrite the pack if there is one.
        strict: refuse records with problems. Otherwise those that audits leave out are left out, and every audit of the
            pack reports them again.
        cache: see `open_store`.

    Raises:
        UsageError: the pack already exists, or cannot have that name or place.
        AuditError: there are no records, or they change meanwhile, or `strict` and something is wrong with them.
    """
    path = path_of(path)
    target = _target(path, None if out is None else Path(out))
    clear_remains(target)
    _refuse_overwriting(target, force=force)
    with contextlib.ExitStack() as resources:
        intake, database, _ = read([path], resources, strict=strict, cache=cache)
        looks = {file: look_of(file.file) for file in intake.files}
        part = resources.enter_context(folder_for(target)) / "pack"
        with PrintedProgress() as progress:
            progress.begin(0, "writing the pack", counted=False)
            database.set("about", msgspec.json.encode(_about(intake)).decode())
            database.write_query(_PACKED, part)
        changed = next((file for file, look in looks.items() if look_of(file.file) != look), None)
        if changed is not None:
            raise AuditError(f"{changed.label} changed meanwhile; pack it when nothing is written to it any more")
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


def _about(intake: Intake) -> About:
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


def _target(path: Path, out: Path | None) -> Path:
    if out is None:
        target = beside(path, PACK)
    elif out.is_dir():
        target = out / beside(Path(os.fspath(path)), PACK).name
    elif out.name.endswith(PACK):
        target = out
    else:
        raise UsageError(f"--out {out}: neither an existing folder, nor a name that ends in {PACK}")
    if not target.parent.is_dir():
        raise UsageError(f"--out {out}: no such folder {target.parent}; a pack is written to this machine")
    if path.is_dir() and target.resolve().is_relative_to(path.resolve()):
        what = f"{path}: its pack, named like it," if out is None else f"--out {out}:"
        raise UsageError(f"{what} is in the folder that is packed, whose audits would read both; name another --out")
    return target


def _refuse_overwriting(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise UsageError(f"{target} already exists; overwrite it with --force")

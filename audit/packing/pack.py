"""Packs a data set: everything that the audit reads of it, in one Parquet file (`audit/sources/pack.py`)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.engine.carried import LEVELS
from audit.ingest.checks import size_of
from audit.ingest.gathering import read
from audit.ingest.segment_lists import look_of
from audit.output.errors import AuditError, UsageError
from audit.output.progress import PrintedProgress
from audit.output.unfinished_results import clear_remains, folder_for, put_in_place
from audit.packing.packed import Packed
from audit.packing.partitions import pack_partitions
from audit.packing.writing import write_pack
from audit.remote.uploads import refuse_overwriting, target_of, upload
from audit.remote.urls import path_of
from audit.sources.files import beside
from audit.vocabulary.endings import PACK
from collector.system.stopping import temporary_folder


def pack(
    path: str | Path,
    out: str | Path | None = None,
    *,
    to: str | None = None,
    force: bool = False,
    strict: bool = False,
    cache: bool = True,
    findings: str = "word",
    partition: bool = False,
    append: bool = False,
) -> Packed:
    """Pack a folder or an archive.

    Args:
        path: as every command of the audit takes it.
        out: the pack, or a folder for it; without it the pack is written beside its source.
        to: a URL that the pack is uploaded to, which ends in `.pack.parquet` or, for a folder, in `/`; without `out`
            the pack is there alone.
        force: overwrite the pack if there is one.
        strict: refuse records with problems. Otherwise they are packed as they are, and every audit finds them again.
        cache: see `open_store`.
        findings: what the pack carries beside its records: `word` for what commands print by default, `all` for noise,
            mentions and the detector `resolved` as well, or `none`.
        partition: make a folder with a pack for each condition and task, each of which is read and written on its own.
        append: add to such a folder the runs that it does not hold and what is new in runs that have grown.

    Raises:
        UsageError: the pack already exists, or cannot have that name or place.
        AuditError: there are no records, or they change meanwhile, or `strict` and something is wrong with them.
    """
    if findings not in LEVELS:
        raise UsageError(f"--findings {findings}: none of {', '.join(LEVELS)}")
    path, out = path_of(path), None if out is None else Path(out)
    if to is not None:
        if append:
            raise UsageError("--append adds to a folder on this machine; --partition --to uploads packs")
        options = {"force": force, "strict": strict, "cache": cache, "findings": findings, "partition": partition}
        return _pack_to(to, path, out, options)
    if partition or append:
        return pack_partitions(path, out, force=force, strict=strict, findings=findings, append=append)
    target = _target(path, out)
    clear_remains(target)
    _refuse_overwriting(target, force=force)
    with contextlib.ExitStack() as resources:
        intake, database, readings, kept = read([path], resources, strict=strict, cache=cache, for_pack=True)
        if any(file.place is not None for file in intake.files):
            raise UsageError(f"{path} is packed already, or holds a pack; copy it as it is")
        looks = {file: look_of(file.file) for file in intake.files}
        found = len(intake.problems) - sum(len(reading.faults) for reading in readings.values())
        part = resources.enter_context(folder_for(target)) / "pack"
        with PrintedProgress() as progress:
            progress.begin(0, "writing the pack", counted=False)
            as_they_are = write_pack(
                part, intake, database, readings, kept, problems=intake.problems[:found], level=findings
            )
        changed = next((file for file, look in looks.items() if look_of(file.file) != look), None)
        if changed is not None:
            raise AuditError(f"{changed.label} changed meanwhile; pack it when nothing is written to it any more")
        _refuse_overwriting(target, force=force)
        put_in_place(part, target)
        return Packed(
            path=target,
            runs=len(intake.runs),
            files=len(intake.files),
            files_as_they_are=as_they_are,
            size_before=sum(size_of(file) for file in intake.files),
            size_after=target.stat().st_size,
            problems=intake.problems,
            notes=intake.notes,
        )


def _pack_to(to: str, path: Path, out: Path | None, options: Mapping[str, Any]) -> Packed:
    """Pack, and upload what was packed: one object, or for partitions one each."""
    name, force = _usual_name(path), bool(options["force"])
    refuse_overwriting(target_of(to, name), force=force)
    if options["partition"] and not to.endswith("/"):
        raise UsageError(f"--to {to}: packs in partitions go into a folder, with / at its end")
    with temporary_folder() as folder:
        packed = pack(path, Path(folder, "packs" if options["partition"] else name) if out is None else out, **options)
        files = sorted(packed.path.glob(f"*{PACK}")) if packed.path.is_dir() else [packed.path]
        targets = [target_of(to, file.name if packed.path.is_dir() else name) for file in files]
        for target in targets:
            refuse_overwriting(target, force=force)
        for file, target in zip(files, targets, strict=True):
            upload(file, target, force=force)
        return replace(packed, path=targets[0].path if len(targets) == 1 else path_of(to))


def _usual_name(path: Path) -> str:
    return beside(Path(os.fspath(path)), PACK).name


def _target(path: Path, out: Path | None) -> Path:
    usual = beside(path, PACK) if out is None else Path(_usual_name(path))
    if out is None:
        target = usual
    elif out.is_dir():
        target = out / usual.name
    elif out.name.endswith(PACK):
        target = out
    else:
        raise UsageError(f"--out {out}: neither an existing folder, nor a name that ends in {PACK}")
    if not target.parent.is_dir():
        raise UsageError(f"--out {out}: no such folder {target.parent}")
    if path.is_dir() and target.resolve().is_relative_to(path.resolve()):
        what = f"{path}: its pack, named like it," if out is None else f"--out {out}:"
        raise UsageError(f"{what} is in the folder that is packed, whose audits would read both; name another --out")
    return target


def _refuse_overwriting(target: Path, *, force: bool) -> None:
    if target.exists() and not force:
        raise UsageError(f"{target} already exists; overwrite it with --force")

"""Packs a data set: everything that the audit reads of it, in one Parquet file (`audit/sources/pack.py`)."""

from __future__ import annotations

import base64
import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from audit.engine.database import SMALL
from audit.ingest.checks import point_at, size_of
from audit.ingest.gathering import read
from audit.ingest.readings import Readings
from audit.ingest.segment_lists import look_of
from audit.output.errors import AuditError, Problem, UsageError
from audit.output.progress import PrintedProgress
from audit.output.unfinished_results import folder_for
from audit.remote.uploads import refuse_overwriting, target_of, upload
from audit.remote.urls import path_of
from audit.sources.files import beside
from audit.sources.intake import Intake, RecordFile
from audit.sources.pack import Contents, PackedFile, PackedRun, PackedSkips, rules
from audit.vocabulary.endings import PACK


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack and what it was made from; `problems` and `notes` are as in a store."""

    path: Path
    runs: int
    files: int
    files_as_they_are: int
    size_before: int
    size_after: int
    problems: Sequence[Problem]
    notes: Sequence[str]


def pack(
    path: str | Path,
    out: str | Path | None = None,
    *,
    to: str | None = None,
    force: bool = False,
    strict: bool = False,
    cache: bool = True,
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

    Raises:
        UsageError: the pack already exists, or cannot have that name or place.
        AuditError: there are no records, or they change meanwhile, or `strict` and something is wrong with them.
    """
    path, out = path_of(path), None if out is None else Path(out)
    if to is not None:
        return _pack_to(to, path, out, force=force, strict=strict, cache=cache)
    target = _target(path, out)
    _refuse_overwriting(target, force=force)
    with contextlib.ExitStack() as resources:
        intake, database, readings = read([path], resources, strict=strict, cache=cache)
        if any(file.place is not None for file in intake.files):
            raise UsageError(f"{path} is packed already, or holds a pack")
        looks = {file: look_of(file.file) for file in intake.files}
        in_columns = [file for file in intake.files if readings[file].is_plain]
        as_they_are = [file for file in intake.files if file not in set(in_columns)]
        places = {file: place for place, file in enumerate([*in_columns, *as_they_are], start=1)}
        contents = _contents(intake, readings, places, len(in_columns))
        point_at(in_columns, intake, database)
        database.set("raw_lines", intake.write("raw_lines.jsonl", _raw_lines(as_they_are, places)))
        database.set("contents", msgspec.json.encode(contents).decode())
        part = resources.enter_context(folder_for(target)) / "pack"
        with PrintedProgress() as progress:
            progress.begin(0, "writing the pack", counted=False)
            database.write("packed", part, level=SMALL)
        changed = next((file for file, look in looks.items() if look_of(file.file) != look), None)
        if changed is not None:
            raise AuditError(f"{changed.label} changed meanwhile; pack it when nothing is written to it any more")
        _refuse_overwriting(target, force=force)
        _to_disk(part)
        part.replace(target)
        return Packed(
            path=target,
            runs=len(intake.runs),
            files=len(intake.files),
            files_as_they_are=len(as_they_are),
            size_before=sum(size_of(file) for file in intake.files),
            size_after=target.stat().st_size,
            problems=intake.problems,
            notes=intake.notes,
        )


def _pack_to(to: str, path: Path, out: Path | None, *, force: bool, strict: bool, cache: bool) -> Packed:
    """Pack, and upload what was packed."""
    target = target_of(to, _usual_name(path))
    refuse_overwriting(target, force=force)
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:
        packed = pack(path, Path(folder) if out is None else out, force=force, strict=strict, cache=cache)
        upload(packed.path, target, force=force)
    return replace(packed, path=target.path)


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


def _raw_lines(files: Sequence[RecordFile], places: Mapping[RecordFile, int]) -> Iterator[dict[str, object]]:
    for file in files:
        with Path(file.file).open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                yield {"place": places[file], "number": number, "line": base64.b64encode(line).decode()}


def _contents(intake: Intake, readings: Readings, places: Mapping[RecordFile, int], in_columns: int) -> Contents:
    runs = {identity: index for index, identity in enumerate(intake.runs)}
    found = len(intake.problems) - sum(len(reading.faults) for reading in readings.values())
    return Contents(
        made_by=_program_version(),
        rules=rules(),
        runs=[
            PackedRun(described=intake.described[identity]) if identity in intake.described else PackedRun(facts=facts)
            for identity, facts in intake.runs.items()
        ],
        files=[
            PackedFile(label=file.label, run=runs[file.identity], place=places[file], is_raw=places[file] > in_columns)
            for file in intake.files
        ],
        # Problems in record files are found again in every audit.
        problems=intake.problems[:found],
        logged_returns=[msgspec.json.decode(line) for line in intake.logged_returns.read_bytes().splitlines()],
        skipped=[PackedSkips(run=runs[key], iterations=sorted(found)) for key, found in intake.skipped.items()],
    )


def _program_version() -> str:
    try:
        return version("salience-audit")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

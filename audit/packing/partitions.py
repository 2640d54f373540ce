"""Packs a data set into a folder of packs, one for each condition and task, and adds to it what is new."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from audit.engine.database import Database
from audit.ingest.checks import size_of
from audit.ingest.gathering import found_below, nothing, read_found
from audit.ingest.segment_lists import look_of
from audit.output.errors import AuditError, Problem, UsageError, refuse_problems
from audit.output.progress import tracked
from audit.output.unfinished_results import clear_remains, folder_for, locked, put_in_place
from audit.packing.held import Held, keep_new
from audit.packing.packed import Packed
from audit.packing.writing import write_pack
from audit.sources.files import beside
from audit.sources.intake import Intake, RecordFile
from audit.vocabulary.endings import PACK
from collector.system.stopping import temporary_folder

PACKS: Final = ".packs"
"""The ending of a folder of packs, where no name is given."""

_LONGEST: Final = 60
"""Characters of a condition's or task's name that a file's name has."""

Cell = tuple[str, str]


def pack_partitions(path: Path, out: Path | None, *, force: bool, strict: bool, findings: str, append: bool) -> Packed:
    """Pack each condition and task of a data set on its own, one after the other, so that room is needed for one.

    Args:
        path: as every command of the audit takes it.
        out: the folder; without it, one beside the data set.
        force: replace the folder if there is one.
        strict: refuse records with problems.
        findings: see `pack`.
        append: add what the folder does not hold.

    Raises:
        UsageError: the folder already exists, or with `append` does not, or cannot be there.
        AuditError: there are no records, or they change meanwhile, or `strict` and something is wrong with them.
    """
    target = out or beside(path, PACKS)
    clear_remains(target)
    _check(path, target, force=force, append=append)
    with contextlib.ExitStack() as resources:
        if append:
            resources.enter_context(_alone(target))
        directory = resources.enter_context(temporary_folder())
        intake = found_below([path], directory)
        if not intake.files:
            raise nothing(intake)
        if any(file.place is not None for file in intake.files):
            raise UsageError(f"{path} is packed already, or holds a pack; copy it as it is")
        looks = {file: look_of(file.file) for file in intake.files}
        sizes = keep_new(intake, Held.of(target)) if append else {}
        part = resources.enter_context(folder_for(target)) / "packs"
        part.mkdir()
        before = {each.name.casefold() for each in target.iterdir()} if append else set()
        as_they_are = _write_all(intake, sizes, part, findings, before)
        if strict:
            refuse_problems(intake.problems)
        changed = next((file for file, look in looks.items() if look_of(file.file) != look), None)
        if changed is not None:
            raise AuditError(f"{changed.label} changed meanwhile; pack it when nothing is written to it any more")
        packs = sorted(part.iterdir())
        size_after = sum(each.stat().st_size for each in packs)
        if append:
            for each in packs:
                put_in_place(each, target / each.name)
        else:
            put_in_place(part, target)
        return Packed(
            path=target,
            runs=len(intake.runs),
            files=len(intake.files),
            files_as_they_are=as_they_are,
            size_before=sum(map(size_of, intake.files)),
            size_after=size_after,
            problems=intake.problems,
            notes=intake.notes,
            packs=len(packs),
        )


def _check(path: Path, target: Path, *, force: bool, append: bool) -> None:
    if append and not target.is_dir():
        raise UsageError(f"--append: no folder {target} of packs; make it with --partition")
    if target.exists() and not append and not (force and target.is_dir()):
        raise UsageError(f"{target} already exists; add to it with --append, or replace it with --force")
    if force and target.is_dir() and any(not each.name.endswith(PACK) for each in target.iterdir()):
        raise UsageError(f"{target} holds other files than packs; --force does not replace it")
    if not target.parent.is_dir():
        raise UsageError(f"--out {target}: no such folder {target.parent}")
    if path.is_dir() and target.resolve().is_relative_to(path.resolve()):
        raise UsageError(f"--out {target}: is in the folder that is packed, whose audits would read both; name another")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While nothing else is added to a folder."""
    lock = locked(folder)
    if lock is None and os.name == "posix":
        raise UsageError(f"{folder}: something else is being added to it; try again when that has ended")
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _write_all(intake: Intake, sizes: dict[RecordFile, int], folder: Path, findings: str, before: set[str]) -> int:
    """Write a pack for each condition and task; returns how many files they hold as they are."""
    files: dict[Cell, list[RecordFile]] = {(run.condition, run.env): [] for run in intake.runs}
    for file in intake.files:
        files[file.condition, file.env].append(file)
    found = list(intake.problems)
    as_they_are = 0
    for place, cell in enumerate(tracked(sorted(files), "packing")):
        # What is wrong with a data set beside its record files is of no condition: the first pack has it.
        as_they_are += _write_one(intake, cell, files[cell], sizes, folder, findings, before, [] if place else found)
    return as_they_are


def _write_one(
    intake: Intake,
    cell: Cell,
    files: Sequence[RecordFile],
    sizes: dict[RecordFile, int],
    folder: Path,
    findings: str,
    before: set[str],
    problems: Sequence[Problem],
) -> int:
    with tempfile.TemporaryDirectory(prefix="part-", dir=intake.directory) as directory:
        part = intake.part(Path(directory), files)
        part.runs = {run: facts for run, facts in intake.runs.items() if (run.condition, run.env) == cell}
        part.described = {run: intake.described[run] for run in part.runs if run in intake.described}
        part.skipped = {run: intake.skipped[run] for run in part.runs if run in intake.skipped}
        part.append(part.logged_returns, *_logged_returns(intake, cell))
        with contextlib.closing(Database(Path(directory))) as database:
            database.read_for_pack()
            readings = read_found(part, database, None)
            path = folder / _name(cell, before)
            count = write_pack(path, part, database, readings, None, problems=problems, level=findings, sizes=sizes)
        intake.problems.extend(part.problems)
        return count


def _logged_returns(intake: Intake, cell: Cell) -> Iterator[object]:
    if not intake.logged_returns.exists():
        return
    with intake.logged_returns.open("rb") as stream:
        for line in stream:
            record = msgspec.json.decode(line)
            if (record["condition"], record["env"]) == cell:
                yield record


def _name(cell: Cell, taken: set[str]) -> str:
    """A name for a file that no file of the folder has, in whatever case; taken from here on."""
    stem = "--".join(map(_plain, cell))
    number = 1
    while f"{stem}--{number}{PACK}".casefold() in taken:
        number += 1
    name = f"{stem}--{number}{PACK}"
    taken.add(name.casefold())
    return name


def _plain(text: str) -> str:
    """A name of letters and digits that every file system takes."""
    plain = re.sub(r"[^A-Za-z0-9_.-]+|^[.-]", "_", text)[:_LONGEST]
    return plain if plain == text else f"{plain}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}"

"""Keeps what was translated from tools' logs, so that a later command neither parses nor translates them again.

A translation is known by its files: their paths, sizes and times. Files that changed a moment ago may change again and
look the same, and members of archives have no times of their own; what is made of those is not kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec

from audit.cache_folder import DAY, SETTLED, UNUSED, cache_folder
from audit.output.errors import Problem
from audit.sources.files import Found
from audit.sources.formats import Source
from audit.sources.intake import Intake, RecordFile, RunFacts
from audit.sources.sqlite_copies import JOURNALS
from audit.vocabulary.keys import RunKey

_FOLDER: Final = "translations"
_INDEX: Final = "translation.json"
SMALLEST: Final = 2**18
"""Bytes of logs from which on translations are kept."""


MOST: Final = 10**9
"""Bytes of all that are kept."""
IN_USE: Final = 600.0
"""Seconds for which a translation is left alone."""


class _Translation(msgspec.Struct, frozen=True):
    """What a source adds to an intake; files are relative to the folder of the translation."""

    files: list[RecordFile]
    runs: list[RunFacts]
    skipped: list[tuple[RunKey, list[int]]]
    problems: list[Problem]
    notes: list[str]


def translate(source: Source, claimed: Sequence[Found], intake: Intake, *, keep: bool) -> None:
    """Have a source read the files that it claims, or take what it made of them before.

    Args:
        source: of a tool's logs.
        claimed: its files, all on disk.
        intake: takes what it finds.
        keep: whether anything is kept.
    """
    folder = _folder(source, claimed) if keep else None
    if folder is not None and _restored(folder, intake):
        return
    own = intake if folder is None else Intake(intake.directory / f"translation-{folder.name}")
    if own is not intake:
        own.directory.mkdir()
    for found in claimed:
        source.take(found, own)
    source.finish(own)
    if folder is None:
        return
    made = _Translation(
        [msgspec.structs.replace(file, file=os.path.relpath(file.file, own.directory)) for file in own.files],
        list(own.runs.values()),
        [(key, sorted(iterations)) for key, iterations in own.skipped.items()],
        own.problems,
        own.notes,
    )
    is_kept = False
    # A full disk, or a folder that cannot be written, keeps nothing.
    with contextlib.suppress(OSError, UnicodeEncodeError):
        is_kept = _keep(own.directory, folder, made)
    _add(made, folder if is_kept else own.directory, intake)


def _folder(source: Source, claimed: Sequence[Found]) -> Path | None:
    """Where the translation of some files is kept; None where it is not."""
    kept_in = cache_folder()
    if kept_in is None or not claimed:
        return None
    state: list[object] = [version("salience-audit"), _program()]
    size, newest = 0, 0
    for found in claimed:
        if found.path is None:
            return None
        for path in (found.path, *(found.path.with_name(found.path.name + ending) for ending in JOURNALS)):
            try:
                stat = path.stat()
            except OSError:
                continue
            size, newest = size + stat.st_size, max(newest, stat.st_mtime_ns, stat.st_ctime_ns)
            state.append([found.label, str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino])
    if size < SMALLEST or time.time_ns() - newest < SETTLED:
        return None
    whose = [
        type(source).__name__,
        os.path.commonpath([found.path.parent.absolute() for found in claimed if found.path]),
    ]
    names = (hashlib.blake2b(json.dumps(each).encode(), digest_size=16).hexdigest() for each in (whose, state))
    return kept_in.joinpath(_FOLDER, *names)


def _program() -> list[int]:
    """When the modules that translate were written: of a checkout they change without its version."""
    return sorted(path.stat().st_mtime_ns for path in Path(__file__).parent.glob("*.py"))


def _restored(folder: Path, intake: Intake) -> bool:
    try:
        made = msgspec.json.decode((folder / _INDEX).read_bytes(), type=_Translation)
        sizes_fit = all((folder / file.file).is_file() for file in made.files)
    except (OSError, msgspec.MsgspecError):
        return False
    if sizes_fit:
        with contextlib.suppress(OSError):
            os.utime(folder)
        _add(made, folder, intake)
    return sizes_fit


def _add(made: _Translation, folder: Path, intake: Intake) -> None:
    for facts in made.runs:
        intake.add_run(facts)
    intake.files.extend(msgspec.structs.replace(file, file=str(folder / file.file)) for file in made.files)
    intake.skipped.update({key: set(iterations) for key, iterations in made.skipped})
    intake.problems.extend(made.problems)
    intake.notes.extend(made.notes)


def _keep(made_in: Path, folder: Path, made: _Translation) -> bool:
    """Move a translation to where it is kept: as a whole, so that no half of one is ever found."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _tidy(folder)
    draft = folder.with_name(f"{folder.name}.{os.getpid()}")
    draft.mkdir()
    try:
        for name in {Path(file.file).parts[0] for file in made.files}:
            shutil.copytree(made_in / name, draft / name)
        (draft / _INDEX).write_bytes(msgspec.json.encode(made))
        with contextlib.suppress(OSError):  # another process was first
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return (folder / _INDEX).is_file()


def _tidy(folder: Path) -> None:
    """Remove translations that were not used for long, earlier ones of the same logs, and those beyond the size limit.

    One that was used a moment ago may be in use.
    """
    kept: list[tuple[float, int, Path]] = []
    for each in folder.parent.parent.glob("*/*"):
        with contextlib.suppress(OSError):
            size = sum(path.stat().st_size for path in each.rglob("*"))
            kept.append((time.time() - each.stat().st_mtime, size, each))
    excess = sum(size for _, size, _ in kept) - MOST
    for unused, size, each in sorted(kept, reverse=True):
        is_replaced = each.parent == folder.parent or excess > 0
        if unused > UNUSED * DAY or (is_replaced and unused > IN_USE):
            shutil.rmtree(each, ignore_errors=True)
            excess -= size

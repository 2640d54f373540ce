"""Where a result is written before it takes its place, and what killed processes have left of theirs."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError
from collector.errors import cannot_write

UNWRITABLE: Final = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EFBIG)
"""Reasons of a disk that takes nothing."""

REPLACED: Final = "replaced"
"""Name of the folder that another one takes the place of, until that is there."""
DAY: Final = 86_400
"""Seconds after which an unfinished result is what a killed process has left."""


@contextlib.contextmanager
def folder_for(target: Path) -> Iterator[Path]:
    """A new folder beside a place, to write in; in the end it is removed, as are remains of earlier ones.

    Args:
        target: where the result will be; its parent is created.

    Raises:
        AuditError: the disk is full or read-only, or has no permission.
    """
    folder = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_remains(folder, target)
        folder.mkdir()
    except OSError as error:
        raise AuditError(cannot_write(target, error)) from None
    try:
        yield folder
    except Exception as error:
        if (reason := _unwritable(error, folder)) is not None:
            raise AuditError(cannot_write(target, reason)) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def put_in_place(new: Path, target: Path) -> None:
    """Move a result to its place once the disk has all of it; what is there goes, or stays if that fails.

    Args:
        new: the result, in a folder that `folder_for` made for the place.
        target: its place.
    """
    # Several files at once: the system writes those together.
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(_to_disk, (new, *new.rglob("*"))))
    aside = new.with_name(REPLACED)
    is_replaced = new.is_dir() and target.is_dir()
    if is_replaced:
        target.rename(aside)
    try:
        new.replace(target)
    except BaseException:
        if is_replaced:
            aside.rename(target)
        raise


def _clear_remains(own: Path, target: Path) -> None:
    """Remove what killed processes have left, a day later at the earliest; before, a process may write there still.

    What one of them had put away, and not replaced, is put back.
    """
    pattern = re.compile(re.escape(f".{target.name}.") + r"[0-9]+\.part")
    for path in list(target.parent.iterdir()):
        if pattern.fullmatch(path.name):
            if (path / REPLACED).exists() and not target.exists():
                (path / REPLACED).rename(target)
            if path == own or path.lstat().st_mtime < time.time() - DAY:
                shutil.rmtree(path, ignore_errors=True)


def _unwritable(error: Exception, folder: Path) -> OSError | None:
    """Why a result in a folder could not be written, if that is the reason of an error of the system or DuckDB's."""
    file = os.fsdecode(getattr(error, "filename", None) or folder)
    if not file.startswith(str(folder)) or not (isinstance(error, OSError) or "duckdb" in type(error).__module__):
        return None
    return next((OSError(reason) for reason in map(os.strerror, UNWRITABLE) if reason in str(error)), None)


def _to_disk(path: Path) -> None:
    if path.is_file():
        with path.open("rb") as file:
            os.fsync(file.fileno())

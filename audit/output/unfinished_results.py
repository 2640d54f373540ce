"""Where a result is written before it takes its place, and what killed processes have left of theirs."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError
from collector.errors import cannot_write

REPLACED: Final = "replaced"
"""What a result replaces is put away under this name until the result is in its place."""

UNWRITABLE: Final = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EFBIG)
"""Reasons of a disk that takes nothing."""

SYNCED_AT_ONCE: Final = 8
"""Files that are synced at once: the system writes those together."""


@contextlib.contextmanager
def folder_for(target: Path) -> Iterator[Path]:
    """A new folder beside a place, to write in; in the end it is removed.

    A process holds a lock on its folder, which the system drops with the process, however that ends. So folders for the
    same place that no process holds are remains, and are removed first.

    Args:
        target: where the result will be; its parent is created.

    Raises:
        AuditError: the disk is full or read-only, or has no permission.
    """
    folder = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        clear_remains(target)
        folder.mkdir()
    except OSError as error:
        raise AuditError(cannot_write(target, error)) from None
    lock = _locked(folder)
    try:
        yield folder
    except Exception as error:
        if (reason := _unwritable(error, folder)) is not None:
            raise AuditError(cannot_write(target, reason)) from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def clear_remains(target: Path) -> None:
    """Remove what killed processes have left of results for a place, before anything refuses to write there."""
    mine = re.compile(re.escape(f".{target.name}.") + r"[0-9]+\.part")
    for path in list(target.parent.iterdir()) if target.parent.is_dir() else ():
        if mine.fullmatch(path.name):
            _clear(path, target)


def put_in_place(new: Path, target: Path) -> None:
    """Move a result to its place once the disk has all of it; what is there goes, or stays if that fails.

    Args:
        new: the result, in a folder that `folder_for` made for the place.
        target: its place.
    """
    with ThreadPoolExecutor(SYNCED_AT_ONCE) as threads:
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
    _to_disk(target.parent)


def _unwritable(error: Exception, folder: Path) -> OSError | None:
    """Why a result in a folder could not be written, if that is the reason of an error of the system or DuckDB's."""
    if isinstance(error, OSError) and error.errno is not None:
        is_here = error.filename is None or os.fsdecode(error.filename).startswith(os.fspath(folder))
        return error if is_here and error.errno in UNWRITABLE else None
    is_text = isinstance(error, shutil.Error) or "duckdb" in type(error).__module__
    reasons = map(os.strerror, UNWRITABLE if is_text else ())
    return next((OSError(reason) for reason in reasons if reason in str(error)), None)


def _to_disk(path: Path) -> None:
    is_folder = path.is_dir()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        # Some file systems cannot sync folders.
        with contextlib.suppress(OSError) if is_folder else contextlib.nullcontext():
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _clear(path: Path, target: Path) -> None:
    lock = _locked(path)
    if lock is None:
        return
    try:
        with contextlib.suppress(OSError):
            if (path / REPLACED).exists() and not target.exists():
                (path / REPLACED).rename(target)
            # Earlier versions wrote some results to a file of such a name.
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    finally:
        os.close(lock)


def _locked(path: Path) -> int | None:
    """A descriptor that holds the lock on a folder or file; None where a process holds it, or there are no locks."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (ImportError, OSError):  # only POSIX systems have such locks
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor

"""A consistent copy of an SQLite database that another program may be writing.

Opening a database in place leaves files beside it or changes them, even for reading only, and without its journal it
may be in the middle of a change. So the file is copied, then its journal, and both again where the file changed
meanwhile: SQLite brings the copy to the last change that was finished, as after a crash.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from collector.system.regular_files import open_regular

JOURNALS: Final = ("-wal", "-journal")
"""Endings of the names of journals: of the two ways in which SQLite keeps one."""
_ATTEMPTS: Final = 20
_HEADER: Final = 32
"""Bytes of the header of a write-ahead log, with salts that are drawn anew (https://sqlite.org/fileformat2.html)."""
_PAUSE: Final = 0.05
"""Seconds between two attempts."""


def copy_database(path: Path, copy: Path) -> None:
    """Copy a database with its journal; nothing in its folder is changed.

    Args:
        path: the database.
        copy: where the copy goes; its journal goes beside it.

    Raises:
        OSError: it cannot be read, or changes all the time.
    """
    real = Path(os.path.realpath(path))
    if real.stat().st_size > shutil.disk_usage(copy.parent).free // 2:
        raise OSError(errno.ENOSPC, "its copy would fill half of the disk with the temporary folder; set TMPDIR")
    for _ in range(_ATTEMPTS):
        before = _state(real)
        _copy(real, copy)
        for ending in JOURNALS:
            journal = copy.with_name(copy.name + ending)
            journal.unlink(missing_ok=True)
            # A journal that is finished meanwhile has changed the file as well.
            with contextlib.suppress(FileNotFoundError):
                _copy(real.with_name(real.name + ending), journal)
        if _state(real) == before:
            return
        time.sleep(_PAUSE)
    raise OSError(errno.EBUSY, "it changes faster than it can be copied; try again later")


@contextlib.contextmanager
def opened(copy: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy for reading; text that is not UTF-8 has U+FFFD in it.

    Raises:
        sqlite3.Error: it is no database, or damaged.
    """
    connection = sqlite3.connect(copy)
    try:
        # Views and generated columns of a foreign file run no function that could do harm.
        connection.execute("pragma trusted_schema = off")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        yield connection
    finally:
        connection.close()


def _state(path: Path) -> tuple[int, int, int, bytes]:
    """What changes when the database is written, or when its journal is begun again: that gives it another header."""
    found = path.stat()
    header = b""
    with contextlib.suppress(FileNotFoundError), open_regular(path.with_name(path.name + JOURNALS[0])) as journal:
        header = journal.read(_HEADER)
    return found.st_mtime_ns, found.st_size, found.st_ino, header


def _copy(path: Path, copy: Path) -> None:
    with open_regular(path) as stream, copy.open("wb") as target:
        shutil.copyfileobj(stream, target, 2**20)

"""What is kept of relations from one audit to the next, as one database takes it and adds to it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import duckdb


class Shelf(Protocol):
    """Where relations are kept from one audit to the next, each in a database of its own."""

    def find(self, name: str) -> Path | None:
        """The database in which a relation is kept; None if it is not kept."""

    def room(self, name: str) -> AbstractContextManager[Path | None]:
        """Where a relation can be written to be kept; None if it cannot."""


class Keeper:
    """Takes relations from a shelf, and keeps them there.

    Every file is made in the directory for temporary files, which a confined database can write to, and copied.

    Args:
        connection: of the database.
        directory: for temporary files.
        shelf: None where nothing is kept.

    Attributes:
        shelf: the shelf.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, directory: Path, shelf: Shelf | None) -> None:
        self._connection = connection
        self._directory = directory
        self.shelf = shelf
        self._is_confined = False

    def confine(self) -> None:
        """Let the database read from here on only what is in the directory for temporary files."""
        self._is_confined = True

    def within(self, path: Path, name: str) -> Path:
        """A file as the database may read it: where it is confined, a copy under some name.

        Raises:
            OSError: it cannot be copied.
        """
        if not self._is_confined or path.is_relative_to(self._directory):
            return path
        return Path(shutil.copyfile(path, self._directory / name))

    def take(self, name: str) -> bool:
        """Make a relation that is kept a view; False where it is not there."""
        path = None if self.shelf is None else self.shelf.find(name)
        if path is None:
            return False
        try:
            self._read(name, self.within(path, f"{name}.kept"))
        except (OSError, duckdb.Error):  # another audit has just removed it
            return False
        return True

    def keep(self, name: str, *, is_view: bool = False) -> None:
        """Keep a relation, if it can be kept.

        Args:
            name: of the relation, which is built.
            is_view: whether it is a view, which becomes one of what was kept, so that it is computed once.
        """
        if self.shelf is None:
            return
        path = self._directory / f"{name}.kept"
        with contextlib.suppress(OSError, duckdb.Error), self.shelf.room(name) as room:
            if room is None:
                return
            self.export(path, name, f'from "{name}"', "" if is_view else "block_size 16384")
            shutil.copyfile(path, room)
            if is_view:
                self._read(name, path)

    def file(self, name: str, write: Callable[[Path], None]) -> Path:
        """A file that is kept under a name; a function writes it where there is none yet."""
        path = None if self.shelf is None else self.shelf.find(name)
        if path is not None:
            return path
        path = self._directory / f"{name}.kept"
        write(path)
        if self.shelf is not None:
            with contextlib.suppress(OSError), self.shelf.room(name) as room:
                if room is not None:
                    shutil.copyfile(path, room)
        return path

    def export(self, path: Path, name: str, query: str, options: str = "") -> None:
        """Write the result of a query into a new database file, as a table of that name."""
        self._attach(path, "exported", options)
        try:
            self._connection.execute(f'create table exported."{name}" as {query}')
        finally:
            self._connection.execute("detach exported")

    def _read(self, name: str, path: Path) -> None:
        """Make a relation a view of a file, which stays open, so that it is no loss if another audit removes it."""
        self._attach(path, f"kept_{name}", "read_only")
        self._connection.execute(f'create or replace view "{name}" as from "kept_{name}"."{name}"')

    def _attach(self, path: Path, name: str, options: str) -> None:
        quoted = str(path).replace("'", "''")
        settings = f", {options}" if options else ""
        self._connection.execute(f"attach '{quoted}' as \"{name}\" (type duckdb{settings})")

"""A file system for DuckDB that has nothing but packs which this program reads for it."""

from __future__ import annotations

import datetime
import io
import os
import threading
from collections.abc import Mapping
from typing import Any, Protocol


class Served(Protocol):
    """A pack as DuckDB reads it; any number of threads do."""

    size: int
    failure: str | None

    def read(self, start: int, length: int) -> bytes:
        """Bytes from a place on: fewer where the pack ends."""


class _Handle(io.RawIOBase):
    """An open file as DuckDB uses it: several threads move and read it in turn, so each has a place of its own."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._at = threading.local()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return getattr(self._at, "place", 0)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.tell(), os.SEEK_END: self._served.size}[whence]
        self._at.place = start + offset
        return start + offset

    def read(self, size: int = -1, /) -> bytes:
        place = self.tell()
        data = self._served.read(place, self._served.size - place if size < 0 else size)
        self._at.place = place + len(data)
        return data


def file_system(scheme: str, served: Mapping[str, Served]) -> Any:
    """A file system of what is served, for DuckDB.

    Args:
        scheme: with which all of its addresses begin.
        served: packs by their addresses; some may be added later.
    """
    from fsspec import AbstractFileSystem

    class Files(AbstractFileSystem):  # type: ignore[misc] # fsspec has no types
        """Only what has been served can be opened, and nothing can be written."""

        protocol = scheme
        cachable = False

        def open(self, path: str, mode: str = "rb", **_: Any) -> _Handle:
            if mode != "rb":
                raise PermissionError(path)
            return _Handle(self._of(path))

        def info(self, path: str, **_: Any) -> dict[str, Any]:
            return {"name": path, "size": self._of(path).size, "type": "file"}

        def glob(self, path: str, **_: Any) -> list[str]:
            return [path] if path in served else []

        def exists(self, path: str, **_: Any) -> bool:
            return path in served

        def modified(self, path: str) -> datetime.datetime:  # noqa: ARG002 - DuckDB asks
            return datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)

        def _of(self, path: str) -> Served:
            if path not in served:
                raise FileNotFoundError(path)
            return served[path]

    return Files()

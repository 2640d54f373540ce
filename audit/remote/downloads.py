"""Downloads, bounded while they run: no object takes more of the disk than its server has stated, or than there is."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import IO, Any, Final

from audit.output.errors import AuditError
from audit.remote.objects import RemoteObject, in_loop
from audit.remote.systems import patiently
from audit.remote.urls import Address
from collector.system.secrets import WEB

UNSTATED: Final = 2**28
"""Bytes of all objects together whose size their server does not state."""
SPARED: Final = 2**30
"""Bytes of the disk that copies leave free."""
_CHUNK: Final = 2**20
_LOOKED: Final = 2**26
"""Bytes that are written between two looks at the disk."""


class Downloads:
    """Downloads into a folder, from any number of threads.

    Args:
        address: what is downloaded is there, or below it.
        folder: where to.
    """

    def __init__(self, address: Address, folder: Path) -> None:
        self._address = address
        self._folder = folder
        self._lock = threading.Lock()
        self._unstated = 0
        self._unseen = 0
        self._is_stopped = False

    def close(self) -> None:
        """End those that run, in threads that nobody waits for."""
        self._is_stopped = True

    def download(self, remote: RemoteObject, part: Path) -> None:
        """Write an object to a file.

        Raises:
            AuditError: it cannot be had, is longer or shorter than stated, or would fill the disk.
        """
        patiently(lambda: self._once(remote, part), remote.address)
        if remote.size is not None and part.stat().st_size != remote.size:
            raise _changed(remote)

    def _once(self, remote: RemoteObject, part: Path) -> None:
        received = _Received(self, remote)
        if remote.address.scheme in WEB:
            with part.open("wb") as file:
                in_loop(remote.system, _from_web(remote, file, received))
        else:
            remote.system.get_file(remote.name, str(part), callback=_callback(received))

    def count(self, remote: RemoteObject, more: int) -> None:
        """Count bytes of an object that have come.

        Raises:
            AuditError: no more of them can be taken.
        """
        with self._lock:
            self._unseen += more
            if remote.size is None:
                self._unstated += more
            is_time, unstated = self._unseen >= _LOOKED, self._unstated
            if is_time:
                self._unseen = 0
        if self._is_stopped:
            raise AuditError(f"{self._address.shown}: stopped")
        if remote.size is None and unstated > UNSTATED:
            raise AuditError(
                f"{self._address.shown}: the server does not state how long the object is, and more than "
                f"{UNSTATED / 1e6:,.0f} MB have come; download it with another program, and name the file"
            )
        if is_time and (free := shutil.disk_usage(self._folder).free) < SPARED:
            raise full_disk(self._address, self._folder, free=free)


class _Received:
    """Counts what comes in one attempt."""

    def __init__(self, downloads: Downloads, remote: RemoteObject) -> None:
        self._downloads = downloads
        self._remote = remote
        self._so_far = 0

    def add(self, more: int) -> None:
        self._so_far += more
        self._downloads.count(self._remote, more)
        if self._remote.size is not None and self._so_far > self._remote.size:
            raise _changed(self._remote)


def full_disk(address: Address, folder: Path, *, free: int, needed: int | None = None) -> AuditError:
    """The error of copies that would leave less of the disk than `SPARED`; `needed` bytes, where that is known."""
    size = "more" if needed is None else f"{needed / 1e9:,.1f} GB"
    return AuditError(
        f"{address.shown}: {size} would be copied to {folder.parent}, where {free / 1e9:,.1f} GB are free; "
        "name a folder on a larger disk in SALIENCE_AUDIT_CACHE"
    )


def _changed(remote: RemoteObject) -> AuditError:
    return AuditError(f"{remote.address.shown}: {remote.relative or 'the object'} changed while it was copied")


async def _from_web(remote: RemoteObject, file: IO[bytes], received: _Received) -> None:
    session = await remote.system.set_session()
    headers = {"Accept-Encoding": "identity"}
    async with session.get(remote.system.encode_url(remote.name), headers=headers) as answer:
        answer.raise_for_status()
        async for chunk in answer.content.iter_chunked(_CHUNK):
            received.add(len(chunk))
            file.write(chunk)


def _callback(received: _Received) -> Any:
    from fsspec.callbacks import Callback

    class Watching(Callback):  # type: ignore[misc] # fsspec has no types
        """Told of every part that has come."""

        def relative_update(self, inc: int = 1) -> None:
            received.add(inc)

    return Watching()

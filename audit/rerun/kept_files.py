"""Files that are kept between audits in the user's cache folder, up to a size."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

from audit.cache_folder import digest_of
from audit.request import note


class KeptFiles:
    """Files by name, with a digest before the content of each.

    Beyond a size, those unused longest are removed; where none can be kept, one line reports this.

    Args:
        folder: where they are, made when the first is kept; None keeps nothing.
        most: bytes that are kept.
    """

    def __init__(self, folder: Path | None, most: int) -> None:
        self._folder = folder
        self._most = most

    def find(self, name: str) -> bytes | None:
        """The content of a file; None if there is none, or it is damaged. It counts as used now."""
        with contextlib.suppress(OSError):
            if self._folder is not None:
                digest, _, content = (self._folder / name).read_bytes().partition(b"\n")
                if digest == digest_of(content, name).encode():
                    os.utime(self._folder / name)
                    return content
        return None

    def keep(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all, and make room for it."""
        content = digest_of(content, name).encode() + b"\n" + content
        if self._folder is None or len(content) > self._most:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            unfinished = self._folder / f"{uuid.uuid4().hex}.unfinished"
            unfinished.write_bytes(content)
            unfinished.replace(self._folder / name)
            self._make_room()
        except OSError as error:
            note(f"pictures cannot be kept ({error}); going on without")
            self._folder = None

    def _make_room(self) -> None:
        assert self._folder is not None
        total = 0
        looks = []
        for entry in os.scandir(self._folder):
            with contextlib.suppress(OSError):  # another audit removed it
                looks.append((entry.stat().st_mtime_ns, entry.stat().st_size, entry.path))
        for _, size, path in sorted(looks, reverse=True):
            total += size
            if total > self._most:
                Path(path).unlink(missing_ok=True)

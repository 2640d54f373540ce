"""The version of the program that made what is kept between audits."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Final

LIBRARIES: Final = ("duckdb", "msgspec", "numpy", "scipy")
"""Results depend on their versions."""


@functools.cache
def version() -> str:
    """A digest of all that an analysis depends on beside its data: this package's files and the libraries' versions."""
    from importlib import metadata

    digest = hashlib.blake2b(digest_size=16)
    for library in LIBRARIES:
        digest.update(f"{library} {metadata.version(library)} ".encode())
    for path in program():
        content = Path(path).read_bytes()
        digest.update(f"{len(content)} ".encode() + content)
    return digest.hexdigest()


def program() -> list[str]:
    """Our own files that results depend on: the audit, the statistics, and what of the collector these import."""
    folders = (str(resources.files(package)) for package in ("audit", "collector.system", "collector.records"))
    files = [path for folder in folders for path in sorted(_files(folder))]
    return [*files, str(resources.files("collector") / "errors.py")]


def _files(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir() and not entry.name.startswith("_"):
            yield from _files(entry.path)
        elif entry.name.endswith((".py", ".sql", ".toml")):
            yield entry.path

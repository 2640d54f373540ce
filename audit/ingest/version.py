"""The version of the program that made what is kept between audits, and of the rules that found what packs carry."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from audit.cache_folder import SETTLED, cache_folder, digest_of
from audit.engine.carried import CARRIED
from audit.engine.catalog import functions, models, named_in
from audit.engine.makers import MAKERS

LIBRARIES: Final = ("duckdb", "msgspec", "numpy", "scipy")
"""Results depend on their versions."""

_FOLDER: Final = "versions"


@functools.cache
def version() -> str:
    """A digest of all that an analysis depends on beside its data: this package's files and the libraries' versions.

    It is kept with the cache, and taken from there while all of these files look as they did.
    """
    files = program()
    state, folder = _state_of(files), cache_folder()
    if state is None or folder is None:
        return _digest_of_program(files)
    place = folder / _FOLDER / digest_of(b"", *_folders())
    with contextlib.suppress(OSError, UnicodeDecodeError):
        kept, _, seal = place.read_text().partition(" ")
        if seal == digest_of(kept.encode(), state):
            return kept
    made = _digest_of_program(files)
    if _state_of(files) == state:
        part = place.with_name(f"{uuid.uuid4().hex}.part")
        with contextlib.suppress(OSError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            part.write_text(f"{made} {digest_of(made.encode(), state)}")
            part.replace(place)
    return made


def _digest_of_program(files: Sequence[str]) -> str:
    from importlib import metadata

    digest = hashlib.blake2b(digest_size=16)
    for library in LIBRARIES:
        digest.update(f"{library} {metadata.version(library)} ".encode())
    for path in files:
        content = Path(path).read_bytes()
        digest.update(f"{len(content)} ".encode() + content)
    return digest.hexdigest()


def _state_of(files: Sequence[str]) -> str | None:
    """How files and libraries look, as a digest; None where they may look the same after a change.

    That is so where a file was changed a moment ago, and where all have one date, as those of images that are built
    reproducibly do. A library's version changes with its package, or with the folder that says which are installed.
    """
    folders = [path for path in sys.path if path.endswith("-packages")]
    packages = [spec.origin for library in LIBRARIES if (spec := importlib.util.find_spec(library)) and spec.origin]
    if len(packages) < len(LIBRARIES):
        return None
    looks = []
    for path in (*files, *packages, *folders):
        try:
            found = os.stat(path)  # noqa: PTH116 - several times as fast
        except OSError:
            return None
        looks.append((path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev))
    dates = {look[2] for look in looks[: len(files)]}
    newest = max(max(look[2], look[3]) for look in looks)
    is_certain = len(dates) > 1 and time.time_ns() - newest > SETTLED
    return digest_of(repr(looks).encode()) if is_certain else None


@functools.cache
def findings_version() -> str:
    """A digest of the rules by which what packs carry is found.

    Packs are kept and passed on for long, so that what does not decide about findings is not in it: pages, commands,
    other relations, versions of libraries.
    """
    digest = hashlib.blake2b(digest_size=16)
    needed = {name: models()[name] for name in _relations()} | functions()
    for text in (
        *(f"{each} {each.type}" for each in CARRIED),
        *(f"{name} {text}" for name, text in sorted(needed.items())),
    ):
        digest.update(f"{len(text)} {text}".encode())
    for package in ("audit.detectors", "audit.python_models", "audit.references", "audit.measures", "audit.vocabulary"):
        for path in sorted(_files(str(resources.files(package)))):
            content = Path(path).read_bytes()
            digest.update(f"{len(content)} ".encode() + content)
    return digest.hexdigest()


def _relations() -> set[str]:
    """The relations that packs carry, the one that a detector takes in their place, and all that these are made of."""
    waiting = {each.relation for each in CARRIED} | {"resolved_references"}
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        read = named_in(models()[name]) | ({MAKERS[name].reads} if name in MAKERS else set())
        waiting |= read - found
    return found


def program() -> list[str]:
    """Our own files that results depend on: the audit, the statistics, and what of the collector these import."""
    files = [path for folder in _folders() for path in sorted(_files(folder))]
    return [*files, str(resources.files("collector") / "errors.py")]


def _folders() -> list[str]:
    return [str(resources.files(package)) for package in ("audit", "collector.system", "collector.records")]


def _files(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir() and not entry.name.startswith("_"):
            yield from _files(entry.path)
        elif entry.name.endswith((".py", ".sql", ".toml")):
            yield entry.path

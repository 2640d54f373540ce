"""The version of the program that made what is kept between audits, and of the rules that found what packs carry."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Final

from audit.engine.carried import CARRIED
from audit.engine.catalog import functions, models, named_in
from audit.engine.makers import MAKERS

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
    """The relations that packs carry, those that detectors take in their place, and all that these are made of."""
    waiting = {each.relation for each in CARRIED} | {f"{name}_references" for name in ("resolved", "driver")}
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        found.add(name)
        read = named_in(models()[name]) | ({MAKERS[name].reads} if name in MAKERS else set())
        waiting |= read - found
    return found


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

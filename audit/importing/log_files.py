"""The files of a log, before anything is read of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from audit.output.errors import AuditError
from collector.system.regular_files import open_regular

PACKED: Final = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\0",
    "Zstandard": b"(\xb5/\xfd",
    "zip": b"PK\3\4",
}
"""The first bytes of compressed files, which are not read."""


def readable(files: str | Path | Iterable[str | Path]) -> list[Path]:
    """The files of a log, each once; of a folder, such as a transcript database of Inspect Scout, its Parquet files.

    Raises:
        AuditError: one cannot be read.
    """
    given = map(Path, [files] if isinstance(files, str | Path) else files)
    found = [path for each in given for path in sorted(each.rglob("*.parquet")) or [each]]
    each = {path.resolve(): path for path in found}
    for path in each.values():
        if path.is_dir() or not path.exists():
            what = "a folder, not a file, and no Parquet files in it" if path.is_dir() else "no such file"
            raise AuditError(f"{path}: {what}")
        try:
            with open_regular(path) as stream:
                begins = stream.read(6)
        except OSError as error:
            raise AuditError(f"{path}: {error.strerror or error}") from None
        for name, mark in PACKED.items():
            if begins.startswith(mark):
                raise AuditError(f"{path}: compressed with {name}; unpack it first")
    return list(each.values())

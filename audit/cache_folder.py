"""The folder of what is kept between audits."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Final

import platformdirs

VARIABLE: Final = "SALIENCE_AUDIT_CACHE"
"""Environment variable that names another folder."""
UNUSED: Final = 90
"""Days after which unused results are removed."""
DAY: Final = 86_400.0
SETTLED: Final = 2 * 10**9
"""Nanoseconds for which a file must have been left alone to be known by its metadata: a younger one may change and look
the same."""


def cache_folder() -> Path | None:
    """Where the cache is: from the environment, else where the platform keeps caches; None for no cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    usual = platformdirs.user_cache_path("salience-audit", appauthor=False)
    return usual if usual.is_absolute() else None


def digest_of(content: bytes | Path, *whose: str) -> str:
    """A digest of what is kept and of whose it is, so that neither damage nor what is another's passes for it.

    Args:
        content: what is kept, or its file.
        whose: names of what it was made from, such as a data set and a relation.

    Raises:
        OSError: the file cannot be read.
    """
    digest = hashlib.blake2b(json.dumps(whose).encode(), digest_size=16)
    if isinstance(content, bytes):
        digest.update(content)
    else:
        with content.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()

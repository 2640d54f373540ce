"""The folder of what is kept between audits."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import platformdirs

VARIABLE: Final = "SALIENCE_AUDIT_CACHE"
"""Environment variable that names another folder."""
UNUSED: Final = 90
"""Days after which unused results are removed."""
DAY: Final = 86_400.0


def cache_folder() -> Path | None:
    """Where the cache is: from the environment, else where the platform keeps caches; None for no cache."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    usual = platformdirs.user_cache_path("salience-audit", appauthor=False)
    return usual if usual.is_absolute() else None

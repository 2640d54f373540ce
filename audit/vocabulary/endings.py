"""Endings of the names of files that hold whole data sets."""

from __future__ import annotations

from typing import Final

PACK: Final = ".pack.parquet"
"""The ending of a pack's name."""
ARCHIVES: Final = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2")

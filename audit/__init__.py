"""Find out from raw records what the critic did.

import audit

with audit.open("data/runs") as store:
    store.revisions.df()
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit.store import Store
    from audit.vocabulary.thresholds import Overrides


def open(  # noqa: A001 - `audit.open` is how it reads
    *paths: str | Path,
    strict: bool = False,
    detector: str = "word",
    overrides: Overrides | None = None,
    cache: bool = True,
) -> Store:
    """Read records and make their analysis available: relations are attributes, `store.revisions.df()`.

    Args:
        paths: folders, tar archives or packs, of native records or of the released code's logs.
        strict: refuse data with problems; otherwise what has a problem is left out and listed in `problems`.
        detector: how references to the worst rollout are found: word, phrase or resolved.
        overrides: thresholds of the edit patterns, by task and name, that go before all others.
        cache: whether what was read in an earlier audit may be used, and kept for a later one.

    Returns:
        The store, a context manager. `store.sql("select …")` queries it, and `dir(store)` names the relations.

    Raises:
        UsageError: no path, or no such detector, task or threshold.
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    from audit.output.errors import UsageError
    from audit.store import open_store

    if not paths:
        raise UsageError("give a folder, a tar archive or a pack of records")
    return open_store(paths, strict=strict, detector=detector, overrides=overrides, cache=cache)

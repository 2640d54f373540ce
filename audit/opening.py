"""Records opened for Python, with the detector that suits them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from audit.arguments import Analysis, request_of
from audit.interventions.relations import records_of_plans
from audit.output.errors import UsageError
from audit.store import Store


def open(  # noqa: A001 - `audit.open` is how it reads
    *paths: str | Path | Iterable[str | Path],
    plan: str | Path | Sequence[str | Path] = (),
    **options: Unpack[Analysis],
) -> Store:
    """Read records and make their analysis available: relations are attributes, `store.revisions.df()`.

    Args:
        paths: folders, tar archives or packs, of native records or of released logs, one by one or in a list.
        plan: experiments for the relations `interventions`, `intervention_units` and `intervention_effects`: the file
            of a plan or several; without `paths`, the records of the plans are read.
        options: how records are opened and classified.

    Returns:
        The store, a context manager. `store.sql("select …")` queries it, and `dir(store)` names the relations.

    Raises:
        UsageError: neither path nor plan, or no such detector, task or threshold.
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    every = [path for given in paths for path in ([given] if isinstance(given, str | Path) else given)]
    plans = [Path(file) for file in ([plan] if isinstance(plan, str | Path) else plan)]
    if plans:
        every = every or list(records_of_plans(plans))
    if not every:
        raise UsageError("give a folder, a tar archive or a pack of records")
    store, _ = replace(request_of(every, Analysis, options), plans=plans).suited()
    return store

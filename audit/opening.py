"""Records opened for Python, with the detector that suits them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from audit import store as stores
from audit.interventions.relations import records_of_plans
from audit.output.errors import UsageError
from audit.store import Store
from audit.vocabulary.detectors import DEFAULT, DEFAULT_OF_TEXTS
from audit.vocabulary.thresholds import Overrides


def open(  # noqa: A001 - `audit.open` is how it reads
    *paths: str | Path | Iterable[str | Path],
    strict: bool = False,
    detector: str | None = None,
    about: str | None = None,
    overrides: Overrides | None = None,
    cache: bool = True,
    judgements: Sequence[str | Path] = (),
    judge: str | None = None,
    plan: str | Path | Sequence[str | Path] = (),
) -> Store:
    """Read records and make their analysis available: relations are attributes, `store.revisions.df()`.

    Args:
        paths: folders, tar archives or packs, of native records or of released logs, one by one or in a list.
        strict: reject data with problems; otherwise anything with a problem is left out and listed in `problems`.
        detector: how references are found: word, phrase, resolved, driver, judge, or a file of your own; without it
            word, or resolved where all candidates are texts.
        about: the item that references are sought to: worst, median, best, first, last, `label:X` or an id; None for
            what the detector is about, the worst one unless its file states another.
        overrides: thresholds of the edit patterns, by task and name, that override all others.
        cache: whether what was read in an earlier audit may be used, and kept for a later one.
        judgements: files that `audit.judge` has written; for the detector `judge` and rubrics else those
            beside `paths`.
        judge: the model whose judgements such a detector takes, where there are several.
        plan: experiments for the relations `interventions`, `intervention_units` and `intervention_effects`: the file
            of a plan or several; without `paths`, the records of the plans are read.

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

    def opened(name: str, item: str | None) -> Store:
        return stores.open_store(
            every,
            strict=strict,
            detector=name,
            about=item,
            overrides=overrides,
            cache=cache,
            judgements=judgements,
            judge=judge,
            plans=plans,
        )

    if detector is not None:
        return opened(detector, about)
    store = opened(DEFAULT, None)
    are_texts = store.relation("run_records").select("candidates").distinct().fetchall() == [("text",)]
    if not are_texts and about is None:
        return store
    store.close()
    return opened(DEFAULT_OF_TEXTS if are_texts else DEFAULT, about)

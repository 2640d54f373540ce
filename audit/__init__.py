"""Find out from raw records what the critic did.

For example::

    import audit

    audit.salience("data/runs", env="cartpole")

    with audit.open("data/runs") as store:
        audit.rates(store).df()
        store.revisions.filter("r0 > 400")

Every command of `audit` is a function of the same name (`audit import` is `import_logs`, and with `--guess`
`guess_mapping`), and takes the command's options as arguments. Its data come first: an open store, a path, or several
paths. What a command prints, its function returns: a `Table`, or an object of its own. What a command reports on
standard error while it works, such as problems in records and progress, the function reports there as well.

What is neither in `audit.__all__` nor in `audit.recorders` is private.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from audit.arguments import (
        Analysis,
        Classification,
        Detection,
        RevisionSelection,
        RunSelection,
        Selection,
        Thresholds,
    )
    from audit.exporting.export import Export, export
    from audit.importing.guessing.draft import Guess
    from audit.importing.guessing.guess import guess_mapping
    from audit.importing.run import Import, import_logs
    from audit.interventions.importing import import_interventions
    from audit.interventions.intervene import intervene_plan, intervene_report, intervene_run
    from audit.interventions.show import intervene_show
    from audit.judging.judge import judge
    from audit.output.errors import AuditError, Problem, UsageError
    from audit.output.escaping import visible
    from audit.output.rows import Table
    from audit.packing.pack import pack
    from audit.packing.packed import Packed
    from audit.references import Mention, Shown, discounts_worst, driver, mark, references_worst, resolve
    from audit.reports.check.report import check
    from audit.reports.explain import Revision, show
    from audit.reports.finding import Case, cases, find
    from audit.reports.obedience import obedience
    from audit.reports.positions import positions
    from audit.reports.sensitivity import sensitivity
    from audit.reports.side_by_side import patterns
    from audit.reports.sql import relations, sql
    from audit.reports.tables import (
        agreement,
        controls,
        mentions,
        noise,
        rates,
        revisions,
        runs,
        salience,
        severity,
        summary,
        topics,
    )
    from audit.request import Request
    from audit.rerun.behaviour import anchor, rescore
    from audit.rerun.replay import Replay, replay
    from audit.rerun.verify import Verification, verify
    from audit.store import Store
    from audit.validation.calibration.calibrate import calibrate
    from audit.validation.coding.sample import Sheet, sample
    from audit.validation.coding.validate import validate
    from audit.viewer.export import ExportedView, export_view
    from audit.viewer.view import View, view
    from audit.vocabulary.thresholds import Overrides

__all__ = [
    "Analysis",
    "AuditError",
    "Case",
    "Classification",
    "Detection",
    "Export",
    "ExportedView",
    "Guess",
    "Import",
    "Mention",
    "Packed",
    "Problem",
    "Replay",
    "Request",
    "Revision",
    "RevisionSelection",
    "RunSelection",
    "Selection",
    "Sheet",
    "Shown",
    "Store",
    "Table",
    "Thresholds",
    "UsageError",
    "Verification",
    "View",
    "agreement",
    "anchor",
    "calibrate",
    "cases",
    "check",
    "controls",
    "discounts_worst",
    "driver",
    "export",
    "export_view",
    "find",
    "guess_mapping",
    "import_interventions",
    "import_logs",
    "intervene_plan",
    "intervene_report",
    "intervene_run",
    "intervene_show",
    "judge",
    "mark",
    "mentions",
    "noise",
    "obedience",
    "open",
    "pack",
    "patterns",
    "positions",
    "rates",
    "references_worst",
    "relations",
    "replay",
    "rescore",
    "resolve",
    "revisions",
    "runs",
    "salience",
    "sample",
    "sensitivity",
    "severity",
    "show",
    "sql",
    "summary",
    "topics",
    "validate",
    "verify",
    "view",
    "visible",
]

_MODULES: Final = {
    "audit.arguments": (
        "Analysis",
        "Classification",
        "Detection",
        "RevisionSelection",
        "RunSelection",
        "Selection",
        "Thresholds",
    ),
    "audit.exporting.export": ("Export", "export"),
    "audit.importing.guessing.draft": ("Guess",),
    "audit.importing.guessing.guess": ("guess_mapping",),
    "audit.importing.run": ("Import", "import_logs"),
    "audit.interventions.importing": ("import_interventions",),
    "audit.interventions.intervene": ("intervene_plan", "intervene_report", "intervene_run"),
    "audit.interventions.show": ("intervene_show",),
    "audit.judging.judge": ("judge",),
    "audit.output.errors": ("AuditError", "Problem", "UsageError"),
    "audit.output.escaping": ("visible",),
    "audit.output.rows": ("Table",),
    "audit.packing.pack": ("pack",),
    "audit.packing.packed": ("Packed",),
    "audit.references": ("Mention", "Shown", "discounts_worst", "driver", "mark", "references_worst", "resolve"),
    "audit.reports.check.report": ("check",),
    "audit.reports.explain": ("Revision", "show"),
    "audit.reports.finding": ("Case", "cases", "find"),
    "audit.reports.obedience": ("obedience",),
    "audit.reports.positions": ("positions",),
    "audit.reports.sensitivity": ("sensitivity",),
    "audit.reports.side_by_side": ("patterns",),
    "audit.reports.sql": ("relations", "sql"),
    "audit.reports.tables": (
        "agreement",
        "controls",
        "mentions",
        "noise",
        "rates",
        "revisions",
        "runs",
        "salience",
        "severity",
        "summary",
        "topics",
    ),
    "audit.request": ("Request",),
    "audit.rerun.behaviour": ("anchor", "rescore"),
    "audit.rerun.replay": ("Replay", "replay"),
    "audit.rerun.verify": ("Verification", "verify"),
    "audit.store": ("Store",),
    "audit.validation.calibration.calibrate": ("calibrate",),
    "audit.validation.coding.sample": ("Sheet", "sample"),
    "audit.validation.coding.validate": ("validate",),
    "audit.viewer.export": ("ExportedView", "export_view"),
    "audit.viewer.view": ("View", "view"),
}
_HOME: Final = {name: module for module, names in _MODULES.items() for name in names}


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
    from audit.output.errors import UsageError
    from audit.store import open_store
    from audit.vocabulary.detectors import DEFAULT, DEFAULT_OF_TEXTS

    every = [path for given in paths for path in ([given] if isinstance(given, str | Path) else given)]
    plans = [Path(file) for file in ([plan] if isinstance(plan, str | Path) else plan)]
    if plans:
        from audit.interventions.relations import records_of_plans

        every = every or list(records_of_plans(plans))
    if not every:
        raise UsageError("give a folder, a tar archive or a pack of records")

    def opened(name: str, item: str | None) -> Store:
        return open_store(
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


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'audit' has no attribute {name!r}", name=name)
    value = globals()[name] = getattr(importlib.import_module(_HOME[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__

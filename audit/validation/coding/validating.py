"""From a request for scores to rows on standard output."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError, count
from audit.output.formats import WRITERS
from audit.output.tables import print_table
from audit.references import visible
from audit.reports.relation import simulated_caption
from audit.request import Request, note
from audit.validation.coding.found import find_all, judged, read_answers
from audit.validation.coding.intervals import METRICS, Bootstrap
from audit.validation.coding.labels import Labels, read_labels, resolve_identities
from audit.validation.coding.scores import COLUMNS, Comparison, Row, Strata, comparisons, scores
from audit.validation.coding.strata import named, strata
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store

DISAGREEMENTS: Final = (*RevisionKey._fields, "coder", "column", "coded", "detector", "found", "text")

MOST_FAULTS: Final = 100
"""So many faults of a file of labels are named; people mend them one by one."""

FEW_RUNS: Final = 20
"""With fewer runs a bootstrap of them gives intervals that are clearly too narrow."""

_ESSENTIAL: Final = ("condition", "coder", "column", "detector", "n", "runs", "tp", "fp", "fn", "tn", *METRICS)
_TEXT: Final = 80
"""Characters of the text found that a table for people shows."""


def print_validation(
    request: Request,
    path: Path,
    *,
    stratify: Sequence[str],
    bootstrap: Bootstrap,
    pool: bool,
    classes: bool,
    disagreements: bool,
) -> None:
    """Score every detector on a file of labels, or list where they disagree.

    Args:
        request: the records that the labels are of.
        path: the file of labels.
        stratify: weigh answers so that these strata count as in the records; none for equal weights.
        bootstrap: how intervals are made.
        pool: take all conditions together.
        classes: a row for every driver, not for `worst` alone.
        disagreements: list them instead of scores.

    Raises:
        AuditError: labels or records cannot be read, nothing is left to score, or there are faults and the request
            is strict.
    """
    labels = read_labels(path)
    by = list(dict.fromkeys(stratify))
    with request.open(all_detectors=True) as store:
        members = strata(request.select(store.relation("revisions")), by)
        _match(request, store, labels, path)
        of = {identity: name for name, revisions in members.items() for identity in revisions}
        labels.rows = [row for row in labels.rows if row.identity in of]
        if not labels.rows:
            raise AuditError(f"{path}: no label is of a critic's answer in what was given")
        wanted = {row.identity for row in labels.rows}
        found = find_all(read_answers(store.relation("answers_to_code"), wanted))
        found += judged(store.relation("judgements"), wanted)
        caption = simulated_caption(request, store)
    compared = comparisons(labels.rows, found, pool=pool)
    weights = Strata(by, of) if by else None
    if disagreements:
        _print_disagreements(request, compared, caption)
    else:
        _tell_sample(labels, weights, compared, path)
        rows = [row for each in compared for row in scores(each, bootstrap, weights, classes=classes)]
        _print_scores(request, rows, caption)


def _match(request: Request, store: Store, labels: Labels, path: Path) -> None:
    """Find the revisions that labels are of, and tell what is wrong with the file."""
    everything = strata(store.relation("revisions"), ())
    iterations = store.relation("episodes").select(", ".join(RevisionKey._fields)).fetchall()
    resolve_identities(labels, everything.get((), []), {RevisionKey(*row) for row in iterations})
    if labels.uncoded:
        note(f"{path}: {count(labels.uncoded, 'row')} with a note and no code, not scored")
    if not labels.faults:
        return
    kinds = Counter(fault.kind for fault in labels.faults)
    told = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    lines = [f"{path}:{fault.line}: {fault.message}" for fault in labels.faults[:MOST_FAULTS]]
    if len(labels.faults) > MOST_FAULTS:
        lines.append(f"... and {len(labels.faults) - MOST_FAULTS} more")
    problems = f"{count(len(labels.faults), 'problem')} in {path} ({told})"
    if request.strict:
        raise AuditError("\n".join([f"{problems}, and --strict:", *lines]))
    note(f"{problems}, not scored:")
    for line in lines:
        note(f"  {line}")


def _tell_sample(labels: Labels, weights: Strata | None, compared: Sequence[Comparison], path: Path) -> None:
    """What one must know of the sample to read its scores."""
    if weights is None and labels.drawn_by:
        columns = " and ".join(map(visible, sorted(labels.drawn_by)))
        note(f"{path}: drawn evenly over {columns}, so scores are of this sample; --stratify weighs it to the records")
    if weights is not None:
        for condition in dict.fromkeys(each.condition for each in compared):
            here = {weights.of[row.identity] for row in labels.rows if condition in {None, row.identity.condition}}
            for name, size in weights.sizes(condition).items():
                if name not in here:
                    place = named(weights.columns, name) + (f" of {visible(condition)}" if condition else "")
                    note(f"{place}: no label, so its {count(size, 'revision')} count for nothing")
    runs = len({row.identity[:4] for row in labels.rows})
    if 1 < runs < FEW_RUNS:
        note(f"labels of {runs} runs: intervals by resampling so few are too narrow")


def _print_scores(request: Request, rows: Sequence[Row], caption: str | None) -> None:
    if caption:
        note(caption)
    if request.output != "table":
        WRITERS[request.output](COLUMNS, rows, sys.stdout, caption)
        return
    shown = [
        {
            **row,
            "coder": visible(row["coder"]),
            "column": row["column"] if row["code"] is None else f"{row['column']} = {row['code']}",
        }
        for row in rows
    ]
    lines = [*([caption] if caption else []), "In brackets 95% intervals; the other formats say how each was made."]
    print_table(_ESSENTIAL, shown, title="Detectors against coders", caption="\n".join(lines))


def _print_disagreements(request: Request, compared: Sequence[Comparison], caption: str | None) -> None:
    rows: list[dict[str, Any]] = [row for each in compared for row in each.disagreements()]
    if caption:
        note(caption)
    if not rows:
        note("no disagreement")
    for row in rows:
        row["text"] = " ".join(visible(row["text"]).split())
        row["detector"] = visible(row["detector"])
        row["coder"] = visible(row["coder"])
    if request.output != "table":
        WRITERS[request.output](DISAGREEMENTS, rows, sys.stdout, caption)
        return
    for row in rows:
        if len(row["text"]) > _TEXT:
            row["text"] = f"{row['text'][: _TEXT - 1].rstrip()}…"
    print_table(DISAGREEMENTS, rows, title="Disagreements", caption=caption)

"""Scores of detectors against the codes of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.options import Classification, Data, Options, options_of
from audit.output.errors import AuditError, count
from audit.output.notes import note
from audit.output.rows import Table
from audit.references import visible
from audit.validation.coding.codes import codes_for
from audit.validation.coding.found import find_all, found_by, judged, read_answers
from audit.validation.coding.labels import Labels, read_labels, resolve_identities
from audit.validation.coding.sampling import named, strata
from audit.validation.coding.scores import COLUMNS, Bootstrap, Comparison, Strata, comparisons, scores
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store

DISAGREEMENTS: Final = (*RevisionKey._fields, "coder", "column", "coded", "detector", "found", "text")

MOST_FAULTS: Final = 100
"""Faults of a file of labels that are listed; people correct them one by one."""

FEW_RUNS: Final = 20
"""With fewer runs a bootstrap of them gives intervals that are clearly too narrow."""

_ESSENTIAL: Final = (
    *("condition", "coder", "column", "detector", "n", "tp", "fp", "fn", "tn"),
    *("precision", "recall", "f1", "kappa", "accuracy", "runs"),
)
_TEXT: Final = 80
"""Characters of the text found that a table for people shows."""


def validate(
    labels: str | Path,
    data: Data,
    *,
    disagreements: bool = False,
    classes: bool = False,
    pool: bool = False,
    stratify: Sequence[str] = (),
    bootstrap: int = 9999,
    seed: int = 0,
    **keywords: Unpack[Classification],
) -> Table:
    """Score every detector against hand-coded labels: precision, recall, F1 and Cohen's kappa, with 95% intervals.

    Args:
        labels: the sheet that coders filled in, a CSV file.
        data: the records that the labels are of.
        disagreements: list every disagreement instead of scores.
        classes: a row for every driver, not for `worst` alone.
        pool: score all conditions together.
        stratify: weigh answers so that the values of these columns count as in the records.
        bootstrap: how often runs are resampled for an interval.
        seed: of the resampling.
        keywords: which groups, and how records are opened and classified.

    Raises:
        AuditError: labels or records cannot be read, nothing is left to score, or there are faults and `strict`.
    """
    path = Path(labels)
    by = list(dict.fromkeys(stratify))
    options = options_of(data, Classification, keywords)
    with options.open(all_detectors=True) as store:
        codes = codes_for(store.detected_by)
        read = read_labels(path, codes)
        members = strata(options.select(store.relation("revisions")), by)
        _match(options, store, read, path)
        of = {identity: name for name, revisions in members.items() for identity in revisions}
        read.rows = [row for row in read.rows if row.identity in of]
        if not read.rows:
            raise AuditError(f"{path}: no label is of a critic's answer in what was given")
        wanted = {row.identity for row in read.rows}
        found = find_all(read_answers(store.relation("answers_to_code"), wanted))
        found += [*judged(store.relation("judgements"), wanted), *found_by(store, wanted)]
        caption = options.caption(store)
    compared = comparisons(read.rows, found, codes, pool=pool)
    if disagreements:
        return _disagreements(compared, caption)
    weights = Strata(by, of) if by else None
    rows = [row for each in compared for row in scores(each, Bootstrap(bootstrap, seed), weights, classes=classes)]
    return Table(
        columns=COLUMNS,
        rows=rows,
        title="Detectors against coders",
        essential=_ESSENTIAL,
        caption=caption,
        notes=[*_about_sample(read, weights, compared, path), *([caption] if caption else [])],
        print_for_people=_print_scores,
    )


def _match(options: Options, store: Store, labels: Labels, path: Path) -> None:
    """Find the revisions that labels are of, and report what is wrong with the file."""
    everything = strata(store.relation("revisions"), ())
    iterations = store.relation("episodes").select(", ".join(RevisionKey._fields)).fetchall()
    resolve_identities(labels, everything.get((), []), {RevisionKey(*row) for row in iterations})
    if labels.uncoded:
        note(f"{path}: {count(labels.uncoded, 'row')} with a note and no code, not scored")
    if not labels.faults:
        return
    kinds = Counter(fault.kind for fault in labels.faults)
    each = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    lines = [f"{path}:{fault.line}: {fault.message}" for fault in labels.faults[:MOST_FAULTS]]
    if len(labels.faults) > MOST_FAULTS:
        lines.append(f"... and {len(labels.faults) - MOST_FAULTS} more")
    problems = f"{count(len(labels.faults), 'problem')} in {path} ({each})"
    if options.strict:
        raise AuditError("\n".join([f"{problems}, and --strict:", *lines]))
    note(f"{problems}, not scored:")
    for line in lines:
        note(f"  {line}")


def _about_sample(labels: Labels, weights: Strata | None, compared: Sequence[Comparison], path: Path) -> Iterator[str]:
    """Notes on the sample that its scores depend on."""
    if weights is None and labels.drawn_by:
        columns = " and ".join(map(visible, sorted(labels.drawn_by)))
        yield f"{path}: drawn evenly over {columns}, so scores are of this sample; --stratify weighs it to the records"
    if weights is not None:
        for condition in dict.fromkeys(each.condition for each in compared):
            here = {weights.of[row.identity] for row in labels.rows if condition in {None, row.identity.condition}}
            for name, size in weights.sizes(condition).items():
                if name not in here:
                    place = named(weights.columns, name) + (f" of {visible(condition)}" if condition else "")
                    yield f"{place}: no label, so its {count(size, 'revision')} count for nothing"
    runs = len({row.identity[:4] for row in labels.rows})
    if 1 < runs < FEW_RUNS:
        yield f"labels of {runs} runs: intervals by resampling so few are too narrow"


def _print_scores(table: Table) -> None:
    shown = [
        {
            **row,
            "coder": visible(row["coder"]),
            "column": row["column"] if row["code"] is None else f"{row['column']} = {row['code']}",
        }
        for row in table
    ]
    lines = [table.caption, "In brackets 95% intervals; the other formats state how each was computed."]
    caption = "\n".join(filter(None, lines))
    Table(columns=_ESSENTIAL, rows=shown, title=table.title, caption=caption).print()


def _disagreements(compared: Sequence[Comparison], caption: str | None) -> Table:
    rows: list[dict[str, Any]] = [row for each in compared for row in each.disagreements()]
    for row in rows:
        row["text"] = " ".join(visible(row["text"]).split())
        row["detector"] = visible(row["detector"])
        row["coder"] = visible(row["coder"])
    notes = [caption, None if rows else "no disagreement"]
    return Table(
        columns=DISAGREEMENTS,
        rows=rows,
        title="Disagreements",
        caption=caption,
        notes=[line for line in notes if line],
        print_for_people=_print_disagreements,
    )


def _print_disagreements(table: Table) -> None:
    shown = [
        {**row, "text": text if len(text) <= _TEXT else f"{text[: _TEXT - 1].rstrip()}…"}
        for row in table
        for text in [row["text"]]
    ]
    replace(table, rows=shown, print_for_people=None).print()

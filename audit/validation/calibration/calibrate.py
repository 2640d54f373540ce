"""Compares detectors with the recorded truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.options import Data, Detection, Options, options_of
from audit.output.errors import AuditError, count
from audit.output.notes import note, print_notes
from audit.output.rows import Table
from audit.records.lines import open_records
from audit.validation.calibration.measures import compared
from audit.validation.calibration.truth import Known, known_of, read_truth
from audit.validation.coding.found import Found, find_all, found_by, judged, read_answers
from audit.validation.coding.scores import METRICS, Bootstrap, scores
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from collector.records import Truth

COLUMNS: Final = (
    *("condition", "personality", "quantity", "code", "detector", "n", "runs", "tp", "fp", "fn", "tn"),
    *("false_positives_pct", *(f"{metric}{part}" for metric in METRICS for part in ("", "_low", "_high"))),
)
ESSENTIAL: Final = (
    *("condition", "personality", "quantity", "detector", "n", "tp", "fp", "fn", "tn"),
    *("false_positives_pct", "precision", "recall", "kappa"),
)
ENDS: Final = ("low", "high")
HEADINGS: Final = {"personality": "critic", "false_positives_pct": "false pos. %", "quantity": "what is true"}

Row = dict[str, Any]


def calibrate(
    data: Data,
    *,
    classes: bool = False,
    bootstrap: int = 9999,
    **keywords: Unpack[Detection],
) -> Table:
    """Compare every detector with what the simulated critic recorded, by personality.

    Args:
        data: records.
        classes: score every driver, not only `worst`.
        bootstrap: how often runs are resampled for an interval.
        keywords: which groups, and how records are opened.

    Raises:
        AuditError: no truth is known of any revision in the records.
    """
    options = options_of(data, Detection, keywords)
    with open_records(options.paths, cache=options.cache) as records:
        truths, problems = read_truth(options.choose(records))
    print_notes([], problems)
    known, found, caption = _known_and_found(options, truths)
    rows = _detectors(found, known, Bootstrap(bootstrap), classes=classes)
    rows.sort(key=lambda row: (row["condition"], row["personality"]))
    return Table(
        columns=COLUMNS,
        rows=rows,
        title="Detectors against the truth",
        essential=ESSENTIAL,
        headings=HEADINGS,
        caption=caption,
        notes=[caption] if caption else [],
        print_for_people=_print_for_people,
    )


def _print_for_people(table: Table) -> None:
    """Print the table with one interval, for which it has room."""
    without = dict.fromkeys(f"{name}_{end}" for name in METRICS[:-1] for end in ENDS)
    rows = [{**row, "quantity": _named(row), **without} for row in table]
    replace(table, rows=rows, print_for_people=None).print()


def _named(row: Mapping[str, Any]) -> str:
    return str(row["quantity"]) if row["code"] is None else f"{row['quantity']} = {row['code']}"


def _known_and_found(
    options: Options, truths: Mapping[RevisionKey, Truth]
) -> tuple[dict[RevisionKey, Known], list[Found], str | None]:
    with options.open(all_detectors=True) as store:
        answers = read_answers(options.select(store.relation("answers_to_code")), truths)
        known = {
            identity: each
            for identity, answer in answers.items()
            if (each := known_of(truths[identity], answer.row["shown"] or (), answer.row["worst_rollout"]))
        }
        caption = options.caption(store)
        if not known:
            raise AuditError(
                "it is not known what drove these revisions: folders collected with the simulated backend have a "
                "truth.jsonl beside the records, and calibration needs a method whose critic sees the worst rollout"
            )
        if len(known) < len(answers):
            note(f"{count(len(answers) - len(known), 'answer')} left out, whose critic saw no rollout that was worse")
        wanted = {identity: answers[identity] for identity in known}
        found = [*find_all(wanted), *judged(store.relation("judgements"), wanted), *found_by(store, wanted)]
        return known, found, caption


def _detectors(
    found: Sequence[Found], known: Mapping[RevisionKey, Known], bootstrap: Bootstrap, *, classes: bool
) -> list[Row]:
    rows = []
    for comparison in compared(found, known):
        for row in scores(comparison, bootstrap, None, classes=classes):
            negatives = (row["fp"] or 0) + (row["tn"] or 0)
            extra = {
                "personality": row["coder"],
                "quantity": row["column"],
                "false_positives_pct": 100 * row["fp"] / negatives if negatives else None,
            }
            rows.append({name: (row | extra)[name] for name in COLUMNS})
    return rows

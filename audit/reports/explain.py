"""One revision in full: what was shown, answered and changed, and why it is classified as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from audit.options import Analysis, Data, options_of
from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.output.formats import as_json, rounded
from audit.output.word_diff import coloured
from audit.references import Shown, resolve
from audit.reports import explain_text
from audit.reports.explain_sections import TEXT, as_text, marked
from audit.store import Store, rows_of
from audit.vocabulary.keys import RevisionKey, RunKey
from audit.vocabulary.patterns import PATTERNS

if TYPE_CHECKING:
    import duckdb

    from audit.options import Options


class Revision(dict[str, Any]):
    """Everything that the records and the analysis contain about one revision, by name; `str` makes readable text."""

    @property
    def marked(self) -> str:
        """The critic's answer as HTML, with its mentions of rollouts marked."""
        return marked(self, "html")

    def as_json(self) -> str:
        """All of it as one JSON object."""
        return as_json(self, indent=1)

    def __str__(self) -> str:
        return as_text(self)

    def coloured(self) -> str:
        """The same with colours for a terminal, where the text is one that changed."""
        return coloured(str(self)) if self["thresholds"]["policy"] == TEXT else str(self)


def show(
    data: Data,
    env: str,
    variant: str,
    run: int,
    iteration: int,
    *,
    condition: str | None = None,
    **keywords: Unpack[Analysis],
) -> Revision:
    """One revision in full, to read: evidence, edits, classification and the critic's answer.

    Args:
        data: records.
        env: task.
        variant: method.
        run: number of the run, from 1.
        iteration: number of the iteration, from 0.
        condition: needed where several conditions have such a revision.
        keywords: how records are opened and classified.

    Raises:
        UsageError: several conditions have such a revision, and none was named.
        AuditError: there is no such revision.
    """
    options = replace(
        options_of(data, Analysis, keywords),
        env=[env],
        variant=[variant],
        condition=None if condition is None else [condition],
        run=[run],
    )
    with options.open() as whole, _of_run(whole, options) as store:
        wanted: dict[str, Any] = {column: value for column, [value] in options.filters()} | {"iteration": iteration}
        found = rows_of(_where(store.relation("revisions"), wanted))
        place = in_line(" ".join(str(value) for value in wanted.values()))
        if not found:
            raise AuditError(f"no revision {place}: no such iteration, or it has no revised candidate")
        if len(found) > 1:
            conditions = ", ".join(in_line(row["condition"]) for row in found)
            raise UsageError(
                f"revision {place} exists under several conditions; choose one with --condition: {conditions}"
            )
        identity = {column: found[0][column] for column in RevisionKey._fields}
        chosen = rows_of(_where(store.relation("evidence"), identity))
        references = rows_of(_where(store.relation("references"), identity))
        return in_full(store, found[0], chosen, references)


def _of_run(store: Store, options: Options) -> Store:
    """The runs that are asked for, alone; all of what is open already, or of that run, whose relations may be kept."""
    if options.store is not None:
        return store.shared()
    runs = store.relation("run_records")
    chosen = options.select(runs).select(", ".join(RunKey._fields)).fetchall()
    if not 0 < len(chosen) < len(runs):
        return store.shared()
    return store.of_runs({RunKey(*run) for run in chosen})


@dataclass(frozen=True)
class Recorded:
    """What the relations have about one revision, beside its row.

    Attributes:
        episode: its row in `episodes`.
        thresholds: the row of its run in `thresholds`, or in `edit_thresholds` where the candidates are texts.
        facts: the row of its run in `run_facts`.
        answers: its row in `critic_answers`, if it has one.
        judgements: its rows in `judgements`.
        is_judged: whether a judge is the detector.
    """

    episode: dict[str, Any]
    thresholds: dict[str, Any]
    facts: dict[str, Any]
    answers: Sequence[dict[str, Any]]
    judgements: Sequence[dict[str, Any]]
    is_judged: bool


def in_full(
    store: Store, details: dict[str, Any], chosen: Sequence[dict[str, Any]], references: Sequence[dict[str, Any]]
) -> Revision:
    """All that is known of a revision.

    Args:
        store: the records.
        details: its row in the relation `revisions`.
        chosen: its row in `evidence`, if it has one.
        references: its row in `references`, if it has one.
    """
    identity = {column: details[column] for column in RevisionKey._fields}
    run = {column: details[column] for column in RevisionKey._fields if column != "iteration"}
    [episode] = rows_of(_where(store.relation("episodes"), identity))
    [thresholds] = rows_of(_where(store.relation("thresholds"), run))
    if thresholds["policy"] == TEXT:
        [thresholds] = rows_of(_where(store.relation("edit_thresholds"), run))
    [facts] = rows_of(_where(store.relation("run_facts"), run))
    answers = rows_of(_where(store.relation("critic_answers"), identity))
    judgements = rows_of(_where(store.relation("judgements"), identity))
    recorded = Recorded(episode, thresholds, facts, answers, judgements, store.detected_by.is_judged)
    return put_together(recorded, details, chosen, references)


def put_together(
    recorded: Recorded,
    details: dict[str, Any],
    chosen: Sequence[dict[str, Any]],
    references: Sequence[dict[str, Any]],
) -> Revision:
    """The same from rows that are read already; the arguments are those of `in_full`."""
    episode, thresholds, answers = recorded.episode, recorded.thresholds, recorded.answers
    shown = [
        {
            "label": label,
            "rollout": evidence[f"{label}_rollout"],
            "return": evidence[label],
            "name": evidence[f"{label}_name"],
        }
        for evidence in chosen
        for label in ("worst", "median", "best")
    ]
    before, after = episode["initial"], episode["revised"]
    of_text: dict[str, Any] = {}
    if thresholds["policy"] == TEXT:
        before, after = explain_text.with_text(before), explain_text.with_text(after)
        of_text = {
            "rationale": answers[0]["answer"] if answers else None,
            "items": episode["shown"] or [],
            "places": {label: each[f"{label}_place"] for each in chosen for label in ("worst", "median", "best")},
        }
    return Revision(
        {
            **details,
            "file": episode["file"],
            "backend": recorded.facts["backend"],
            "model": recorded.facts["model"],
            "detector": references[0]["detector"] if references else None,
            "is_judged": recorded.is_judged,
            "evidence_kind": episode["evidence_kind"],
            "evidence": shown,
            "edits": [
                {"index": i, "before": before["params"][i], "after": after["params"][i]}
                for i in details["changed"] or ()
            ],
            "reason": _reason(details, thresholds),
            "thresholds": {key: value for key, value in thresholds.items() if key not in RevisionKey._fields},
            "shown": episode["shown"],
            "statistics": episode["statistics"],
            "rounding": episode["rounding"],
            "mentions": _mentions(episode, answers),
            "judgements": [
                {key: value for key, value in each.items() if key not in RevisionKey._fields}
                for each in recorded.judgements
            ],
            "initial": before,
            "revised": after,
            **of_text,
        }
    )


def _mentions(episode: dict[str, Any], answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a critic's answer mentions; nothing where another search call made the second proposal."""
    if not answers:
        return []
    before = episode["initial"]
    shown = Shown.of(
        episode["shown"],
        returns=before["returns"],
        lengths=before["lengths"],
        statistics=episode["statistics"],
        rounding=episode["rounding"],
    )
    return [asdict(mention) for mention in resolve(answers[0]["answer"], shown)]


def _reason(details: dict[str, Any], thresholds: dict[str, Any]) -> str:
    numbers = {key: rounded(value) for key, value in {**thresholds, **details}.items()}
    if thresholds["policy"] == TEXT:
        if details["pattern"] is None:
            return explain_text.no_pattern(details)
        return PATTERNS[details["pattern"]].rule_of_texts.format(**numbers)
    if details["edit_distance"] is None:
        return "parameters are not recorded"
    if details["pattern"] is None:
        return "the return did not change"
    return PATTERNS[details["pattern"]].rule.format(**numbers)


def _where(relation: duckdb.DuckDBPyRelation, wanted: dict[str, Any]) -> duckdb.DuckDBPyRelation:
    from duckdb import ColumnExpression, ConstantExpression

    same, *others = (ColumnExpression(column) == ConstantExpression(value) for column, value in wanted.items())
    for each in others:
        same &= each
    # One filter, since each is bound by itself, which takes longer than to apply it.
    return relation.filter(same)

"""What detectors find in an answer, as a coder would have coded it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from audit.references import Mention, Shown, resolve
from audit.validation.coding.answers import rows_by_identity
from audit.validation.coding.codes import NO, YES
from audit.vocabulary.detectors import PATTERNS
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

    from audit.store import Store

_MATCH: Final = "match_of_{}"
"""The column with what a pattern detector matches."""


class Finding(NamedTuple):
    """A code, and the words of the answer that it was read from; empty where there are none."""

    code: str
    text: str = ""


@dataclass(frozen=True)
class Answer:
    """A row of the relation `answers_to_code`, with what the detectors that are patterns match in it."""

    row: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """What the critic wrote."""
        return self.row["answer"] or ""

    @cached_property
    def shown(self) -> Shown:
        """What the critic was shown."""
        return Shown.of(
            self.row["shown"],
            returns=self.row["returns"],
            lengths=self.row["lengths"],
            statistics=self.row["statistics"],
            rounding=self.row["rounding"],
        )

    @cached_property
    def mentions(self) -> list[Mention]:
        """The mentions of rollouts."""
        return resolve(self.text, self.shown)


Find = Callable[[Answer], Finding]
"""How a detector codes an answer."""


class Found(NamedTuple):
    """The result of one detector: the column of the labels that it codes, its name, and its findings.

    A detector need not know every revision; it is scored on those that it has a finding for.
    """

    column: str
    detector: str
    findings: Mapping[RevisionKey, Finding]


def _matched(answer: Answer, name: str) -> Finding:
    text = answer.row[_MATCH.format(name)]
    return Finding(YES, text) if text else Finding(NO)


def _mentioned(answer: Answer, label: str) -> Finding:
    texts = dict.fromkeys(mention.text for mention in answer.mentions if label in mention.labels)
    return Finding(YES, " | ".join(texts)) if texts else Finding(NO)


_READERS: Final[tuple[tuple[str, str, Find], ...]] = (
    *(("mentions_worst", name, partial(_matched, name=name)) for name in PATTERNS),
    *((f"mentions_{label}", "resolved", partial(_mentioned, label=label)) for label in ("worst", "median", "best")),
)
"""Detectors that read the answer: the column that they code, their name, and how."""


def find_all(answers: Mapping[RevisionKey, Answer]) -> list[Found]:
    """What each of the audit's own detectors finds in some answers, in the order of the output.

    A detector that codes an answer on its own is a line of `_READERS`; models' judgements are read by
    `judged`, and what a user's detector finds by `found_by`.
    """
    return [
        Found(column, name, {identity: find(answer) for identity, answer in answers.items()})
        for column, name, find in _READERS
    ]


def found_by(store: Store, wanted: Container[RevisionKey]) -> list[Found]:
    """What the user's detector of a store finds in some answers; nothing where the detector is one of the audit's own.

    Args:
        store: the records.
        wanted: the revisions.
    """
    detector = store.detected_by
    if not detector.is_own:
        return []
    cites = rows_by_identity(store.relation("references"), wanted, ["cites"])
    texts: dict[RevisionKey, dict[str, Any]] = {}
    result = []
    if detector.function is not None:
        spans = store.sql(
            "select condition, env, variant, run, iteration, string_agg(distinct text, ' | ') as text "
            "from findings group by all"
        )
        texts = rows_by_identity(spans, wanted)
    elif detector.pattern is not None:
        spans = _with_matches(store.relation("answers_to_code"), {"text": detector.pattern})
        texts = rows_by_identity(spans, wanted, ["text"])
    elif detector.rubric is not None:
        judged = store.sql(
            "select * from rubric_judgements "
            "where rubric_sha256 = getvariable('rubric') and model = getvariable('judge') and category is not null"
        )
        rows = rows_by_identity(judged, wanted, ["category", "sentence"])
        texts = {identity: {"text": row["sentence"]} for identity, row in rows.items()}
        categories = {identity: Finding(row["category"], row["sentence"] or "") for identity, row in rows.items()}
        result.append(Found(detector.rubric.name, detector.name, categories))
    found = {
        identity: Finding(YES, texts.get(identity, {}).get("text") or "") if row["cites"] else Finding(NO)
        for identity, row in cites.items()
    }
    return [Found(detector.column, detector.name, found), *result] if detector.has_yes_or_no else result


def judged(judgements: duckdb.DuckDBPyRelation, wanted: Container[RevisionKey]) -> list[Found]:
    """The judgements of models; each model is a detector, without findings for answers that it could not judge.

    Args:
        judgements: the relation of that name.
        wanted: the revisions.
    """
    findings: dict[tuple[str, str], dict[RevisionKey, Finding]] = defaultdict(dict)
    columns = judgements.columns
    for values in judgements.filter("driver is not null").fetchall():
        row = dict(zip(columns, values, strict=True))
        identity = RevisionKey(*(row[name] for name in RevisionKey._fields))
        if identity not in wanted:
            continue
        findings["driver", row["model"]][identity] = Finding(row["driver"], row["sentence"] or "")
        for column in ("mentions_worst", "discounts_worst"):
            if row[column] is not None:
                findings[column, row["model"]][identity] = Finding(YES if row[column] else NO)
    return [Found(column, f"judge {model}", found) for (column, model), found in sorted(findings.items())]


def read_answers(relation: duckdb.DuckDBPyRelation, wanted: Container[RevisionKey]) -> dict[RevisionKey, Answer]:
    """The answers to some revisions.

    Args:
        relation: `answers_to_code`.
        wanted: the revisions.
    """
    matched = _with_matches(relation, {_MATCH.format(name): pattern for name, pattern in PATTERNS.items()})
    return {identity: Answer(row) for identity, row in rows_by_identity(matched, wanted).items()}


def _with_matches(relation: duckdb.DuckDBPyRelation, patterns: Mapping[str, str]) -> duckdb.DuckDBPyRelation:
    """A relation with a column for what each pattern matches first in `answer`."""
    from duckdb import ColumnExpression, ConstantExpression, FunctionExpression, StarExpression

    # By DuckDB, as the audit's own detectors are: regular expressions differ in what they call a space.
    matches = [
        FunctionExpression(
            "regexp_extract",
            ColumnExpression("answer"),
            ConstantExpression(pattern),
            ConstantExpression(0),
            ConstantExpression("i"),
        ).alias(column)
        for column, pattern in patterns.items()
    ]
    return relation.select(StarExpression(), *matches)

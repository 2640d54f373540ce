"""What detectors find in an answer, as a coder would have coded it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from audit.references import Mention, Shown, driver, resolve
from audit.validation.coding.answers import rows_by_identity
from audit.validation.coding.codes import NO, YES
from audit.vocabulary.detectors import PATTERNS
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

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
    return _yes_or_no([mention for mention in answer.mentions if label in mention.labels])


def _discounted(answer: Answer) -> Finding:
    return _yes_or_no([mention for mention in answer.mentions if mention.worst and mention.discounted])


def _driven(answer: Answer) -> Finding:
    found = driver(answer.text, answer.shown, answer.row["changed"])
    return Finding(found.name, found.sentence)


def _yes_or_no(mentions: list[Mention]) -> Finding:
    texts = dict.fromkeys(mention.text for mention in mentions)
    return Finding(YES, " | ".join(texts)) if mentions else Finding(NO)


_READERS: Final[tuple[tuple[str, str, Find], ...]] = (
    *(("mentions_worst", name, partial(_matched, name=name)) for name in PATTERNS),
    *((f"mentions_{label}", "resolved", partial(_mentioned, label=label)) for label in ("worst", "median", "best")),
    ("discounts_worst", "resolved", _discounted),
    ("driver", "driver", _driven),
)
"""Detectors that read the answer: the column that they code, their name, and how."""


def find_all(answers: Mapping[RevisionKey, Answer]) -> list[Found]:
    """What every detector finds in some answers, in the order of the output.

    A detector that codes an answer on its own is a line of `_READERS`; models' judgements are read by
    `judged`.
    """
    return [
        Found(column, name, {identity: find(answer) for identity, answer in answers.items()})
        for column, name, find in _READERS
    ]


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
    from duckdb import ColumnExpression, ConstantExpression, FunctionExpression, StarExpression

    # By DuckDB, as the audit's own detectors are: regular expressions differ in what they call a space.
    matches = [
        FunctionExpression(
            "regexp_extract",
            ColumnExpression("answer"),
            ConstantExpression(pattern),
            ConstantExpression(0),
            ConstantExpression("i"),
        ).alias(_MATCH.format(name))
        for name, pattern in PATTERNS.items()
    ]
    rows = rows_by_identity(relation.select(StarExpression(), *matches), wanted)
    return {identity: Answer(row) for identity, row in rows.items()}

"""A mapping in the making: what is decided, each with its reason, and what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.importing.guessing.columns import Column
from audit.importing.guessing.sample import Sample


@dataclass(frozen=True)
class Finding:
    """A field of records, and where it comes from: a column, or a value that is the same in all rows."""

    field: str
    column: str | None
    value: Any
    reason: str


@dataclass(frozen=True)
class Question:
    """What the log does not show.

    Attributes:
        field: what is in question.
        text: the question.
        options: possible answers, each with the fields and the constants that it means.
        needed: whether there are no records without an answer.
    """

    field: str
    text: str
    options: Mapping[str, Mapping[str, str]]
    needed: bool = True

    def ways(self) -> list[str]:
        """How each answer is given on the command line."""
        return [
            " ".join(f"--field {name}={value}" for name, value in fields.items()) for fields in self.options.values()
        ]


@dataclass
class Draft:
    """What a mapping will state.

    Attributes:
        sample: the rows.
        columns: of the sample, by path.
        given: columns or constants that the user has stated, by field; empty for a field that the log lacks.
        findings: by field.
        questions: what is open.
        values: names of values by field.
        count_from: what the log counts from.
        run: the table [run].
        remarks: what else the user should know.
    """

    sample: Sample
    columns: Mapping[str, Column]
    given: Mapping[str, str] = field(default_factory=dict)
    findings: dict[str, Finding] = field(default_factory=dict)
    questions: list[Question] = field(default_factory=list)
    values: dict[str, dict[str, Any]] = field(default_factory=dict)
    count_from: dict[str, int | str] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def take(self, name: str, column: Column | str, reason: str) -> None:
        """Decide that a column is a field, unless the user has stated otherwise."""
        if name not in self.given:
            self.findings[name] = Finding(name, column if isinstance(column, str) else column.path, None, reason)

    def fix(self, name: str, value: Any, reason: str) -> None:
        """Decide that a field is the same in all rows, unless the user has stated otherwise."""
        if name not in self.given:
            self.findings[name] = Finding(name, None, value, reason)

    def count(self, name: str, first: int | str) -> None:
        """Decide what the log counts runs, iterations or rollouts from, unless the user has stated otherwise."""
        self.count_from.setdefault(name, first)

    def ask(self, name: str, text: str, options: Mapping[str, Mapping[str, str]], *, needed: bool = True) -> None:
        """Leave a field open, unless the user has stated it."""
        if name not in self.given and all(name != each.field for each in self.questions):
            self.questions.append(Question(name, text, options, needed))

    def column(self, name: str) -> Column | None:
        """The column that is a field."""
        finding = self.findings.get(name)
        return None if finding is None or finding.column is None else self.columns.get(finding.column)

    def taken(self) -> set[str]:
        """The paths of columns that are fields."""
        return {finding.column for finding in self.findings.values() if finding.column is not None}

    def free(self) -> Sequence[Column]:
        """The columns that are no field yet, nor inside of one."""
        taken = self.taken()
        return [
            column
            for path, column in self.columns.items()
            if not any(path == each or path.startswith(f"{each}.") for each in taken)
        ]

    def scores(self, row: int) -> tuple[float | None, float | None]:
        """The mean scores of a row before and after."""
        found = []
        for role in ("initial", "revised"):
            column = self.column(f"{role}.returns") or self.column(f"{role}.mean_return")
            found.append(None if column is None else column.mean(row))
        return found[0], found[1]

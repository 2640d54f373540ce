"""What a command was asked for: where to read, how to read it, which groups, and how to write the result."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from audit.problems import Problem, UsageError, count, report

if TYPE_CHECKING:
    import duckdb

    from audit.store import Store


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options that commands share; None stands for all groups, and for presets left as they are."""

    paths: Sequence[Path]
    output: str = "table"
    strict: bool = False
    cache: bool = True
    env: Sequence[str] | None = None
    variant: Sequence[str] | None = None
    condition: Sequence[str] | None = None
    detector: str = "word"
    settings: Sequence[str] | None = None
    judgements: Sequence[Path] | None = None
    judge: str | None = None

    def open(self) -> Store:
        """The records, opened; their problems are told on standard error."""
        from audit.judging.loading import left_out
        from audit.presets import parse_overrides
        from audit.store import open_store

        if self.detector != "judge" and (self.judgements or self.judge):
            raise UsageError("--judgements and --judge are for --detector judge")
        overrides = parse_overrides(self.settings or [])
        store = open_store(
            self.paths,
            strict=self.strict,
            detector=self.detector,
            overrides=overrides,
            cache=self.cache,
            judgements=self.judgements or (),
            judge=self.judge,
        )
        tell(store.notes, store.problems)
        if self.detector == "judge" and (told := left_out(self, store)):
            note(told)
        return store

    def select(self, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The rows of the groups that were asked for."""
        from duckdb import ColumnExpression, ConstantExpression

        for column, values in self._groups():
            if values:
                constants = [ConstantExpression(value) for value in values]
                relation = relation.filter(ColumnExpression(column).isin(*constants))
        return relation

    def absent(self, runs: duckdb.DuckDBPyRelation) -> str | None:
        """Which of the groups asked for no run is in; None where each has one."""
        for column, values in self._groups():
            held = sorted({value for (value,) in runs.select(column).distinct().fetchall()})
            missing = [value for value in values or () if value not in held]
            if missing:
                return f"no --{column} {', '.join(missing)} in the records; they hold {', '.join(held)}"
        return None

    def _groups(self) -> tuple[tuple[str, Sequence[str] | None], ...]:
        return ("env", self.env), ("variant", self.variant), ("condition", self.condition)


def tell(notes: Sequence[str], problems: Sequence[Problem], fate: str = "left out") -> None:
    """Say on standard error what a user should know beside the result."""
    for each in notes:
        note(each)
    if problems:
        note(f"{count(len(problems), 'problem')} in the records, {fate}:")
        for line in report(problems):
            note(f"  {line}")


def note(text: str) -> None:
    """A line on standard error."""
    sys.stderr.write(f"audit: {text}\n")

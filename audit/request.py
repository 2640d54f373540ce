"""What a command was asked for: where to read, how to read it, which groups, and how to write the result."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from audit.escaping import in_line
from audit.problems import Problem, UsageError, count, report

if TYPE_CHECKING:
    import duckdb

    from audit.recorded import RecordedRun
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

    def open(self, *, all_detectors: bool = False) -> Store:
        """The records, opened; their problems are told on standard error.

        Args:
            all_detectors: whether judgements are of use whichever detector is asked for.
        """
        from audit.judging.loading import left_out
        from audit.presets import parse_overrides
        from audit.store import open_store

        if self.detector != "judge" and (self.judge or (self.judgements and not all_detectors)):
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

    def choose(self, runs: Sequence[RecordedRun]) -> list[RecordedRun]:
        """The runs of the groups that were asked for."""
        return [
            run for run in runs if all(not wanted or run.named(column) in wanted for column, wanted in self._groups())
        ]

    def missing(self, runs: Sequence[RecordedRun]) -> str | None:
        """As `absent`, for runs that were read."""
        held = {column: sorted({run.named(column) for run in runs}) for column, _ in self._groups()}
        return self._absent(held)

    def absent(self, runs: duckdb.DuckDBPyRelation) -> str | None:
        """Which of the groups asked for no run is in; None where each has one."""
        columns = [column for column, _ in self._groups()]
        held = {column: sorted({value for (value,) in runs.select(column).distinct().fetchall()}) for column in columns}
        return self._absent(held)

    def _absent(self, held: Mapping[str, Sequence[str]]) -> str | None:
        for column, values in self._groups():
            missing = [value for value in values or () if value not in held[column]]
            if missing:
                return f"no --{column} {', '.join(missing)} in the records; they hold {', '.join(held[column])}"
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
    sys.stderr.write(f"audit: {in_line(text)}\n")

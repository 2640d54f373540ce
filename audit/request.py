"""What a command is to do: where to read, how to read it, which groups, and how to write the result."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError, Problem, UsageError, count, report
from audit.output.escaping import in_line
from audit.output.names import meant
from audit.vocabulary.detectors import DEFAULT, DEFAULT_OF_TEXTS
from audit.vocabulary.keys import RunKey
from audit.vocabulary.reading import Reading

if TYPE_CHECKING:
    import duckdb

    from audit.ingest.runs import RecordedRun, Records
    from audit.output.rows import Table
    from audit.store import Store


OF_TEXTS: Final = f"candidates are texts: the detector is {DEFAULT_OF_TEXTS}, unless you name another"
OF_SOME_TEXTS: Final = (
    f"some candidates are texts: the detector is {DEFAULT}; texts alone would be read by {DEFAULT_OF_TEXTS}"
)


@dataclass(frozen=True, kw_only=True)
class Request(Reading):
    """The options that commands share; None selects all, and leaves presets as they are."""

    paths: Sequence[Path] = ()
    output: str = "table"
    columns: Sequence[str] | None = None
    sort: Sequence[str] = ()
    limit: int | None = None
    env: Sequence[str] | None = None
    variant: Sequence[str] | None = None
    condition: Sequence[str] | None = None
    run: Sequence[int] | None = None
    store: Store | None = None
    """Records that are open already; they stay open, and their paths, detector, subject and thresholds count."""
    ids: dict[tuple[str, str], str] = field(default_factory=dict, compare=False, repr=False)
    """The ids that the names asked for stand for, by column and name, once the records are known."""

    def open(self, *, all_detectors: bool = False) -> Store:
        """Open the records and print their problems on standard error.

        Args:
            all_detectors: whether judgements are loaded for every detector, not only for those that need them.

        Raises:
            AuditError: as `read` raises it.
        """
        store = self.read(all_detectors=all_detectors)
        if self.store is None:
            print_notes(store.notes, store.problems)
            if store.detected_by.is_judged and (line := _left_out(self, store)):
                note(line)
        return store

    def read(self, *, all_detectors: bool = False) -> Store:
        """Open the records without printing anything.

        Args:
            all_detectors: whether judgements are loaded for every detector, not only for those that need them.

        Raises:
            AuditError: there are no records, none with a selected name, or the request is strict and there are
                problems.
            UsageError: options that exclude each other, or an unknown threshold or judge.
        """
        with contextlib.ExitStack() as resources:
            store, remark = self.suited()
            resources.enter_context(store)
            store.notes.extend(filter(None, [remark]))
            is_given = self.judge or (self.judgements and not all_detectors)
            if self.store is None and is_given and not store.detected_by.is_judged:
                raise UsageError("--judgements and --judge are for --detector judge, or a rubric")
            self._check({column: names(store, column) for column, _ in self.filters()}, store.problems)
            resources.pop_all()
        return store

    def suited(self) -> tuple[Store, str | None]:
        """The records with their default detector where none is named; and a remark on texts where there are any."""
        from audit.store import open_store

        if self.store is not None:
            return self.store.shared(), None
        if self.detector is not None:
            return open_store(self.paths, self.reading()), None
        # Which detector is the default depends on the records, and what may be asked about on the detector.
        with contextlib.ExitStack() as resources:
            store = resources.enter_context(open_store(self.paths, self.reading(detector=DEFAULT, about=None)))
            kinds = self.select(store.relation("run_records")).select("candidates").distinct().fetchall()
            texts = len(kinds) == 1 if ("text",) in kinds else None
            remark = None if texts is None else OF_TEXTS if texts else OF_SOME_TEXTS
            if not (texts or self.about):
                resources.pop_all()
                return store, remark
        return open_store(self.paths, self.reading(detector=DEFAULT_OF_TEXTS if texts else DEFAULT)), remark

    def print(self, table: Table) -> None:
        """Print the columns and rows of a table that are asked for, and its notes on standard error."""
        with table, self.arranged(table) as shown:
            for line in shown.notes:
                note(line)
            shown.print(self.output)

    def arranged(self, table: Table) -> Table:
        """The columns and rows that are asked for; without any such option the table as it is."""
        if self.columns is None and not self.sort and self.limit is None:
            return table
        return table.select(self.columns, sort=self.sort, limit=self.limit)

    def reading(self, **changes: Any) -> Reading:
        """How records are read, apart from all else."""
        return Reading(**{each.name: getattr(self, each.name) for each in fields(Reading)} | changes)

    def select(self, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The selected rows."""
        from duckdb import ColumnExpression, ConstantExpression

        for column, values in self.filters():
            constants = [ConstantExpression(value) for value in values]
            relation = relation.filter(ColumnExpression(column).isin(*constants))
        return relation

    def caption(self, store: Store) -> str | None:
        """The caption for results of the simulated backend; None where there are none."""
        return simulated(self.select(store.relation("run_records")).select("condition, backend").distinct().fetchall())

    def choose(self, records: Records) -> list[RecordedRun]:
        """The selected runs.

        Raises:
            AuditError: no run has a selected name.
        """
        places = {column: RunKey._fields.index(column) for column, _ in self.filters()}
        held = {column: sorted({run.identity[place] for run in records.runs}) for column, place in places.items()}
        self._check(held, records.problems)
        wanted = [(places[column], values) for column, values in self.filters()]
        return [run for run in records.runs if all(run.identity[place] in values for place, values in wanted)]

    def _check(self, held: Mapping[str, Sequence[str | int]], problems: Sequence[Problem]) -> None:
        for column, values in self.filters():
            known = [each for each in held[column] if isinstance(each, str)]
            self.ids.update({(column, each): meant(each, known) for each in values if isinstance(each, str)})
        for column, values in self.filters():
            if missing := [value for value in values if value not in held[column]]:
                lines = "".join(f"\n{line}" for line in report(problems))
                raise AuditError(
                    f"no {column} {_listed(missing)} in the records; they hold {_listed(held[column])}{lines}"
                )

    def filters(self) -> list[tuple[str, Sequence[str | int]]]:
        """The columns that rows are selected by, each with the selected values: ids, once the records are known."""
        asked = (("env", self.env), ("variant", self.variant), ("condition", self.condition))
        named = [(name, [self.ids.get((name, each), each) for each in values]) for name, values in asked if values]
        return [*named, *([("run", self.run)] if self.run else [])]


def names(store: Store, column: str) -> list[Any]:
    """The tasks, methods, conditions or numbers of all runs of a store, selected or not."""
    return sorted(value for (value,) in store.relation("run_records").select(column).distinct().fetchall())


def _left_out(request: Request, store: Store) -> str | None:
    """A note on the selected revisions without a judgement that counts; None where all have one."""
    answers = request.select(store.relation("critic_answers"))
    judged = request.select(store.relation("references"))
    unreadable = request.select(
        store.relation("latest_judgements").filter(
            "model = getvariable('judge') and rubric_sha256 is not distinct from getvariable('rubric') "
            "and driver is null and category is null"
        )
    )
    [(every,)], [(known,)], [(lost,)] = (
        each.aggregate("count(*)").fetchall() for each in (answers, judged, unreadable)
    )
    if known == every:
        return None
    why = f", {lost} of them because the judge could not be read" if lost else ""
    return f"{every - known} of {every} revisions that a critic answered have no judgement and are left out{why}"


def simulated(runs: Iterable[tuple[str, str | None]]) -> str | None:
    """The caption for results of the simulated backend, given conditions and backends; else None."""
    every = set(runs)
    conditions = sorted({condition for condition, backend in every if backend == "simulated"})
    if not conditions:
        return None
    is_all = len(conditions) == len({condition for condition, _ in every})
    which = "" if is_all else in_line(f" in {', '.join(conditions)}")
    return f"Backend: simulated{which}. The answers are not a language model's."


def _listed(values: Sequence[str | int]) -> str:
    return ", ".join(in_line(str(value)) for value in values)


def print_notes(notes: Sequence[str], problems: Sequence[Problem]) -> None:
    """Print notes and problems on standard error, beside the result."""
    for line in noted(notes, problems):
        note(line)


def noted(notes: Sequence[str], problems: Sequence[Problem]) -> Iterator[str]:
    """The lines that tell notes and problems."""
    yield from notes
    if problems:
        yield f"{count(len(problems), 'problem')} in the records, left out:"
        yield from (f"  {line}" for line in report(problems))


def note(text: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"audit: {in_line(text)}\n")


def agree() -> None:
    """Ask the user on a terminal whether to go on; elsewhere, reporting the cost is enough.

    Raises:
        AuditError: the user does not want to.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise AuditError("nothing was asked")

"""From logs and a mapping to a data set."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from audit.importing.decimals import COMMA, POINT, decimal_of
from audit.importing.fields import IDENTITY, FieldError
from audit.importing.log_files import readable
from audit.importing.mapping import FILE, ROW, Direction, LogMapping
from audit.importing.mapping_file import read_mapping, refuse_mistakes, shipped
from audit.importing.names import Names, order_of_names
from audit.importing.parents import Candidate, by_run, in_order, parents_by_name
from audit.importing.rows import MISSING, columns_of, is_csv, is_parquet, lacking, look_up, read_rows
from audit.importing.suspicions import Suspicions
from audit.importing.translating import RepeatedError, RowError, Translator
from audit.importing.unfinished import Unfinished
from audit.importing.writing import PROBLEMS, DataSet
from audit.output.errors import NAMED, AuditError, Problem, UsageError, count
from audit.output.progress import SILENT, PrintedProgress, Progress
from audit.output.rows import Table
from audit.vocabulary.methods import METHODS

COLUMNS: Final = ("condition", "env", "variant", "runs", "iterations", "revisions")
PROBED: Final = 100
"""Rows within which every column that all rows need should have occurred."""
NEEDED: Final = (*IDENTITY, "initial.returns", "initial.mean_return")
MOST_COLUMNS: Final = 200


@dataclass
class Import:
    """An import under way: results per file, the first rows left out, and the first that could not be read."""

    mapping: LogMapping
    data: DataSet
    problem_file: Path
    read: Counter[str] = field(default_factory=Counter)
    imported: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    left_out: int = 0
    repeats: list[Problem] = field(default_factory=list)
    carried_over: int = 0
    broken: Problem | None = None
    seen: set[str] = field(default_factory=set)
    has: dict[str, None] = field(default_factory=dict)
    names: Mapping[str, Names] = field(default_factory=dict)
    commas: list[str] = field(default_factory=list)
    waiting: list[Candidate] = field(default_factory=list)
    unsorted: list[str | None] = field(default_factory=list)
    progress: Progress = SILENT

    def __post_init__(self) -> None:
        """Have runs and iterations called the same in all files."""
        self.names = {"run": Names(), "iteration": Names(in_order=self.mapping.in_order)}
        self.unfinished, self.suspicions = Unfinished(self.mapping), Suspicions(self.mapping)

    def take(self, path: Path, number: int, most: int | None = None) -> None:
        """Read a file, the first of which has number 1, or as many of its rows as `most`.

        Raises:
            UsageError: it lacks a column.
        """
        file = str(path)
        is_table = is_csv(path, self.mapping)
        is_text = is_table or is_parquet(path, self.mapping)
        try:
            decimal = decimal_of(path, self.mapping) if is_table else POINT
            if decimal == COMMA:
                self.commas.append(file)
            translator = Translator(self.mapping, is_text=is_text, names=self.names, file=number, decimal=decimal)
            for place, row in enumerate(islice(read_rows(path, self.mapping, self.progress.advance), most)):
                self.read[file] += 1
                if len(self.has) < MOST_COLUMNS:
                    self.has.update(dict.fromkeys(columns_of(row.cells)))
                try:
                    given, faults = translator.fields(row, place)
                    self.suspicions.see_row(given)
                    if self.unfinished.has(given, row.cells):
                        continue
                    candidate = Candidate(given, faults, file, row.line, translator.finish)
                    if self.mapping.parents is not None:
                        self.waiting.append(candidate)
                        continue
                    self._add(candidate, given)
                except RowError as error:
                    problem = self._leave_out(file, row.line, error)
                    if row.fault is not None and self.broken is None:
                        self.broken = problem
                if place + 1 == PROBED and not self.imported[file] and self.mapping.parents is None:
                    self._refuse_missing(path, translator.seen, NEEDED)
        except FieldError as error:
            raise UsageError(f"{path}: {error}") from None
        self.seen |= translator.seen

    def join(self) -> None:
        """Make records of candidates, whose parents are known by now; one that a run begins with makes none."""
        waiting, self.waiting = self.waiting, []
        for rows in by_run(waiting).values():
            ordered, unsorted = in_order(rows, self.mapping)
            self.unsorted.append(unsorted)
            once = self._once(ordered)
            if self.mapping.parents == "named":
                made = self._join_named(once)
            else:
                made = self._join_previous(once)
                self.suspicions.unordered += ordered != rows
            self.suspicions.see_scores([record["revised"]["mean_return"] for record in made if record is not None])

    def _once(self, rows: list[Candidate]) -> Iterator[Candidate]:
        """The rows of a run without those that repeat an earlier one."""
        seen: dict[tuple[str, Hashable], Candidate] = {}
        for row in rows:
            contents = [("content", row.content)] if row.content else []
            names = [(what, row.given[what]) for what in ("candidate", "iteration") if row.given.get(what) is not None]
            same = next((seen[each] for each in contents if each in seen), None)
            if self.mapping.has("step"):
                same = same if row.name is None else seen.get(("candidate", row.name))
                if same is not None:
                    self.carried_over += 1
                    self.suspicions.rescored += row.scores != same.scores
                    continue
            if (taken := next((each for each in names if each in seen), None)) is not None:
                repeated = RepeatedError(f"{' '.join(map(str, taken))} of the run is in an earlier row")
                self._leave_out(row.file, row.line, repeated)
                continue
            self.suspicions.repeated += same is not None
            for each in () if row.faults else (*names, *contents):
                seen.setdefault(each, row)
            yield row

    def _join_named(self, rows: Iterable[Candidate]) -> Iterator[dict[str, Any] | None]:
        """The records of candidates that name their parents."""
        for row, parent in parents_by_name(list(rows)):
            if isinstance(parent, str):
                unfinished = f"its parent {row.parent!r} did not complete"
                self._leave_out(row.file, row.line, unfinished if self.unfinished.is_named(row.parent) else parent)
            else:
                yield self._revise(row, parent)

    def _join_previous(self, rows: Iterable[Candidate]) -> Iterator[dict[str, Any] | None]:
        """The records of candidates that revise the last one kept before their step, of which the best counts."""
        kept = best = step = None
        score = 0.0
        for row in rows:
            if "step" not in row.given or row.given["step"] != step:
                kept, step = best, row.given.get("step")
            record = self._revise(row, kept)
            if record is not None and record["selected"] == "revised":
                mean = record["revised"]["mean_return"]
                if best is kept or mean > score:
                    best, score = row, mean
            yield record

    def _revise(self, row: Candidate, parent: Candidate | None) -> dict[str, Any] | None:
        """The record of a candidate that revises another; a first one is checked as if it revised itself."""
        try:
            if parent is not None:
                return self._add(row, row.revising(parent))
            record = {**row.finish(row.revising(row), row.faults), "selected": "revised"}
        except RowError as error:
            self._leave_out(row.file, row.line, error)
            return None
        self.imported[row.file] += 1
        return record

    def _add(self, row: Candidate, given: dict[str, Any]) -> dict[str, Any]:
        record = row.finish(given, row.faults)
        self.suspicions.see_record(record)
        self.data.add(record, row.file)
        self.imported[row.file] += 1
        return record

    def check(self, path: Path) -> None:
        """Refuse columns that no row of any file has, such as misspelt ones."""
        self._refuse_missing(path, self.seen, self.mapping.columns)

    def _refuse_missing(self, path: Path, seen: set[str], names: Iterable[str]) -> None:
        wanted = {name: self.mapping.columns.get(name, FILE) for name in names}
        absent = {column: name for name, column in wanted.items() if column not in seen | {FILE, ROW}}
        if self.has and absent:
            broken = f"; and {self.broken}" if self.broken else ""
            meant = (
                f"it for {next(iter(absent.values()))}"
                if len(absent) == 1
                else f"them for {', '.join(absent.values())}"
            )
            raise UsageError(f"{path}: {lacking(list(absent), list(self.has))}; the mapping has {meant}{broken}")

    def _leave_out(self, file: str, line: int, why: RowError | str) -> Problem:
        problem = Problem(file, line, str(why))
        self.left_out += 1
        if isinstance(why, RepeatedError):
            self.repeats.append(problem)
        elif len(self.problems) < NAMED:
            self.problems.append(problem)
        self.data.leave_out(problem)
        return problem

    def named(self) -> list[str]:
        """The first of what was left out, and how many more there are; repeated rows are one line."""
        rest = self.left_out - len(self.problems) - len(self.repeats)
        more = [f"... and {rest} more"] if rest else []
        hint = "; of several runs in one log, [fields] run names the column that tells them apart"
        repeated = f"{count(len(self.repeats), 'row')} repeated: " if len(self.repeats) > 1 else ""
        return [*map(str, self.problems), *more, *(f"{repeated}{first}{hint}" for first in self.repeats[:1])]

    def passed_over(self) -> Iterator[str]:
        """What is left out because the mapping, or a tool's usual state, says so."""
        yield from self.unfinished.lines(self.rows)
        if self.carried_over:
            yield (
                f"left out: {self.carried_over} of {count(self.rows, 'row')}, carried over: an earlier "
                f"{self.mapping.columns.get('step', 'step')!r} of the run has the candidate"
            )

    @property
    def rows(self) -> int:
        """Rows of all files, those left out included."""
        return sum(self.read.values())

    def table(self) -> Table:
        """Runs, iterations and revisions imported per condition, task and method; its notes list what was left out."""
        notes = []
        if self.left_out:
            notes.append(f"{count(self.left_out, 'row')} of {self.rows} left out, all named in {self.problem_file}:")
            notes += [f"  {line}" for line in self.named()]
        notes += [*self.passed_over(), *self.suspicions.lines(), *_read_otherwise(self), *_strange_methods(self)]
        return Table(columns=COLUMNS, rows=self.data.groups(), title="Imported", notes=notes)


def import_logs(
    files: str | Path | Iterable[str | Path],
    mapping: str | Path,
    out: str | Path,
    *,
    force: bool = False,
    strict: bool = False,
    direction: Direction | None = None,
) -> Import:
    """Turn any JSON Lines, CSV or Parquet of revisions into records that every audit reads.

    Args:
        files: one or several, or a folder of Parquet files.
        mapping: a file that states which column is which field, as in `docs/import.md`.
        out: the folder of records that is made.
        force: replace an earlier import there.
        strict: write nothing if any row is invalid; otherwise such rows are left out and counted.
        direction: `minimize` where lower scores are better, whatever the mapping states; records have their negatives.

    Raises:
        UsageError: the mapping, a file's columns, or the folder is unsuitable.
        AuditError: a file is missing, no row is valid, or `strict` and some row is not.
    """
    mapping_file = Path(mapping)
    paths = readable(files)
    read, mistakes = read_mapping(mapping_file)
    if mistakes:
        refuse_mistakes(mapping_file, [*mistakes, *_absent(paths, read)])
    return import_rows(paths, read.directed(direction), Path(out), str(mapping_file), force=force, strict=strict)


def import_rows(
    paths: list[Path],
    mapping: LogMapping,
    out: Path,
    mapping_name: str,
    *,
    force: bool = False,
    strict: bool = False,
    most: int | None = None,
) -> Import:
    """The same for a mapping that was read, and for the first rows of each file where `most` is given."""
    with DataSet(out, mapping, force=force) as data, PrintedProgress() as progress:
        state = Import(mapping, data, out / PROBLEMS, progress=progress)
        progress.begin(sum(path.stat().st_size for path in paths), "importing", counted=False)
        for number, path in enumerate(paths, start=1):
            state.take(path, number, most)
        state.check(paths[0])
        state.join()
        named = "".join(f"\n{line}" for line in (*state.named(), *state.passed_over()))
        if strict and state.left_out:
            raise AuditError(
                f"nothing is imported: {count(state.left_out, 'row')} of {state.rows}, and --strict:{named}"
            )
        if not state.imported:
            raise AuditError(f"nothing to import: no row gives a record{named}")
        data.finish(_report(state, mapping_name))
    return state


def _absent(paths: list[Path], mapping: LogMapping) -> Iterator[str]:
    """Columns that a mapping with mistakes names, and that the first rows of no file have."""
    seen: set[str] = {FILE, ROW}
    has: dict[str, None] = {}
    try:
        for path in paths:
            for row in islice(read_rows(path, replace(mapping, columns={})), PROBED):
                has.update(dict.fromkeys(columns_of(row.cells)))
                wanted = set(mapping.columns.values()) - seen
                seen |= {column for column in wanted if look_up(row.cells, column) is not MISSING}
    except (FieldError, OSError):
        return
    if has and (absent := [column for column in dict.fromkeys(mapping.columns.values()) if column not in seen]):
        yield lacking(absent, list(has))


def _read_otherwise(state: Import) -> Iterator[str]:
    """How an import interpreted a log where its mapping is silent."""
    if state.mapping.decimal is None:
        for file in state.commas:
            yield f"{file}: its numbers have decimal commas"
    if numbers := state.data.run_numbers():
        named = [f"{number} is {name}" for name, number in numbers.items()]
        more = f", and so on for all {len(named)}" if len(named) > NAMED else ""
        yield f"runs are named by text, and numbered in the order of the names: {', '.join(named[:NAMED])}{more}"
    if unsorted := state.data.named_iterations():
        yield order_of_names(state.mapping.columns, unsorted if state.mapping.parents is None else state.unsorted)


def _strange_methods(state: Import) -> Iterator[str]:
    known = METHODS.keys() | shipped()
    for variant in sorted({row["variant"] for row in state.data.groups()} - known):
        close = difflib.get_close_matches(variant, sorted(METHODS), n=1)
        hint = f"; should it be {close[0]}, [values.variant] can say so" if close else ""
        yield f"method {variant!r} is not known here, and keeps its own name{hint}"


def _report(state: Import, mapping_name: str) -> dict[str, Any]:
    numbers = state.data.run_numbers()
    return {
        "mapping": {"file": mapping_name, "text": state.mapping.text},
        "files": [{"file": file, "rows": rows, "imported": state.imported[file]} for file, rows in state.read.items()],
        "left_out": state.left_out,
        **({"direction": state.mapping.direction} if state.mapping.direction else {}),
        "groups": state.data.groups(),
        **({"runs": numbers} if numbers else {}),
    }

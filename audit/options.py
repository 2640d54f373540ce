"""The options of a command or of a library function: where to read, how to classify, which runs, how to print."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict, Unpack

from audit.output.errors import AuditError, Problem, UsageError, report
from audit.output.escaping import in_line
from audit.output.names import meant
from audit.output.notes import note, print_notes, simulated
from audit.vocabulary.detectors import DEFAULT, DEFAULT_OF_TEXTS

if TYPE_CHECKING:
    import duckdb

    from audit.records.lines import RecordedRun, Records
    from audit.store import Store
    from audit.vocabulary.thresholds import Overrides

Data: TypeAlias = "Store | Options | str | Path | Iterable[str | Path]"
"""Records: an open store, one path or several, or options, which bundle all arguments."""

OF_TEXTS: Final = f"candidates are texts: the detector is {DEFAULT_OF_TEXTS}, unless you name another"
OF_SOME_TEXTS: Final = (
    f"some candidates are texts: the detector is {DEFAULT}; texts alone would be read by {DEFAULT_OF_TEXTS}"
)

READING: Final = ("strict", "cache", "detector", "about", "overrides", "judgements", "judge", "plans")
"""The options that control how records are opened, the arguments of `open_store`."""
_SELECTING: Final = ("env", "variant", "condition", "run")
"""The options that select rows, which are columns as well."""
_UNREAD: Final = """
model = getvariable('judge') and rubric_sha256 is not distinct from getvariable('rubric')
and driver is null and category is null
"""
"""Judgements by the judge and the rubric in use that could not be read."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options that commands and functions share; None selects all, and leaves presets as they are.

    Attributes:
        paths: folders, archives or packs of records.
        store: records that are open already; they stay open, and their paths, detector, item and thresholds count.
        strict: reject records with problems; otherwise what has a problem is left out and listed.
        cache: whether results of an earlier audit may be used, and stored for a later one.
        detector: how references are found: word, phrase, resolved, judge, the file of a user's own (`FILE.toml`,
            `FILE.py[:FUNCTION]`), or the name of an installed one; None for the default of the records: word, or
            resolved where all candidates are texts.
        about: the item that references are sought to: worst, median, best, first, last, `label:X` or an id; None for
            what the detector is about, which is the worst one unless its file states another.
        judgements: files that `audit judge` has written, for the detector `judge` and rubrics; those beside the records
            where none is named.
        judge: the model whose judgements count, where there are several.
        overrides: thresholds of the edit patterns, by task and name, that override all others.
        plans: files of `audit intervene plan`, whose experiments the relations `interventions…` hold.
        env, variant, condition: only these tasks, methods or conditions.
        run: only runs of these numbers.
        output: the format that a table is printed in.
        columns, sort, limit: which columns and rows are printed, as `Table.select` has them.
    """

    paths: Sequence[str | Path] = ()
    store: Store | None = None
    strict: bool = False
    cache: bool = True
    detector: str | None = DEFAULT
    about: str | None = None
    judgements: Sequence[str | Path] = ()
    judge: str | None = None
    overrides: Overrides = field(default_factory=dict[str, Mapping[str, float]])
    plans: Sequence[Path] = ()
    env: Sequence[str] | None = None
    variant: Sequence[str] | None = None
    condition: Sequence[str] | None = None
    run: Sequence[int] | None = None
    output: str = "table"
    columns: Sequence[str] | None = None
    sort: Sequence[str] = ()
    limit: int | None = None
    _ids: dict[str, list[Any]] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The ids that the selected names stand for, by column, once the records are known."""

    def open(self, *, all_detectors: bool = False) -> Store:
        """Open the records and print their problems on standard error; arguments and errors as for `read`."""
        store = self.read(all_detectors=all_detectors)
        if self.store is None:
            print_notes(store.notes, store.problems)
            if store.detected_by.is_judged and (line := self._unjudged(store)):
                note(line)
        return store

    def read(self, *, all_detectors: bool = False) -> Store:
        """Open the records without printing anything.

        Args:
            all_detectors: whether judgements are loaded for every detector, not only for those that need them.

        Raises:
            AuditError: there are no records, none with a selected name, or `strict` is set and there are problems.
            UsageError: options that exclude each other, or an unknown threshold or judge.
        """
        store = self.suited()
        is_given = self.judge or (self.judgements and not all_detectors)
        if self.store is None and is_given and not store.detected_by.is_judged:
            store.close()
            raise UsageError("--judgements and --judge are for --detector judge, or a rubric")
        return store

    def suited(self) -> Store:
        """Open the records; where no detector is named, with the one that suits them, and a note that says so.

        Raises:
            AuditError: there are no records, none with a selected name, or `strict` is set and there are problems.
            UsageError: an unknown detector, threshold or judge.
        """
        if self.store is not None or self.detector is not None:
            return self._opened(self)
        # Which detector is the default depends on the records, and what may be asked about on the detector.
        with contextlib.ExitStack() as resources:
            store = resources.enter_context(self._opened(replace(self, detector=DEFAULT, about=None)))
            kinds = self.select(store.relation("run_records")).select("candidates").distinct().fetchall()
            is_of_texts = kinds == [("text",)]
            is_suited = not (is_of_texts or self.about)
            if is_suited:
                resources.pop_all()
        if not is_suited:
            store = self._opened(replace(self, detector=DEFAULT_OF_TEXTS if is_of_texts else DEFAULT))
        if ("text",) in kinds:
            store.notes.append(OF_TEXTS if is_of_texts else OF_SOME_TEXTS)
        return store

    def _opened(self, options: Options) -> Store:
        from audit.store import open_store

        if self.store is None:
            store = open_store(self.paths, **{name: getattr(options, name) for name in READING})
        else:
            store = self.store.shared()
        with contextlib.ExitStack() as resources:
            resources.enter_context(store)
            self._check({column: names(store, column) for column, _ in self.filters()}, store.problems)
            resources.pop_all()
        return store

    def filters(self) -> list[tuple[str, Sequence[Any]]]:
        """The columns that rows are selected by, each with the selected values: ids, once the records are known."""
        return [(name, self._ids.get(name, values)) for name in _SELECTING if (values := getattr(self, name))]

    def select(self, relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The selected rows."""
        from duckdb import ColumnExpression, ConstantExpression

        for column, values in self.filters():
            relation = relation.filter(ColumnExpression(column).isin(*map(ConstantExpression, values)))
        return relation

    def choose(self, records: Records) -> list[RecordedRun]:
        """The selected runs.

        Raises:
            AuditError: no run has a selected name.
        """
        held = {column: sorted({getattr(run.identity, column) for run in records.runs}) for column in _SELECTING}
        self._check(held, records.problems)
        wanted = self.filters()
        return [run for run in records.runs if all(getattr(run.identity, name) in ids for name, ids in wanted)]

    def caption(self, store: Store) -> str | None:
        """The caption for results of the simulated backend; None where there are none."""
        return simulated(self.select(store.relation("run_records")).select("condition, backend").distinct().fetchall())

    def _check(self, held: Mapping[str, Sequence[Any]], problems: Sequence[Problem]) -> None:
        for column, values in self.filters():
            ids = [meant(value, held[column]) if isinstance(value, str) else value for value in values]
            if missing := [value for value in ids if value not in held[column]]:
                lines = "".join(f"\n{line}" for line in report(problems))
                raise AuditError(
                    f"no {column} {_listed(missing)} in the records; they hold {_listed(held[column])}{lines}"
                )
            self._ids[column] = ids

    def _unjudged(self, store: Store) -> str | None:
        """A note on the selected revisions without a judgement that counts; None where all have one."""
        relations = (
            store.relation("critic_answers"),
            store.relation("references"),
            store.relation("latest_judgements").filter(_UNREAD),
        )
        [(every,)], [(known,)], [(lost,)] = (self.select(each).aggregate("count(*)").fetchall() for each in relations)
        if known == every:
            return None
        why = f", {lost} of them because the judge could not be read" if lost else ""
        return f"{every - known} of {every} revisions that a critic answered have no judgement and are left out{why}"


def names(store: Store, column: str) -> list[Any]:
    """The tasks, methods, conditions or numbers of all runs of a store, selected or not."""
    return sorted(value for (value,) in store.relation("run_records").select(column).distinct().fetchall())


def _listed(values: Sequence[str | int]) -> str:
    return ", ".join(in_line(str(value)) for value in values)


class Analysis(TypedDict, total=False):
    """Keyword arguments of `audit.open`, `audit.show` and `audit.sql`, which `Options` describes."""

    strict: bool
    cache: bool
    detector: str | None
    about: str | None
    judgements: Sequence[str | Path] | None
    judge: str | None
    overrides: Overrides | None


class Selection(TypedDict, total=False):
    """Keyword arguments of functions, which `Options` describes; a name or a number may stand for a list of one."""

    strict: bool
    cache: bool
    env: str | Sequence[str] | None
    variant: str | Sequence[str] | None
    condition: str | Sequence[str] | None


class RunSelection(Selection, total=False):
    """Keyword arguments of functions whose rows belong to single runs."""

    run: int | Sequence[int] | None


class Detection(Selection, total=False):
    """Keyword arguments of functions that use a detector."""

    detector: str | None
    about: str | None
    judgements: Sequence[str | Path] | None
    judge: str | None


class Thresholds(Selection, total=False):
    """Keyword arguments of functions that classify edits."""

    overrides: Overrides | None


class Classification(Detection, Thresholds, total=False):
    """Keyword arguments of functions that use a detector and classify edits."""


class RevisionSelection(RunSelection, Classification, total=False):
    """Keyword arguments of functions whose rows are revisions, with every classification."""


def options_of(data: Data, kind: Any, given: Mapping[str, Any]) -> Options:
    """Build the options that a function's arguments describe.

    Args:
        data: the records.
        kind: the class of keyword arguments that the function takes, `Selection` or one of its subclasses.
        given: the keyword arguments.

    Raises:
        TypeError: the function takes no such argument.
        UsageError: an argument that an open store no longer takes.
    """
    known = kind.__optional_keys__
    if unknown := sorted(given.keys() - known):
        raise TypeError(f"unexpected argument {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    changes: dict[str, Any] = {"detector": None} if "detector" in known and not isinstance(data, Options) else {}
    for name, value in given.items():
        one = isinstance(value, str | int | Path) and name in (*_SELECTING, "judgements")
        changes[name] = [value] if one else value
    # None is no override and no file.
    changes |= {name: empty for name, empty in (("overrides", {}), ("judgements", ())) if changes.get(name, 0) is None}
    if isinstance(data, Options):
        return replace(data, **changes)
    if isinstance(data, str | Path):
        return Options(paths=[data], **changes)
    from audit.store import Store  # and with it all that reads records

    if isinstance(data, Store):
        if late := sorted(given.keys() - set(_SELECTING)):
            raise UsageError(f"the store is open already; give {', '.join(late)} to audit.open")
        opened = {name: getattr(data, name) for name in ("paths", "detector", "about", "overrides", "plans")}
        return Options(store=data, **changes | opened)
    return Options(paths=list(data), **changes)


def open(  # noqa: A001 - `audit.open` is how it reads
    *paths: str | Path | Iterable[str | Path],
    plan: str | Path | Sequence[str | Path] = (),
    **keywords: Unpack[Analysis],
) -> Store:
    """Read records and make their analysis available: relations are attributes, `store.revisions.df()`.

    Args:
        paths: folders, tar archives or packs, of native records or of released logs, one by one or in a list.
        plan: experiments for the relations `interventions`, `intervention_units` and `intervention_effects`: the file
            of a plan or several; without `paths`, the records of the plans are read.
        keywords: how records are opened and classified.

    Returns:
        The store, a context manager. `store.sql("select …")` queries it, and `dir(store)` names the relations.

    Raises:
        UsageError: neither path nor plan, or no such detector, task or threshold.
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    every = [path for given in paths for path in ([given] if isinstance(given, str | Path) else given)]
    plans = [Path(file) for file in ([plan] if isinstance(plan, str | Path) else plan)]
    if plans and not every:
        from audit.interventions.relations import records_of_plans

        every = [*records_of_plans(plans)]
    if not every:
        raise UsageError("give a folder, a tar archive or a pack of records")
    return replace(options_of(every, Analysis, keywords), plans=plans).suited()

"""Opens folders and archives of records as relations.

with open_store(["data/runs"]) as store:
    for row in store.rows("summary"):
        print(row["env"], row["regressions"])
"""

from __future__ import annotations

import contextlib
import copy
import difflib
from collections.abc import Collection, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from audit.detectors.detector import Detector
from audit.detectors.loading import load_detector
from audit.engine.catalog import models, public
from audit.engine.database import Database
from audit.ingest.opening import Opening
from audit.output.errors import Problem, count, refuse_problems
from audit.remote.copies import fetch
from audit.remote.urls import path_of
from audit.vocabulary.detectors import DEFAULT
from audit.vocabulary.reading import Reading
from audit.vocabulary.thresholds import check_overrides
from collector.system.stopping import temporary_folder

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from audit.vocabulary.keys import RunKey


class Store:
    """The relations of `audit/models` over one set of records: a context manager, made by `open_store`.

    `problems` lists what was left out, and why; `notes` is further information that changes no result.
    `paths`, `detector`, `about`, `overrides` and `plans` are its arguments; `detected_by` is the detector that is used.
    """

    def __init__(
        self,
        database: Database,
        problems: list[Problem],
        notes: list[str],
        resources: contextlib.ExitStack,
        opening: Opening | None,
        paths: Sequence[Path],
        reading: Reading,
        detected_by: Detector,
    ) -> None:
        self.paths, self.plans = tuple(paths), tuple(map(Path, reading.plans))
        self.detector, self.about, self.overrides = reading.detector or DEFAULT, reading.about, reading.overrides
        self.detected_by = detected_by
        self.problems = problems
        self.notes = notes
        self._database = database
        self._resources = resources
        self._opening = opening

    def relation(self, name: str) -> duckdb.DuckDBPyRelation:
        """A relation by its name, to be filtered and joined further while the store is open.

        Raises:
            AuditError: there is no such relation.
        """
        return self._database.relation(name)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """All rows of a relation, as dicts in its column order."""
        return rows_of(self.relation(name))

    def frame(self, name: str) -> pd.DataFrame:
        """All rows of a relation as a data frame."""
        frame: pd.DataFrame = self.relation(name).df()
        return frame

    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """The result of one SELECT (or DESCRIBE, or SUMMARIZE) over the relations; they are read, never changed.

        Raises:
            UsageError: it is anything else, or names an unknown relation or column.
        """
        return self._database.query(query)

    def condition(self, text: str) -> duckdb.Expression:
        """Parse a user's condition, to filter a relation by.

        Raises:
            UsageError: it is not a single expression, or reads anything but relations.
        """
        return self._database.condition(text)

    def kept(self, name: str, query: str) -> Path:
        """A database file with the result of a query of the program's own, kept from one audit to the next.

        Args:
            name: under which it is kept, and of its one table.
            query: a SELECT over the relations, run where nothing is kept.
        """
        return self._database.kept(name, query)

    def build(self, query: str) -> None:
        """Build the relations that a query names; the errors are those of `sql`, but for unknown columns."""
        self._database.build(query)

    def confine(self, *, read: bool = True) -> None:
        """Restrict SQL from here on to the relations: no other file, no network, no setting.

        Args:
            read: whether any relation may be asked for afterwards, so that the records are read; otherwise only those
                that are built or kept.
        """
        self._database.confine(read=read)

    def interrupt(self) -> None:
        """Stop the query that runs in another thread."""
        self._database.interrupt()

    def set(self, variable: str, value: Any) -> None:
        """Set a variable that models read, before the relations that read it are built."""
        self._database.read()
        self._database.set(variable, value)

    def shared(self) -> Store:
        """The same store for a caller that closes it after use, which leaves this one open."""
        return self._with(self._database, contextlib.ExitStack())

    def of_runs(self, runs: Collection[RunKey]) -> Store:
        """The same relations over the records of some runs alone, until this store is closed.

        Rows that are functions of a run's own lines are the same; nothing of other runs is read or computed for them.
        """
        alone = None if self._opening is None else self._opening.of_runs(self._database, runs)
        if alone is None:
            return self.shared()
        resources = contextlib.ExitStack()
        resources.callback(alone.close)
        return self._with(alone, resources)

    def _with(self, database: Database, resources: contextlib.ExitStack) -> Store:
        other = copy.copy(self)
        other.problems, other.notes = list(self.problems), list(self.notes)
        other._database, other._resources, other._opening = database, resources, None
        return other

    def violations(self, invariant: str) -> list[tuple[Any, ...]]:
        """The rows for which an invariant does not hold: none, unless the analysis is wrong."""
        return self._database.violations(invariant)

    def __getattr__(self, name: str) -> duckdb.DuckDBPyRelation:
        if name in models():
            return self.relation(name)
        near = difflib.get_close_matches(name, public(), n=3)
        hint = f"; did you mean {' or '.join(near)}?" if near else f"; relations are {', '.join(public())}"
        raise AttributeError(f"no relation {name!r}{hint}", name=name, obj=self)

    def __repr__(self) -> str:
        where = ", ".join(map(str, self.paths))
        left_out = f"; {count(len(self.problems), 'problem')}, see .problems" if self.problems else ""
        return f"<audit.Store of {where}{left_out}; relations: {', '.join(public())}>"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *public()})

    def close(self) -> None:
        """Close the database and remove its temporary files."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open_store(paths: Sequence[str | Path], reading: Reading | None = None, **options: Any) -> Store:
    """Read records and make their analysis available.

    Args:
        paths: folders or tar archives of native records or of the released code's logs, in any mixture. A folder
            may hold a whole data set, a condition, or a single run.
        reading: how they are read and classified.
        options: the same by name, as `Reading` has it.

    Raises:
        UsageError: no such detector, judge, task or threshold, or the environment's memory limit is not a size.
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    reading = reading or Reading(**options)
    detected_by = load_detector(reading.detector or DEFAULT, reading.about)
    check_overrides(reading.overrides)
    given = [path_of(path) for path in paths]
    fetch(given, cache=reading.cache)
    with contextlib.ExitStack() as resources:
        directory = resources.enter_context(temporary_folder())
        opening = Opening(given, directory, resources, reading, detected_by)
        analysis = opening.analysis()
        database = Database(directory, analysis, opening.read)
        resources.callback(database.close)
        if analysis is not None and analysis.problems is not None:
            opening.problems, opening.notes = analysis.problems, analysis.notes
            if reading.strict:
                refuse_problems(analysis.problems)
        else:
            database.read()
            if analysis is not None:
                analysis.begin(opening.problems, opening.notes)
                database.keep()
                opening.keep_files(analysis)
        opening.resources = resources.pop_all()
    return Store(database, opening.problems, opening.notes, opening.resources, opening, given, reading, detected_by)


def rows_of(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """The rows of any relation as dicts in its column order."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]

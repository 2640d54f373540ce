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

import msgspec

from audit.detectors.detector import Detector
from audit.detectors.loading import load_detector
from audit.models.catalog import models, public
from audit.models.database import Database
from audit.output.errors import Problem, count, refuse_problems
from audit.records.cache import About, Cache
from audit.records.locating import label_of, locate
from audit.vocabulary.detectors import DEFAULT
from audit.vocabulary.threshold_steps import around
from audit.vocabulary.thresholds import Overrides, check_overrides, presets, text_preset
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
        paths: Sequence[str | Path],
        detected_by: Detector,
        *,
        detector: str,
        about: str | None,
        overrides: Overrides,
        plans: Sequence[Path],
    ) -> None:
        self.paths, self.plans = tuple(paths), tuple(plans)
        self.detector, self.about, self.overrides = detector, about, overrides
        self.detected_by = detected_by
        self.problems = problems
        self.notes = notes
        self._database = database
        self._resources = resources

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

    def cached_file(self, name: str, query: str) -> Path:
        """A database file with the result of a query of the program's own, which is cached.

        Args:
            name: of the file's one table.
            query: a SELECT over the relations, run where nothing is cached.
        """
        return self._database.cached_file(name, query)

    def build(self, query: str) -> None:
        """Build the relations that a query names; the errors are those of `sql`, but for unknown columns."""
        self._database.build(query)

    def confine(self) -> None:
        """Restrict SQL from here on to the relations that are built: no other file, no network, no setting."""
        self._database.confine()

    def interrupt(self) -> None:
        """Stop the query that runs in another thread."""
        self._database.interrupt()

    def set(self, variable: str, value: Any) -> None:
        """Set a variable that models read; relations that were built with another value are built again."""
        self._database.set(variable, value)

    def shared(self) -> Store:
        """The same store for a caller that closes it after use, which leaves this one open."""
        return self._with(self._database, contextlib.ExitStack())

    def of_runs(self, runs: Collection[RunKey]) -> Store:
        """The same relations over the records of some runs alone, until this store is closed.

        Rows that are functions of a run's own lines are the same; nothing of other runs is computed for them.
        """
        resources = contextlib.ExitStack()
        alone = self._database.of_runs(runs, resources.enter_context(temporary_folder()))
        resources.callback(alone.close)
        return self._with(alone, resources)

    def _with(self, database: Database, resources: contextlib.ExitStack) -> Store:
        other = copy.copy(self)
        other.problems, other.notes = list(self.problems), list(self.notes)
        other._database, other._resources = database, resources
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
        where = ", ".join(map(label_of, self.paths))
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


def open_store(
    paths: Sequence[str | Path],
    *,
    strict: bool = False,
    cache: bool = True,
    detector: str | None = None,
    about: str | None = None,
    overrides: Overrides | None = None,
    judgements: Sequence[str | Path] = (),
    judge: str | None = None,
    plans: Sequence[str | Path] = (),
) -> Store:
    """Read records and make their analysis available; `Options` describes the arguments.

    Raises:
        UsageError: no such detector, judge, task or threshold, or the environment's memory limit is not a size.
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    detected_by = load_detector(detector or DEFAULT, about)
    overrides = overrides or {}
    check_overrides(overrides)
    places = [locate(path, cache=cache) for path in paths]
    with contextlib.ExitStack() as resources:
        directory = resources.enter_context(temporary_folder())
        cached = Cache.of([(place.label, place.path) for place in places]) if cache else None
        known = None if cached is None else cached.about()
        found = known or About([], [])

        def read(database: Database) -> dict[str, Path]:
            from audit.records.reading import read_records

            intake, files = read_records(places, directory, database.connection, strict=strict)
            found.problems[:], found.notes[:] = intake.problems, intake.notes
            if cached is not None and cached.begin(found):
                for path in files.values():
                    cached.add(path)
            return files

        database = Database(directory, cached, read)
        resources.callback(database.close)
        _set_options(database, detected_by, overrides)
        database.set("judgements", "[]")
        database.set("judge", judge)
        database.set("plan_files", [str(file) for file in plans])
        database.set("plan_cache", cache)
        if known is None:
            database.load()
        else:
            database.take_cached_records()
        problems = list(found.problems)
        if detected_by.is_judged or judgements:
            from audit.records.judgements import load_judgements

            problems += load_judgements(paths, judgements, judge, detected_by, database)
        if strict:
            refuse_problems(problems)
        return Store(
            database,
            problems,
            found.notes,
            resources.pop_all(),
            paths,
            detected_by,
            detector=detector or DEFAULT,
            about=about,
            overrides=overrides,
            plans=[Path(plan) for plan in plans],
        )


def _set_options(database: Database, detector: Detector, overrides: Overrides) -> None:
    """Set what relations depend on beside the records."""
    for variable, values in (("presets", presets()), ("overrides", overrides)):
        rows = [{"env": env, **thresholds} for env, thresholds in values.items()]
        database.set(variable, msgspec.json.encode(rows).decode())
    database.set("text_preset", text_preset())
    database.set("threshold_steps", around())
    database.set("detector_key", detector.key)
    for variable, value in detector.variables().items():
        database.set(variable, value)
    if detector.relation is not None:
        database.stand_in("references", detector.relation)
    if detector.function is not None:
        database.detect_with(detector.function)


def rows_of(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """The rows of any relation as dicts in its column order."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]

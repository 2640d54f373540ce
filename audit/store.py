"""Opens folders and archives of records as relations.

with open_store(["data/runs"]) as store:
    for row in store.rows("summary"):
        print(row["env"], row["regressions"])
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from audit.checks import find_defects
from audit.database import Database
from audit.detectors import DETECTORS
from audit.presets import Overrides, check_overrides, presets
from audit.problems import AuditError, Problem, UsageError, count, report
from audit.sources import gather
from audit.sources.intake import Intake

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


class Store:
    """The relations of `audit/models` over one set of records: a context manager, made by `open_store`.

    `problems` lists what was left out, and why.
    """

    def __init__(self, database: Database, problems: Iterable[Problem], resources: contextlib.ExitStack) -> None:
        self.problems = list(problems)
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

    def violations(self, invariant: str) -> list[tuple[Any, ...]]:
        """The rows for which an invariant does not hold: none, unless the analysis is wrong."""
        return self._database.violations(invariant)

    def close(self) -> None:
        """Let go of the database and its temporary files."""
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
    detector: str = "word",
    overrides: Overrides | None = None,
) -> Store:
    """Read records and make their analysis available.

    Args:
        paths: folders or tar archives of native records or of the released code's logs, mixed as one likes. A folder
            may hold a whole data set, a condition, or a single run.
        strict: refuse data with problems; otherwise what has a problem is left out and listed in `problems`.
        detector: how references to the worst rollout are found, one of `audit.detectors.DETECTORS`.
        overrides: thresholds of the edit patterns, by task and name, that go before all others.

    Raises:
        UsageError: no such detector, task or threshold.
        AuditError: a path is missing or holds no records, or `strict` and something is wrong.
    """
    if detector not in DETECTORS:
        raise UsageError(f"no detector {detector!r}; detectors are {', '.join(DETECTORS)}")
    check_overrides(overrides or {})
    with contextlib.ExitStack() as resources:
        directory = Path(resources.enter_context(tempfile.TemporaryDirectory(prefix="audit-")))
        intake = Intake(directory)
        gather([Path(path) for path in paths], intake)
        _refuse(intake, strict=strict)
        database = Database(directory)
        resources.callback(database.close)
        _tell(database, intake, detector, overrides or {})
        find_defects(intake, database)
        _refuse(intake, strict=strict)
        if not database.relation("episodes").limit(1).fetchall():
            raise _nothing(intake)
        resources_to_keep = resources.pop_all()
    return Store(database, intake.problems, resources_to_keep)


def rows_of(relation: duckdb.DuckDBPyRelation) -> list[dict[str, Any]]:
    """The rows of any relation as dicts in its column order."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def _tell(database: Database, intake: Intake, detector: str, overrides: Overrides) -> None:
    """Hand files and options to the database."""
    presets_of_tasks = [{"env": env, **values} for env, values in presets().items()]
    overrides_of_tasks = [{"env": env, **values} for env, values in overrides.items()]
    intake.logged_returns.touch()
    for variable, path in {
        "run_file": intake.write("runs.jsonl", intake.runs.values()),
        "preset_file": intake.write("presets.jsonl", presets_of_tasks),
        "override_file": intake.write("overrides.jsonl", overrides_of_tasks),
        "logged_return_file": intake.logged_returns,
    }.items():
        database.set(variable, str(path))
    database.set("detector", detector)
    database.set("detector_pattern", DETECTORS[detector])


def _refuse(intake: Intake, *, strict: bool) -> None:
    if strict and intake.problems:
        told = "\n".join(report(intake.problems))
        raise AuditError(f"{count(len(intake.problems), 'problem')} in the records, and --strict:\n{told}")
    if not intake.files:
        raise _nothing(intake)


def _nothing(intake: Intake) -> AuditError:
    told = "".join(f"\n{line}" for line in report(intake.problems))
    return AuditError(f"no finished iteration in what was given{told}")

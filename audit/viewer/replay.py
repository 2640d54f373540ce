"""The page of a replay: the worst, the median and the best rollout under the policy before and after a revision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from audit.records.locating import file_of
from audit.rerun.aside import Aside
from audit.rerun.rollouts import NotRerunnableError, load_tasks
from audit.rerun.side_by_side import find_revision, side_by_side
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store

LABELS: Final = ("worst", "median", "best")


class Replays:
    """Replays of a viewer's records, in a process that is started when it is first needed.

    Args:
        store: the records.
        lock: held while `store` is used.
        task_modules: Python files of users' tasks.

    Raises:
        UsageError: a file of tasks cannot be used.
    """

    def __init__(self, store: Store, lock: Lock, task_modules: Sequence[Path] = ()) -> None:
        load_tasks(task_modules)
        self._store, self._lock = store, lock
        self._rollouts = Aside(task_modules)

    def replay(self, key: RevisionKey) -> dict[str, Any]:
        """What the page of a revision shows.

        Args:
            key: of the revision.

        Returns:
            What `side_by_side` returns. If nothing can be run again, `why` is the reason and there are no rollouts.

        Raises:
            AuditError: there is no such run or iteration.
        """
        try:
            revision = find_revision(self._paths(key), key)
        except NotRerunnableError as error:
            return {"why": f"the rollouts cannot be run again: {error}", "rollouts": []}
        return {"why": None, **side_by_side(revision, self._places(key), self._rollouts)}

    def close(self) -> None:
        """End the process."""
        self._rollouts.close()

    def _places(self, key: RevisionKey) -> dict[str, int]:
        """The worst, the median and the best rollout of a revision as the analysis has them."""
        row = self._row("evidence", [f"{label}_rollout" for label in LABELS], key)
        return {label: place for label, place in zip(LABELS, row or (), strict=False) if place is not None}

    def _paths(self, key: RevisionKey) -> Sequence[str | Path]:
        """Where to look for the revision's run: in its own folder where it has one, which is quick."""
        row = self._row("episodes", ["file"], key)
        file = file_of(row[0], self._store.paths) if row else Path()
        is_native = file.name == "episodes.jsonl" and file.is_file()
        return [file.parent] if is_native else self._store.paths

    def _row(self, relation: str, columns: Sequence[str], key: RevisionKey) -> tuple[Any, ...] | None:
        from duckdb import ColumnExpression, ConstantExpression

        with self._lock:
            rows = self._store.relation(relation)
            for column, value in key._asdict().items():
                rows = rows.filter(ColumnExpression(column) == ConstantExpression(value))
            return next(iter(rows.select(*columns).fetchall()), None)

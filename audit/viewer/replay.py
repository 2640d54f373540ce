"""The page of a replay: the worst, the median and the best rollout under the policy before and after a revision."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import quote

from audit.cache_folder import cache_folder
from audit.output.errors import UsageError
from audit.remote.urls import local_of
from audit.rerun.aside import Aside
from audit.rerun.filming import COLUMNS, SIDE, film, unfilmable
from audit.rerun.kept_files import KeptFiles
from audit.rerun.policies import fingerprint, key_of
from audit.rerun.rollouts import NotRerunnableError, load_tasks, rollouts_of
from audit.rerun.side_by_side import POLICIES, Revision, find_revision, side_by_side
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store

LABELS: Final = ("worst", "median", "best")
SECONDS: Final = 120.0
"""How long the pictures of a rollout may take."""
MOST: Final = 200 * 2**20
"""Bytes of pictures that are kept between audits."""


class Replays:
    """Replays of a viewer's records: a context manager.

    Rollouts need not wait for pictures: each have a process of their own, started when it is first needed.

    Args:
        store: the records.
        lock: held while `store` is used.
        task_modules: Python files of users' tasks.
        cache: whether pictures may be kept between audits.

    Raises:
        UsageError: a file of tasks cannot be used.
    """

    def __init__(self, store: Store, lock: Lock, task_modules: Sequence[Path] = (), *, cache: bool = True) -> None:
        load_tasks(task_modules)
        self._store, self._lock = store, lock
        self._task_modules = tuple(task_modules)
        self._rollouts, self._pictures = Aside(task_modules), Aside(task_modules)
        folder = cache_folder() if cache else None
        self._kept = KeptFiles(None if folder is None else folder / "replays", MOST)

    def replay(self, key: RevisionKey) -> dict[str, Any]:
        """What the page of a revision shows.

        Args:
            key: of the revision.

        Returns:
            What `side_by_side` returns, and with each policy of a rollout `film`, the address of its pictures, null
            where there are none. If nothing can be run again, `why` is the reason and there are no rollouts.

        Raises:
            AuditError: there is no such run or iteration.
        """
        try:
            revision = find_revision(self._paths(key), key)
        except NotRerunnableError as error:
            return {"why": f"the rollouts cannot be run again: {error}", "rollouts": []}
        found = side_by_side(revision, self._places(key), self._rollouts)
        address = "/".join(quote(str(part), safe="") for part in ("api", "replay", *key))
        for rollout in found["rollouts"]:
            for policy in POLICIES:
                is_filmed = found["unfilmable"] is None and rollout[policy]["why"] is None
                rollout[policy]["film"] = f"{address}/{rollout['place']}/{policy}" if is_filmed else None
        return {"why": None, **found}

    def film(self, key: RevisionKey, place: int, policy: str) -> bytes:
        """The pictures of a rollout, as one WebP image: see `audit.rerun.filming.film`.

        Args:
            key: of the revision.
            place: of the rollout among those of the policy before the revision, from 0.
            policy: `old` or `new`.

        Raises:
            AuditError: there is no such rollout, or it cannot be filmed.
        """
        revision = find_revision(self._paths(key), key)
        rollouts = rollouts_of(revision.old)
        if policy not in POLICIES or place >= len(rollouts):
            raise UsageError(f"no rollout {place} of a policy {policy}")
        if (reason := unfilmable(revision.task)) is not None:
            raise NotRerunnableError(reason)
        seed = rollouts[place].seed
        name = f"{self._name(revision, policy, seed)}.webp"
        image = self._kept.find(name)
        if image is None:
            image = self._filmed(revision, policy, seed)
            self._kept.keep(name, image)
        return image

    def close(self) -> None:
        """End the processes."""
        self._rollouts.close()
        self._pictures.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _filmed(self, revision: Revision, policy: str, seed: int) -> bytes:
        try:
            return self._pictures.run(film, revision.task, revision.params(policy), seed, seconds=SECONDS)
        except Exception as error:  # a renderer can raise anything
            raise NotRerunnableError(f"Gymnasium's rendering failed: {error}") from None

    def _name(self, revision: Revision, policy: str, seed: int) -> str:
        # The fingerprint does not cover the code of users' environments.
        modules = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self._task_modules]
        return key_of("film 2", SIDE, COLUMNS, fingerprint(revision.task), modules, revision.params(policy), seed)

    def _places(self, key: RevisionKey) -> dict[str, int]:
        """The worst, the median and the best rollout of a revision as the analysis has them."""
        row = self._row("evidence", [f"{label}_rollout" for label in LABELS], key)
        return {label: place for label, place in zip(LABELS, row or (), strict=False) if place is not None}

    def _paths(self, key: RevisionKey) -> Sequence[Path]:
        """Where to look for the revision's run: in its own folder where it has one, which is quick."""
        row = self._row("episodes", ["file"], key)
        file = local_of(row[0]) if row else Path()
        is_native = file.name == "episodes.jsonl" and file.is_file()
        return [file.parent] if is_native else self._store.paths

    def _row(self, relation: str, columns: Sequence[str], key: RevisionKey) -> tuple[Any, ...] | None:
        from duckdb import ColumnExpression, ConstantExpression

        with self._lock:
            rows = self._store.relation(relation)
            for column, value in key._asdict().items():
                rows = rows.filter(ColumnExpression(column) == ConstantExpression(value))
            return next(iter(rows.select(*columns).fetchall()), None)

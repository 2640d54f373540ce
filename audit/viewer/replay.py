"""The page of a replay: the worst, the median and the best rollout under the policy before and after a revision."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from audit.ingest.cache_folder import cache_folder
from audit.output.errors import UsageError
from audit.rerun.aside import Aside
from audit.rerun.filming import COLUMNS, SIDE, film, unfilmable
from audit.rerun.kept_files import KeptFiles
from audit.rerun.policies import fingerprint, key_of
from audit.rerun.rollouts import NotRerunnableError, load_tasks, rollouts_of
from audit.rerun.side_by_side import POLICIES, Revision, find_revision, side_by_side
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from audit.viewer.session import Session

LABELS: Final = ("worst", "median", "best")
SECONDS: Final = 120.0
"""How long the pictures of a rollout may take."""
MOST: Final = 200 * 2**20
"""Bytes of pictures that are kept between audits."""


class Replays:
    """What replays share while the viewer runs. Rollouts do not wait for pictures: each have a process of their own.

    Args:
        task_modules: Python files of users' tasks.
        cache: whether pictures may be kept between audits.
    """

    def __init__(self, task_modules: Sequence[Path] = (), *, cache: bool = True) -> None:
        self._task_modules = tuple(task_modules)
        self._rollouts, self._pictures = Aside(task_modules), Aside(task_modules)
        folder = cache_folder() if cache else None
        self._kept = KeptFiles(None if folder is None else folder / "replays", MOST)
        load_tasks(self._task_modules)

    def replay(self, session: Session, key: RevisionKey) -> dict[str, Any]:
        """The object of the page.

        Args:
            session: the records.
            key: of the revision.

        Returns:
            What `side_by_side` returns, and the address of each policy's pictures, null where there are none. If
            nothing can be run again, `why` is the reason and there are no rollouts.

        Raises:
            AuditError: there is no such run or iteration.
        """
        try:
            revision = find_revision(_paths(session, key), key)
        except NotRerunnableError as error:
            return {"why": f"the rollouts cannot be run again: {error}", "rollouts": []}
        found = side_by_side(revision, _places(session, key), self._rollouts)
        address = "/".join(quote(str(part), safe="") for part in ("api", "replay", *key))
        for rollout in found["rollouts"]:
            for policy in POLICIES:
                is_filmed = found["unfilmable"] is None and rollout[policy]["why"] is None
                rollout[policy]["film"] = f"{address}/{rollout['place']}/{policy}" if is_filmed else None
        return {"why": None, **found}

    def film(self, session: Session, key: RevisionKey, place: int, policy: str) -> bytes:
        """The pictures of a rollout, as one WebP image: see `audit.rerun.filming.film`.

        Args:
            session: the records.
            key: of the revision.
            place: of the rollout among those of the policy before the revision, from 0.
            policy: `old` or `new`.

        Raises:
            AuditError: there is no such rollout, or it cannot be filmed.
        """
        revision = find_revision(_paths(session, key), key)
        rollouts = rollouts_of(revision.old)
        if policy not in POLICIES or place >= len(rollouts):
            raise UsageError(f"no rollout {place} of a policy {policy}")
        if (reason := unfilmable(revision.task)) is not None:
            raise NotRerunnableError(reason)
        name = f"{self._key(revision, policy, rollouts[place].seed)}.webp"
        kept = self._kept.find(name)
        return kept if kept is not None else self._filmed(revision, policy, rollouts[place].seed, name)

    def close(self) -> None:
        """End the processes."""
        self._rollouts.close()
        self._pictures.close()

    def _filmed(self, revision: Revision, policy: str, seed: int, name: str) -> bytes:
        try:
            image = self._pictures.run(film, revision.task, revision.params(policy), seed, seconds=SECONDS)
        except Exception as error:  # a renderer can raise anything
            raise NotRerunnableError(f"Gymnasium's rendering failed: {error}") from None
        self._kept.keep(name, image)
        return image

    def _key(self, revision: Revision, policy: str, seed: int) -> str:
        # The fingerprint does not cover the code of users' environments.
        modules = [hashlib.sha256(path.read_bytes()).hexdigest() for path in self._task_modules]
        layout = ("film 1", SIDE, COLUMNS)
        return key_of(*layout, fingerprint(revision.task), modules, revision.params(policy), seed)


def _places(session: Session, key: RevisionKey) -> dict[str, int]:
    """The worst, the median and the best rollout of a revision as the analysis has them."""
    with session.lock:
        row = _of(session, "evidence", key).select(", ".join(f"{label}_rollout" for label in LABELS)).fetchone()
    return {label: place for label, place in zip(LABELS, row or (), strict=False) if place is not None}


def _paths(session: Session, key: RevisionKey) -> Sequence[Path]:
    """Where the revision's run is to be looked for: in its own folder where it has one, which is quick."""
    with session.lock:
        row = _of(session, "episodes", key).select("file").fetchone()
    file = Path(row[0]) if row else Path()
    return [file.parent] if file.name == "episodes.jsonl" and file.is_file() else session.request.paths


def _of(session: Session, name: str, key: RevisionKey) -> DuckDBPyRelation:
    from duckdb import ColumnExpression, ConstantExpression

    rows = session.store.relation(name)
    for column, value in key._asdict().items():
        rows = rows.filter(ColumnExpression(column) == ConstantExpression(value))
    return rows

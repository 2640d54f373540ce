"""Results of rollouts kept from one audit to the next, in the user's cache folder.

A rollout is a function of task, parameters and seed, so a result once found holds as long as the program does. SQLite
lets several audits read and write at once.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

import msgspec

from audit.output.notes import note
from audit.output.progress import PrintedProgress
from audit.records.cache import cache_folder, digest_of
from audit.rerun.running import run_each

if TYPE_CHECKING:
    from collector.tasks import Task

NAME: Final = "rollouts.sqlite"
MOST: Final = 2_000_000
"""Results that are kept; beyond them the oldest are removed."""
_AT_ONCE: Final = 500
"""Keys per query; SQLite limits their number."""
_STORED_AT_ONCE: Final = 256
_DIGEST: Final = 32
"""Characters of the digest before each value."""

T = TypeVar("T")
R = TypeVar("R")


class Results:
    """Results by key. Where they cannot be kept, nothing is found and nothing stored; one line reports this.

    Args:
        folder: where the file is; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self._database: sqlite3.Connection | None = None
        if folder is not None:
            with self._guarded("the results of earlier audits cannot be used"):
                folder.mkdir(parents=True, exist_ok=True)
                self._database = _opened(folder / NAME)

    @classmethod
    def usual(cls, *, cache: bool = True) -> Self:
        """The results in the user's cache folder; none without a cache."""
        return cls(cache_folder() if cache else None)

    def find(self, keys: Sequence[str]) -> dict[str, str]:
        """The results that are stored and not damaged, by key."""
        found: dict[str, str] = {}
        with self._guarded("the results of earlier audits cannot be read"):
            for start in range(0, len(keys) if self._database else 0, _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                assert self._database is not None
                rows = self._database.execute(f"select key, value from results where key in ({marks})", some)  # noqa: S608
                found |= {key: value[_DIGEST:] for key, value in rows if value == _sealed(key, value[_DIGEST:])}
        return found

    def keep(self, results: Mapping[str, str]) -> None:
        """Store results."""
        with self._guarded("results cannot be kept for the next audit"):
            if self._database is not None:
                with self._database:
                    rows = [(key, _sealed(key, value)) for key, value in results.items()]
                    self._database.executemany("insert or replace into results values (?, ?)", rows)

    def close(self) -> None:
        """Close the file, after removing the oldest results beyond `MOST`."""
        with self._guarded("results of earlier audits cannot be removed"):
            if self._database is not None:
                with self._database:
                    self._database.execute(
                        "delete from results where rowid <= (select max(rowid) from results) - ?", [MOST]
                    )
                self._database.close()
        self._database = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _guarded(self, trouble: str) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            note(f"{trouble} ({error}); going on without")
            self._database = None


def computed(
    function: Callable[[Task, T], R | str],
    work: Mapping[str, tuple[Task, T]],
    kind: type[R],
    *,
    cache: bool,
    workers: int | None = None,
    what: str,
) -> dict[str, R | str]:
    """The results of some work: those of earlier audits, and the others computed as `run_each` does, and kept.

    Args:
        function: gives the result for a task and an argument, or the reason why there is none.
        work: tasks and arguments by keys that name everything a result depends on.
        kind: of results, for msgspec.
        cache: whether results may be used and kept.
        workers: threads or processes; None for one per core.
        what: the pieces of work, for people.
    """
    fresh: dict[str, str] = {}
    with Results.usual(cache=cache) as results, PrintedProgress() as progress:
        found: dict[str, R | str] = {
            key: msgspec.json.decode(value, type=kind) for key, value in results.find(list(work)).items()
        }
        missing = {key: each for key, each in work.items() if key not in found}
        progress.begin(len(missing), what)
        tasks = (task for task, _ in missing.values())
        with contextlib.ExitStack() as resources:
            resources.callback(lambda: results.keep(fresh))  # what is finished stays, whatever ends the rest
            outcomes = run_each(function, missing.values(), workers=workers, tasks=tasks)
            resources.enter_context(contextlib.closing(outcomes))
            for key, outcome in zip(missing, outcomes, strict=True):
                progress.advance()
                found[key] = outcome
                if not isinstance(outcome, str):
                    fresh[key] = msgspec.json.encode(outcome).decode()
                if len(fresh) >= _STORED_AT_ONCE:
                    results.keep(fresh)
                    fresh.clear()
    return found


def _sealed(key: str, value: str) -> str:
    return digest_of(value.encode(), key) + value


def _opened(path: Path) -> sqlite3.Connection:
    try:
        return _with_table(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # locked, or not to be written
            raise
        path.unlink()  # damaged: it is a cache
        return _with_table(path)


def _with_table(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=30)
    database.execute("create table if not exists results (key text primary key, value text not null)")
    return database

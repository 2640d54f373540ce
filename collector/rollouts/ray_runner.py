"""What runs in each Ray worker: users' tasks, the canary, and calls; and what the command and its driver exchange."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from collector.errors import CollectorError, TaskError
from collector.rollouts.canary import Proof, prove
from collector.rollouts.compiled import PlainLoopWarning
from collector.rollouts.workers import outcome
from collector.system.cores import limit_cores
from collector.system.stopping import temporary_folder
from collector.tasks.plugins import load_tasks


class Work(NamedTuple):
    """What every worker needs: the files of users' tasks with their contents, what to prove, packages to compare."""

    modules: list[tuple[str, bytes]]
    tasks: bytes
    packages: tuple[str, ...]


class Ready(NamedTuple):
    """Calls can come: so many at once."""

    size: int


class Note(NamedTuple):
    """Something that stops nothing."""

    text: str


class Lost(NamedTuple):
    """No call can be made, or no more."""

    text: str


class Call(NamedTuple):
    """A pickled call by its number; those of a kind take about as long."""

    number: int
    kind: Hashable
    pickled: bytes


class Done(NamedTuple):
    """The pickled outcomes of calls by their numbers; None where every worker that tried it died."""

    outcomes: dict[int, bytes | None]


class Runner:
    """An actor. Calls come and go as bytes, so that Ray neither wraps their errors nor makes their arrays read-only."""

    def __init__(self) -> None:
        limit_cores(1)  # a worker for every core: none of them may use all
        self._files = ExitStack()

    def prove(self, work: Work) -> Proof | str:
        """Load users' tasks and run the canary: the proof, or what is wrong."""
        warnings.simplefilter("ignore", PlainLoopWarning)  # already reported by the driver
        try:
            load_tasks([self._path(name, content) for name, content in work.modules])
            return prove(pickle.loads(work.tasks), work.packages)  # noqa: S301
        except CollectorError as error:
            return str(error)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def run(self, calls: Sequence[bytes]) -> list[tuple[bytes, float]]:
        """Do pickled calls, one after the other: of each the pickled result and error, and the seconds that it took."""
        answers = []
        for call in calls:
            started = time.monotonic()
            answers.append((_pickled(*outcome(_call, (call,))), time.monotonic() - started))
        return answers

    def is_there(self) -> bool:
        """Whether this worker is alive."""
        return True

    def close(self) -> None:
        """Remove what was written here."""
        self._files.close()

    def _path(self, name: str, content: bytes) -> Path:
        """A file with this content: the one that is here already, or one that is written."""
        path = Path(name)
        if path.is_file() and path.read_bytes() == content:
            return path
        folder = self._files.enter_context(temporary_folder("salience-audit-"))
        copy = folder / path.name
        copy.write_bytes(content)
        return copy


def _call(call: bytes) -> Any:
    function: Callable[..., Any]
    function, args = pickle.loads(call)  # noqa: S301
    return function(*args)


def _pickled(result: Any, error: Exception | None) -> bytes:
    try:
        found = pickle.dumps((result, error), protocol=pickle.HIGHEST_PROTOCOL)
        if error is not None:
            pickle.loads(found)  # noqa: S301 - some exceptions can be written, but not read
    except Exception as problem:
        what = error or problem
        found = pickle.dumps((None, TaskError(f"{type(what).__name__}: {what}")))
    return found

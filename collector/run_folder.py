"""One run's folder on disk: locked against a second writer, appended line by line, repaired after a crash."""

from __future__ import annotations

import errno
import heapq
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, TypeVar

import filelock
import msgspec

from collector.errors import CollectorError, StorageError, cannot_write
from collector.records import Call, Episode, RecordError, Run, Skipped, Truth, decode, decode_run, encode
from collector.system.appending import append_line
from collector.system.regular_files import RECORDS, RUN, open_regular, read_regular

_Record = TypeVar("_Record", Episode, Skipped, Call, Truth)

_FILES: Final = {
    Episode: "episodes.jsonl",
    Skipped: "skipped.jsonl",
    Call: "calls.jsonl",
    Truth: "truth.jsonl",
}

_NO_LOCKS: Final = (
    "the file system of the records keeps no locks: another process that writes to the same run would not be noticed"
)


@dataclass(slots=True)
class Stored:
    """What a folder holds of a run.

    Attributes:
        run: what it is; none until `RunFolder.begin` was called, if the folder is new.
        episodes: the iterations that proposed something, in order.
        skipped: those that proposed nothing, in order.
        pending: calls of the iteration that did not finish; they are used again instead of being paid for twice.
        torn: files that end in an unfinished line, or in truths of calls that are lost, with the number of the first
            such line and the bytes before it.
    """

    run: Run | None = None
    episodes: list[Episode] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    pending: list[Call] = field(default_factory=list)
    torn: list[tuple[Path, int, int]] = field(default_factory=list)

    @property
    def finished(self) -> int:
        """The number of finished iterations, those that proposed nothing included."""
        return len(self.episodes) + len(self.skipped)


class RunFolder(Stored):
    """The folder of one run, open for writing, and what it holds. Use as a context manager.

    Attributes:
        path: the folder.
        notes: what was repaired on opening, for people.

    Raises:
        CollectorError: the folder is in use or cannot be written, or its records cannot be continued.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.notes: list[str] = []
        self._files: dict[str, IO[bytes]] = {}
        self._lock = filelock.FileLock(path / ".lock", timeout=0, fallback_to_soft=False)

    def __enter__(self) -> Self:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except filelock.Timeout:
            raise CollectorError(f"{self.path} is being written by another process; wait for it or stop it") from None
        except OSError as error:
            # As on some clusters' shared file systems. A marker in place of a lock would outlive a killed process.
            if error.errno not in {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}:
                raise _cannot_write(self.path, error) from None
            self.notes.append(_NO_LOCKS)
        try:
            self._load()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        self._lock.release()

    def begin(self, run: Run) -> None:
        """Write `run.json`: all of it or nothing, even if the power fails."""
        target, draft = self.path / "run.json", self.path / "run.json.part"
        try:
            with open_regular(draft, "wb") as file:
                file.write(msgspec.json.format(encode(run), indent=2))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(target)
            _sync_folder(self.path)
        except OSError as error:
            raise _cannot_write(target, error) from None
        self.run = run

    def append(self, record: Episode | Skipped | Call | Truth) -> None:
        """Append one record to its file; it is on the disk when this returns."""
        name = _FILES[type(record)]
        try:
            if name not in self._files:
                self._files[name] = open_regular(self.path / name, "ab")
            append_line(self._files[name], encode(record))
        except OSError as error:
            raise _cannot_write(self.path / name, error) from None

    def _load(self) -> None:
        stored = read_run(self.path)
        for file, number, size in stored.torn:
            try:
                with open_regular(file, "ab") as torn:
                    os.ftruncate(torn.fileno(), size)
                    # Else a power cut could bring the end back, under lines that are appended from here on.
                    os.fsync(torn.fileno())
            except OSError as error:
                raise _cannot_write(file, error) from None
            self.notes.append(f"{file}:{number}: dropped an unfinished last line")
        self.run, self.episodes, self.skipped = stored.run, stored.episodes, stored.skipped
        self.pending = stored.pending


def read_run(folder: Path) -> Stored:
    """Read all records of a run, and change nothing.

    Raises:
        CollectorError: a line other than a last one cannot be read or does not belong there, or run.json cannot be
            read.
        StorageError: a file cannot be read.
    """
    stored = Stored()
    path = folder / "run.json"
    try:
        stored.run = decode_run(read_regular(path, RUN))
    except (FileNotFoundError, NotADirectoryError):
        if any((folder / _FILES[kind]).exists() for kind in (Episode, Skipped, Call)):
            raise CollectorError(f"{folder} holds records but no run.json; move it away") from None
        return stored
    except RecordError as error:
        raise CollectorError(f"{path}: {error}") from None
    except OSError as error:
        raise _cannot_read(path, error) from None
    if stored.run.candidates == "text":
        raise CollectorError(f"{path}: the candidates of this run are texts, which are not collected here")
    stored.episodes = _read(folder / "episodes.jsonl", Episode, stored.torn)
    stored.skipped = _read(folder / "skipped.jsonl", Skipped, stored.torn)
    _refuse_gaps(folder, stored.episodes, stored.skipped)
    calls = _read(folder / "calls.jsonl", Call, stored.torn)
    stored.pending = [call for call in calls if call.iteration >= stored.finished]
    # A truth is written before its call: without the call, the critic is asked again and gives it again.
    known = {(call.iteration, call.attempt) for call in calls if call.role == "critic"}
    _read(folder / "truth.jsonl", Truth, stored.torn, lost=lambda truth: (truth.iteration, truth.attempt) not in known)
    return stored


def _refuse_gaps(folder: Path, *records: Sequence[Episode | Skipped]) -> None:
    """Iterations, whichever file they are in, must follow one another from 0."""
    places = ([(each.iteration, _FILES[type(each)], line) for line, each in enumerate(file, 1)] for file in records)
    for number, (iteration, name, line) in enumerate(heapq.merge(*places)):
        if iteration != number:
            raise CollectorError(
                f"{folder / name}:{line}: iteration {iteration} where {number} belongs; move the folder away"
            )


def _read(
    path: Path,
    kind: type[_Record],
    torn: list[tuple[Path, int, int]],
    lost: Callable[[_Record], bool] = lambda _: False,
) -> list[_Record]:
    """Read a file of records; where it ends in lost ones or in a line that is torn, that is added to `torn`."""
    try:
        data = read_regular(path, RECORDS)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _cannot_read(path, error) from None
    lines = data.splitlines(keepends=True)
    records: list[_Record] = []
    end = 0
    for number, line in enumerate(lines, start=1):
        record = _decode(line, kind)
        if isinstance(record, str):
            if number < len(lines):
                raise _cannot_continue(path, number, record)
        elif not lost(record):
            if len(records) < number - 1:
                raise _cannot_continue(path, len(records) + 1, "it belongs to no call")
            records.append(record)
            end += len(line)
    if end < len(data):
        torn.append((path, len(records) + 1, end))
    return records


def _decode(line: bytes, kind: type[_Record]) -> _Record | str:
    """The record on a line, or why it is none."""
    if not line.endswith(b"\n"):
        return "the line is torn"
    try:
        return decode(line, kind)
    except RecordError as error:
        return str(error)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _cannot_continue(path: Path, number: int, problem: str) -> CollectorError:
    return CollectorError(f"{path}:{number}: {problem}; mend or move the file, nothing was changed")


def _cannot_read(path: Path, error: OSError) -> StorageError:
    return StorageError(f"cannot read {path}: {error.strerror or error}")


def _cannot_write(path: Path, error: OSError) -> StorageError:
    return StorageError(cannot_write(path, error))

"""One run's files while a recorder writes them: locked against a second writer, continued after an interruption."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import quote

import msgspec

from collector.errors import cannot_write
from collector.records import LONGEST_LINE, Call, PoolMember, RecordError, Run, TextEpisode, decode, decode_run, encode
from collector.system.appending import append_line

_FILES: Final = {TextEpisode: "episodes.jsonl", Call: "calls.jsonl", PoolMember: "lineage.jsonl"}


class RecorderError(ValueError):
    """A folder cannot be recorded into; raised before the loop begins, never while it runs."""


class RunFiles:
    """The files of one run, open for appending.

    Args:
        data: the folder of the data set; the run is in `<condition>/<env>/<variant>/run-01` below it.
        run: what the run is. It is written with the first record.

    Attributes:
        folder: where the run's files are.
        run: what the run is; as it was written, where it continues.
        recorded: the iterations that are recorded.

    Raises:
        RecorderError: the folder cannot be written, is in use, or holds another run or records that cannot be read.
    """

    def __init__(self, data: Path, run: Run) -> None:
        labels = (run.condition, run.env, run.variant, f"run-{run.run:02}")
        self.folder = data.joinpath(*map(_folder_name, labels))
        self.run = run
        self.recorded: set[int] = set()
        self._begun = False
        self._open: dict[str, IO[bytes]] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / ".lock").open("ab")
            _lock(self._lock)
        except BlockingIOError:
            self._lock.close()
            raise RecorderError(
                f"{self.folder} is being written by another recorder; give another run number"
            ) from None
        except OSError as error:
            raise RecorderError(cannot_write(self.folder, error)) from None
        try:
            self._continue()
        except BaseException:
            self.close()
            raise

    def describe(self, **facts: Any) -> None:
        """Add facts about the run that become known after it was opened; without effect once `run.json` is written."""
        if not self._begun:
            self.run = msgspec.structs.replace(self.run, **facts)

    def append(self, record: TextEpisode | Call | PoolMember) -> None:
        """Append a record; it is on the disk when this returns.

        Raises:
            RecordError: a value that its field cannot have, such as a score that is not a number, or a record that is
                too long for a line.
            OSError: it cannot be written.
        """
        line = encode(record)
        if len(line) > LONGEST_LINE:
            raise RecordError(f"the record is longer than {LONGEST_LINE >> 20} MiB, the most that a line holds")
        decode(line, type(record))
        if not self._begun:
            self._begin()
        name = _FILES[type(record)]
        if name not in self._open:
            self._open[name] = (self.folder / name).open("ab", buffering=0)
        append_line(self._open[name], line)
        if isinstance(record, TextEpisode):
            self.recorded.add(record.iteration)

    def close(self) -> None:
        """Close all files, and let others write here."""
        for file in (*self._open.values(), self._lock):
            file.close()
        self._open.clear()

    def _begin(self) -> None:
        draft = self.folder / "run.json.part"
        with draft.open("wb") as file:
            file.write(msgspec.json.format(encode(self.run), indent=2))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / "run.json")
        self._begun = True

    def _continue(self) -> None:
        path = self.folder / "run.json"
        try:
            stored = decode_run(path.read_bytes())
            for name in _FILES.values():
                path = self.folder / name
                if path.exists():
                    self._read(path)
        except FileNotFoundError:
            if any((self.folder / name).exists() for name in _FILES.values()):
                raise RecorderError(f"{self.folder} holds records but no run.json; move it away") from None
            return
        except RecordError as error:
            raise RecorderError(f"{path}: {error}; move {self.folder} away or give another run number") from None
        except OSError as error:
            raise RecorderError(f"cannot read {path}: {error.strerror or error}") from None
        for name in ("condition", "env", "variant", "run", "candidates", "selection_rule", "method", "score_range"):
            if getattr(stored, name) != getattr(self.run, name):
                raise RecorderError(f"{self.folder} holds a run with another {name}; give another run number")
        self.run, self._begun = stored, True

    def _read(self, path: Path) -> None:
        """Note which iterations are recorded, and drop an unfinished last line."""
        whole = 0
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                if path.name == _FILES[TextEpisode]:
                    try:
                        self.recorded.add(decode(line, TextEpisode).iteration)
                    except RecordError as error:
                        raise RecordError(f"line {number}: {error}") from None
        if whole < path.stat().st_size:
            os.truncate(path, whole)


def _lock(file: IO[bytes]) -> None:
    """Lock a file until it is closed.

    Raises:
        BlockingIOError: another process or recorder has locked it.
    """
    try:
        import fcntl
    except ImportError:  # only POSIX systems have such locks
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _folder_name(label: str) -> str:
    """A label as the name of a folder: characters that some file systems do not allow are escaped."""
    name = quote(label, safe=" +,=@()")
    return f"%2E{name[1:]}" if name.startswith(".") else name

"""A file of a model's answers, open for writing: locked, mended after a crash, and only ever appended to."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Generic, Self, TypeVar

import filelock

from audit.output.errors import AuditError, Problem
from audit.sources.answer_lines import AnswerLine, AnswerLines
from collector.errors import cannot_write
from collector.system.appending import append_lines
from collector.system.regular_files import open_regular

T = TypeVar("T", bound=AnswerLine)


class AnswerFile(Generic[T]):
    """Use as a context manager.

    Args:
        path: the file, created if it does not exist.
        lines: the kind of its lines.

    Attributes:
        answers: those in it, those appended included.
        problems: lines that hold none.

    Raises:
        AuditError: it is in use, cannot be written, or holds something else.
    """

    def __init__(self, path: Path, lines: AnswerLines[T]) -> None:
        self.path = path
        self.lines = lines
        self.answers: list[T] = []
        self.problems: list[Problem] = []
        self._lock = filelock.FileLock(path.parent / f".{path.name}.lock", timeout=0)
        self._file: IO[bytes] | None = None
        self._is_new = False
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        if not self.path.parent.is_dir():
            raise AuditError(f"cannot write {self.path}: no such folder; name another place with --out FILE")
        self._is_new = not self.path.exists()
        try:
            # Before the lock, whose own errors do not always distinguish an unwritable place from one in use.
            open_regular(self.path, "ab").close()
            self._lock.acquire()
            # Under the lock, as another process removes a file that it leaves empty.
            self._file = open_regular(self.path, "ab")
            self.answers, self.problems = self.lines.read(self.path)
            self._mend()
        except filelock.Timeout:
            self._close()
            raise AuditError(f"{self.path} is being written by another process; wait for it or stop it") from None
        except OSError as error:
            self._close()
            raise self._cannot_write(error) from None
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def append(self, answers: Sequence[T]) -> tuple[int, AuditError | None]:
        """Append answers; they are on the disk when this returns, if need be with less of their texts.

        Returns:
            How many were written, which are in `answers` then, and why the next was not.
        """
        assert self._file is not None
        pairs = [self.lines.line_of(answer) for answer in answers]
        with self._writing:
            count, error = append_lines(self._file, [line for _, line in pairs])
            self.answers += [answer for answer, _ in pairs[:count]]
        return count, None if error is None else self._cannot_write(error)

    def _close(self) -> None:
        with self._writing:  # what another thread has begun to write is written first
            if self._file is not None:
                self._file.close()
                if self._is_new and not self.answers:
                    self.path.unlink(missing_ok=True)
        self._lock.release()

    def _mend(self) -> None:
        """Cut a torn last line off, so that the next one begins on a line of its own."""
        data_size = self.path.stat().st_size
        tail = _tail(self.path, data_size)
        if tail and self.lines.is_torn(tail):
            os.truncate(self.path, data_size - len(tail))
        elif tail:
            raise AuditError(
                f"{self.path} ends in something that is not {self.lines.noun}; name another place with --out FILE"
            )

    def _cannot_write(self, error: OSError) -> AuditError:
        return AuditError(cannot_write(self.path, error, "--out FILE"))


def _tail(path: Path, size: int) -> bytes:
    """The bytes after the last line break."""
    with path.open("rb") as file:
        step = 1 << 16
        start = size
        tail = b""
        while start > 0 and b"\n" not in tail:
            start = max(0, start - step)
            file.seek(start)
            tail = file.read(size - start)
            step *= 2
    return tail.rpartition(b"\n")[2]

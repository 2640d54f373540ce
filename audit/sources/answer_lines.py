"""Files to which each answer of a model is appended as a line of JSON: how they are read, whatever the answers are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Self, TypeVar

import msgspec

from audit.output.errors import AuditError, Problem
from collector.records import LONGEST_LINE
from collector.system.regular_files import open_regular


class AnswerLine(msgspec.Struct, frozen=True, kw_only=True):
    """What every such line has."""

    schema: int

    def shortened(self) -> Iterator[Self]:
        """The same with less of its texts, and less again, for where a line cannot hold them all."""
        yield from ()


def left_out(text: str | None) -> str:
    """What stands for a text that a line cannot hold."""
    return f"[{len(text or ''):,} characters, left out: a line holds {LONGEST_LINE >> 20} MiB]"


T = TypeVar("T", bound=AnswerLine)

_schema: Final = msgspec.json.Decoder(AnswerLine)


@dataclass(frozen=True)
class AnswerLines(Generic[T]):
    """One kind of such files.

    Attributes:
        kind: the type of a line; its first fields are `schema` and one that no other kind begins with.
        noun: what a line is, with its article: `a judgement`.
        version: the newest `schema` that is read.
        first: name of the field behind `schema`, which is a text.
    """

    kind: type[T]
    noun: str
    version: int
    first: str

    @property
    def head(self) -> bytes:
        """How every line begins that this program writes, and no line of another of its files."""
        return b'{"schema":%d,"%s":"' % (self.version, self.first.encode())

    def line_of(self, answer: T) -> tuple[T, bytes]:
        """The line of an answer, with as much of its texts as a line that is read again can hold; and that answer."""
        line = msgspec.json.encode(answer) + b"\n"
        for shorter in answer.shortened():
            if len(line) <= LONGEST_LINE:
                break
            answer, line = shorter, msgspec.json.encode(shorter) + b"\n"
        return answer, line

    def is_torn(self, tail: bytes) -> bool:
        """Whether what is behind a file's last line break is the beginning of a line, or zeros of a power cut."""
        written = tail.rstrip(b"\0")
        return written.startswith(self.head) or self.head.startswith(written)

    def read(self, path: Path) -> tuple[list[T], list[Problem]]:
        """The lines of a file in its order, and those that cannot be read.

        Raises:
            AuditError: the file cannot be read, holds something else, or was written by a newer version.
        """
        found: list[T] = []
        problems: list[Problem] = []
        decoder = msgspec.json.Decoder(self.kind)
        try:
            with open_regular(path) as stream:
                for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
                    if len(line) > LONGEST_LINE:
                        raise AuditError(f"{path}:{number}: the line is longer than 16 MiB, so it is not {self.noun}")
                    if problem := self._problem(path, number, line, found, decoder):
                        problems.append(Problem(str(path), number, problem))
        except OSError as error:
            raise AuditError(f"cannot read {path}: {error.strerror or error}") from None
        if problems and not found and not all(problem.message.startswith("torn") for problem in problems):
            raise AuditError(f"{path} holds no {self.noun.partition(' ')[2]}s: {problems[0]}")
        return found, problems

    def _problem(
        self, path: Path, number: int, line: bytes, found: list[T], decoder: msgspec.json.Decoder[T]
    ) -> str | None:
        """Read a line; why it cannot be, or None."""
        if not line.endswith(b"\n"):
            return f"torn: the end of {self.noun} is missing" if self.is_torn(line) else f"not {self.noun}"
        if not line.strip():
            return None
        try:
            read = decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if (schema := _schema_of(line)) > self.version:
                raise AuditError(
                    f"{path}:{number}: written by a newer version (schema {schema}); this one reads {self.version}"
                ) from None
            return f"not {self.noun} ({error})"
        if read.schema > self.version:
            raise AuditError(f"{path}:{number}: written by a newer version (schema {read.schema})")
        found.append(read)
        return None


def _schema_of(line: bytes) -> int:
    try:
        return _schema.decode(line).schema
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return 0

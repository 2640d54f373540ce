"""What can be wrong with the data or the request, and how it is reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from audit.output.escaping import in_line
from collector.system.secrets import without_secrets

NAMED: Final = 10
"""Problems that are listed one by one; the rest are counted."""


class AuditError(Exception):
    """The audit cannot give a result; the message states what is wrong, where, and what to do.

    As text it has no secrets of URLs.
    """

    def __str__(self) -> str:
        return without_secrets(super().__str__())


class UsageError(AuditError):
    """An option or its value makes no sense."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in the data that was left out of the analysis.

    `file` is a path as the user gave it, or `archive!member`; `line` counts from 1 and is None where the whole file
    is meant.
    """

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return in_line(f"{place}: {self.message}")


def report(problems: Sequence[Problem]) -> list[str]:
    """Describe problems in a few lines: the first ones by name, then how many there are in all."""
    return shortened([str(problem) for problem in problems])


def refuse_problems(problems: Sequence[Problem]) -> None:
    """Raise an error if there are problems with the records.

    Raises:
        AuditError: there are problems.
    """
    if problems:
        lines = "\n".join(report(problems))
        raise AuditError(f"{count(len(problems), 'problem')} in the records, and --strict:\n{lines}")


def shortened(lines: Sequence[str]) -> list[str]:
    """The first few lines, then how many more there are."""
    rest = len(lines) - NAMED
    return [*lines[:NAMED], f"... and {rest} more"] if rest > 0 else list(lines)


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it needs one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

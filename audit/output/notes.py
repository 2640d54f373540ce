"""Lines beside a result: notes and problems on standard error, and the caption of simulated answers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence

from audit.output.errors import AuditError, Problem, count, report
from audit.output.escaping import in_line


def note(text: str, program: str = "audit") -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"{program}: {in_line(text)}\n")


def print_notes(notes: Sequence[str], problems: Sequence[Problem], program: str = "audit") -> None:
    """Print notes and problems on standard error, beside the result."""
    for line in noted(notes, problems):
        note(line, program)


def noted(notes: Sequence[str], problems: Sequence[Problem]) -> Iterator[str]:
    """The lines that tell notes and problems."""
    yield from notes
    if problems:
        yield f"{count(len(problems), 'problem')} in the records, left out:"
        yield from (f"  {line}" for line in report(problems))


def agree() -> None:
    """Ask the user on a terminal whether to go on; elsewhere, reporting the cost is enough.

    Raises:
        AuditError: the user does not want to.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise AuditError("nothing was asked")


def simulated(runs: Iterable[tuple[str, str | None]]) -> str | None:
    """The caption for results of the simulated backend, given conditions and backends; else None."""
    every = set(runs)
    conditions = sorted({condition for condition, backend in every if backend == "simulated"})
    if not conditions:
        return None
    is_all = len(conditions) == len({condition for condition, _ in every})
    which = "" if is_all else in_line(f" in {', '.join(conditions)}")
    return f"Backend: simulated{which}. The answers are not a language model's."

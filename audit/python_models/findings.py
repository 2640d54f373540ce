"""Computes the relation `findings`: every answer read once by a user's own function."""

from __future__ import annotations

import functools
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.detectors.detector import Detect
from audit.engine.makers import Writer
from audit.output.errors import AuditError
from audit.python_models.batches import batches, evidence, identity, write_lines
from audit.references import Mention
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb


def writer_of(name: str, function: Detect) -> Writer:
    """What writes the findings of a function.

    Args:
        name: of the detector, for messages.
        function: called with each answer and its evidence.
    """
    return functools.partial(_write, name, function)


def write_nothing(rows: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write an empty file, where the detector is no function."""
    del rows
    path.write_bytes(b"")


def found(name: str, function: Detect, revision: Mapping[str, Any]) -> list[tuple[Mention, bool]]:
    """What a function finds in one answer, and whether each is a pair of offsets without a target.

    Args:
        name: of the detector, for messages.
        function: the user's.
        revision: with `answer`, `shown`, `returns`, `lengths`, `statistics`, `rounding` and the columns of a
            `RevisionKey`.

    Raises:
        AuditError: the function raises an exception, or returns anything but mentions; the message names the answer.
    """
    shown = evidence(revision)
    answer = revision["answer"] or ""
    try:
        return [_read(each, answer) for each in function(answer, shown)]
    except Exception as error:
        where = RevisionKey(*(revision[column] for column in RevisionKey._fields))
        line = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if line.filename == __file__ else f", line {line.lineno} of {Path(line.filename).name}"
        raise AuditError(f"detector {name} fails on {where}{place}: {type(error).__name__}: {error}") from error


def _read(each: object, answer: str) -> tuple[Mention, bool]:
    if isinstance(each, Mention):
        return each, False
    match each:
        case (int(start), int(end)) if 0 <= start <= end <= len(answer):
            return Mention(start, end, answer[start:end], "paraphrase", (), ()), True
        case (int(), int()):
            raise ValueError(f"offsets {each} are not within an answer of {len(answer)} characters")
    raise TypeError(f"it finds {each!r:.80}, which is neither an audit.Mention nor a pair of offsets")


def _write(name: str, function: Detect, rows: duckdb.DuckDBPyConnection, path: Path) -> None:
    write_lines(path, (line for batch in batches(rows) for row in batch for line in _lines(name, function, row)))


def _lines(name: str, function: Detect, revision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for ordinal, (mention, is_span) in enumerate(found(name, function, revision)):
        yield {
            **identity(revision),
            "ordinal": ordinal,
            **{key: getattr(mention, key) for key in ("start", "end", "text", "labels", "rollouts")},
            **{key: getattr(mention, key) for key in ("negated", "discounted")},
            "is_span": is_span,
        }

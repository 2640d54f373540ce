"""Computes `mentions`: every answer read once, in batches, so that texts never fill the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.python_models.batches import evidence, identity, lines, write_read

if TYPE_CHECKING:
    import duckdb
FIELDS: Final = ("start", "end", "text", "kind", "labels", "rollouts", "worst", "negated", "discounted")


def write_mentions(answers: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Resolve the references of all answers, and write a line of JSON for each mention.

    Args:
        answers: a query for all of the relation `critic_answers`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_read(path, answers, mentions)


def mentions(answers: Iterable[Mapping[str, Any]]) -> bytes:
    """The lines of `mentions` of some answers."""
    return lines(mention for row in answers for mention in _mentions(row))


def _mentions(revision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    from audit.references import resolve  # not while the processes that read answers start

    shown = evidence(revision)
    key = identity(revision)
    for part in ("answer", "thinking"):
        for ordinal, mention in enumerate(resolve(revision[part] or "", shown)):
            yield {**key, "part": part, "ordinal": ordinal, **{name: getattr(mention, name) for name in FIELDS}}

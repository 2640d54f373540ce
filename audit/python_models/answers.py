"""Computes `mentions` and `drivers`: every answer read once, in batches, so that texts never fill the memory."""

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


def write_drivers(changes: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Judge the driver of every revision by plain rules, and write a line of JSON for each.

    Args:
        changes: a query for all of the relation `answers_to_code`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_read(path, changes, drivers)


def mentions(answers: Iterable[Mapping[str, Any]]) -> bytes:
    """The lines of `mentions` of some answers."""
    return lines(mention for row in answers for mention in _mentions(row))


def drivers(answers: Iterable[Mapping[str, Any]]) -> bytes:
    """The lines of `drivers` of some answers."""
    return lines(map(_judged, answers))


def _mentions(revision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    from audit.references import resolve  # not while the processes that read answers start

    shown = evidence(revision)
    key = identity(revision)
    for part in ("answer", "thinking"):
        for ordinal, mention in enumerate(resolve(revision[part] or "", shown)):
            yield {**key, "part": part, "ordinal": ordinal, **{name: getattr(mention, name) for name in FIELDS}}


def _judged(revision: Mapping[str, Any]) -> dict[str, Any]:
    from audit.references import driver

    found = driver(revision["answer"] or "", evidence(revision), revision["changed"])
    return {**identity(revision), "driver": found.name, "sentence": found.sentence}

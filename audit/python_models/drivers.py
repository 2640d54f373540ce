"""Computes the relation `drivers`: every answer judged once by the plain rules of `audit.references.driver_rules`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.python_models.batches import lines, write_read
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb


def write_drivers(changes: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Judge the driver of every revision, and write a line of JSON for each.

    Args:
        changes: a query for all of the relation `answers_to_code`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_read(path, changes, read)


def read(answers: Iterable[Mapping[str, Any]]) -> bytes:
    """The lines of some answers."""
    return lines(map(_judged, answers))


def _judged(revision: Mapping[str, Any]) -> dict[str, Any]:
    from audit.references import Shown, driver  # not while the processes that read answers start

    shown = Shown.of(
        revision["shown"],
        returns=revision["returns"],
        lengths=revision["lengths"],
        statistics=revision["statistics"],
        rounding=revision["rounding"],
    )
    found = driver(revision["answer"] or "", shown, revision["changed"])
    return {**{name: revision[name] for name in RevisionKey._fields}, "driver": found.name, "sentence": found.sentence}

"""Strata of the revisions that can be coded: those that a critic answered for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from audit.validation.coding.sampling import Stratum
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

STRATA: Final = ("env", "variant", "condition", "direction", "pattern", "structure", "references_worst")
"""Columns of the relation `revisions` that one can stratify by."""


def strata(details: duckdb.DuckDBPyRelation, columns: Sequence[str]) -> dict[Stratum, list[RevisionKey]]:
    """The revisions that a critic answered for, by the values of some columns, in the order of these values.

    Args:
        details: the relation `revisions`, or some of its rows.
        columns: among `STRATA`; none for a single stratum.
    """
    # Only where a critic answered is it known whether the answer refers to anything.
    wanted = ", ".join((*RevisionKey._fields, *columns))
    result: dict[Stratum, list[RevisionKey]] = {}
    for row in details.filter('"cites" is not null').select(wanted).fetchall():
        name = tuple(_text(value) for value in row[len(RevisionKey._fields) :])
        result.setdefault(name, []).append(RevisionKey(*row[: len(RevisionKey._fields)]))
    return dict(sorted(result.items()))


def named(columns: Sequence[str], stratum: Stratum) -> str:
    """A stratum in words: `direction regression, env pong`."""
    return ", ".join(f"{column} {value}" for column, value in zip(columns, stratum, strict=True))


def _text(value: object) -> str:
    if value is None:
        return "none"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)

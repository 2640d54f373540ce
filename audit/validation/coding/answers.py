"""Answers of critics by revision, of some revisions only: texts of a whole data set need not be held at once."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb


def rows_by_identity(
    relation: duckdb.DuckDBPyRelation, wanted: Container[RevisionKey], columns: Sequence[str] | None = None
) -> dict[RevisionKey, dict[str, Any]]:
    """Rows of a relation with one row per revision.

    Args:
        relation: has the columns of an identity.
        wanted: the revisions to keep.
        columns: what to keep of a row; all other columns than the identity's, if not given.
    """
    every = relation.columns
    kept = [name for name in every if name not in RevisionKey._fields] if columns is None else list(columns)
    places = [every.index(name) for name in kept]
    ids = [every.index(name) for name in RevisionKey._fields]
    result = {}
    for row in relation.iter_rows():
        identity = RevisionKey(*(row[place] for place in ids))
        if identity in wanted:
            result[identity] = {name: row[place] for name, place in zip(kept, places, strict=True)}
    return result

"""The rows of a relation, as tables have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from audit.output.errors import AuditError
from audit.output.formats import Row

if TYPE_CHECKING:
    import duckdb

MOST: Final = 2**25
"""Rows of a user's query: hundreds of megabytes of a single number each."""


class RelationRows:
    """The rows of a relation, each time computed anew.

    Args:
        relation: whose columns have different names.
        owner: what keeps its store open.
        is_users: whether the query is a user's, so that there may be too many rows.
    """

    def __init__(self, relation: duckdb.DuckDBPyRelation, owner: object = None, *, is_users: bool = False) -> None:
        self.columns: Sequence[str] = relation.columns
        self._relation = relation
        self._owner = owner
        self._is_users = is_users

    def __iter__(self) -> Iterator[Row]:
        columns = self.columns
        return (dict(zip(columns, row, strict=True)) for row in self.values())

    def values(self) -> Iterator[Sequence[Any]]:
        """Iterate over the rows, each the values of all columns.

        Raises:
            AuditError: after `MOST` rows, if there are more and the query is a user's.
        """
        return self._users_rows(self._relation) if self._is_users else self._relation.iter_rows()

    def _users_rows(self, relation: duckdb.DuckDBPyRelation) -> Iterator[Sequence[Any]]:
        # DuckDB holds a result as a whole, whatever its memory may be.
        for number, row in enumerate(relation.limit(MOST + 1).iter_rows()):
            if number == MOST:
                raise AuditError(f"more than {MOST:,} rows: add a limit, or count where they are")
            yield row

    def __len__(self) -> int:
        relation = self._relation.limit(MOST + 1) if self._is_users else self._relation
        [(number,)] = relation.aggregate("count(*)").fetchall()
        return int(number)

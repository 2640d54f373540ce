"""The mentions of many revisions as a table, to be registered with DuckDB as a relation `mentions`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from audit.references.mention import Mention
from audit.references.resolving import resolve
from audit.references.shown import Shown

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

READ: Final = ("answer", "thinking", "shown", "returns", "lengths", "statistics")
"""Fields of a revision that are read; all others are passed through to its mentions."""

TYPES: Final[dict[str, str]] = {
    "part": "varchar",
    "ordinal": "integer",
    "start": "integer",
    "end": "integer",
    "text": "varchar",
    "kind": "varchar",
    "labels": "varchar[]",
    "rollouts": "integer[]",
    "worst": "boolean",
    "negated": "boolean",
    "discounted": "boolean",
}
"""The columns that are added, with their types: of a table whose lists are all empty DuckDB could not tell them."""


def mentions_of(revisions: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Resolve the references of revisions: a row per mention, ordered as in its text.

    Args:
        revisions: each has `answer`, and may have `thinking`, `shown` (as in `evidence.shown` of a record), `returns`
            and `lengths` of the initial candidate, and `statistics` (as in `evidence.statistics`). Whatever else it
            has, such as the columns of its identity, its mentions have as well.

    Returns:
        The columns passed through and those of `TYPES`: `part` is `answer` or `thinking`, each searched by itself, and
        `ordinal` counts a part's mentions from 0. Offsets count the characters of that part.
    """
    import pandas as pd

    found: list[tuple[dict[str, Any], str, int, Mention]] = []
    passed: dict[str, None] = {}
    for revision in revisions:
        shown = Shown.of(
            revision.get("shown"),
            returns=revision.get("returns"),
            lengths=revision.get("lengths"),
            statistics=revision.get("statistics"),
        )
        identity = {name: value for name, value in revision.items() if name not in READ}
        passed.update(dict.fromkeys(identity))
        for part in ("answer", "thinking"):
            mentions = resolve(revision.get(part) or "", shown)
            found.extend((identity, part, ordinal, mention) for ordinal, mention in enumerate(mentions))
    columns: dict[str, list[Any]] = {name: [identity.get(name) for identity, *_ in found] for name in passed}
    columns["part"] = [part for _, part, _, _ in found]
    columns["ordinal"] = [ordinal for _, _, ordinal, _ in found]
    for name in ("start", "end", "text", "kind", "worst", "negated", "discounted"):
        columns[name] = [getattr(mention, name) for *_, mention in found]
    for name in ("labels", "rollouts"):
        columns[name] = [list(getattr(mention, name)) for *_, mention in found]
    return pd.DataFrame(columns, columns=[*passed, *TYPES])


def mentions_relation(connection: duckdb.DuckDBPyConnection, mentions: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    """The table as a relation of a connection, its columns typed even where it is empty."""
    from duckdb import ColumnExpression

    relation = connection.from_df(mentions)
    return relation.select(
        *(
            ColumnExpression(name).cast(TYPES[name]).alias(name) if name in TYPES else ColumnExpression(name)
            for name in relation.columns
        )
    )

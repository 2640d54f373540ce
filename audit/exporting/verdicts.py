"""What the audit knows of each iteration, as columns beside its transcripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from audit.models.sql_text import plainly
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.store import Store


def verdict_columns(store: Store) -> list[str]:
    """The columns of `revisions` besides its key, in their order; no lists, which viewers cannot sort by."""
    revisions = store.relation("revisions")
    return [
        column
        for column, kind in zip(revisions.columns, map(str, revisions.types), strict=True)
        if column not in RevisionKey._fields and not kind.endswith(("]", ")"))
    ]


def write_verdicts(store: Store, path: Path) -> list[str]:
    """Write a row per iteration to a Parquet file, revised or not.

    Args:
        store: the records.
        path: the file.

    Returns:
        The columns besides those that identify the iteration and its run.
    """
    key = ", ".join(RevisionKey._fields)
    of_revisions = [column for column in verdict_columns(store) if column != "r0"]
    relation = store.sql(f"""
        select {key}, evidence_kind, backend, run_records.model as run_model,
            if(revisions.references_worst is null, null, '{store.detector}') as detector,
            episodes.initial.mean_return as r0, {", ".join(f"revisions.{column}" for column in of_revisions)}
        from episodes
        left join revisions using ({key})
        left join run_records using (condition, env, variant, run)
    """)  # noqa: S608 - the names are those of the program's own relations
    relation.write_parquet(str(plainly(path)))
    return ["evidence_kind", "backend", "detector", "r0", *of_revisions]

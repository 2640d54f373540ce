"""A run as its page shows it: the return of each iteration, the best so far, and where revisions regressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audit.output.errors import AuditError
from audit.store import rows_of
from audit.viewer.query import Query
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from audit.viewer.session import Session

COLUMNS = ("iteration", "r0", "r1", "delta", "direction", "accepted", "pattern", "strict", "permissive", "cites")


def run(session: Session, key: RunKey) -> dict[str, Any]:
    """The iterations of a run, and its revisions.

    Raises:
        AuditError: there is no such run.
    """
    from duckdb import ColumnExpression, ConstantExpression

    with session.lock:
        iterations = session.store.relation("iterations")
        facts = session.store.relation("run_facts")
        for column, value in zip(RunKey._fields, key, strict=True):
            same = ColumnExpression(column) == ConstantExpression(value)
            iterations, facts = iterations.filter(same), facts.filter(same)
        steps = rows_of(iterations.select("iteration, kept_return, best_so_far, rollouts_spent").order("iteration"))
        about = rows_of(facts)
    if not steps:
        raise AuditError(f"no run {' '.join(map(str, key))}")
    filters = tuple((column, (str(value),)) for column, value in zip(RunKey._fields, key, strict=True))
    rows = session.table.all_rows(Query(filters=filters, sort=("iteration",)), COLUMNS)
    return {
        "key": list(key),
        "facts": about[0] if about else {},
        "iterations": steps,
        "revisions": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
    }

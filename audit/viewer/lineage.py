"""The lineage of a run's candidates as its page shows it, and where the sentences of each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audit.output.errors import AuditError
from audit.output.escaping import in_line
from audit.records.lines import open_records
from audit.reports.lineage.blame import blame
from audit.reports.lineage.pool import Pool, pools
from audit.reports.lineage.tables import origin_row, row_of, verdict

if TYPE_CHECKING:
    from audit.viewer.session import Session
    from audit.vocabulary.keys import RunKey

SHOWN = ("candidate", "iteration", "role", "parents", "why", "before", "after", "minibatch_gain", "validation")
ORIGIN = ("component", "sentence", "how", "ratio", "candidate", "iteration", "reason")
BLAMED = (*ORIGIN, "minibatch_gain", "validation_gain")


def lineage(session: Session, key: RunKey) -> dict[str, Any]:
    """The candidates of a run and its refused proposals.

    Raises:
        AuditError: there is no such run, or its candidates are not texts.
    """
    pool = _pool(session, key)
    rows = (row_of(pool, node) for node in pool.nodes)
    nodes = [{name: row[name] for name in SHOWN} for row in rows]
    return {"key": list(key), "nodes": nodes, "verdict": [in_line(line) for line in verdict(pool)]}


def blamed(session: Session, key: RunKey, candidate: str) -> dict[str, Any]:
    """Where each sentence of a candidate came from.

    Raises:
        AuditError: there is no such candidate.
    """
    pool = _pool(session, key)
    if candidate not in pool.by_name:
        raise AuditError(f"no candidate {in_line(candidate)!r} in this run")
    rows = [origin_row(pool, origin) for origin in blame(pool, pool.by_name[candidate])]
    return {"candidate": candidate, "rows": [{name: row[name] for name in BLAMED} for row in rows]}


def _pool(session: Session, key: RunKey) -> Pool:
    def read() -> dict[str, Any]:
        with open_records(session.options.paths, cache=session.options.cache) as records:
            return {"pools": list(pools(records, [run for run in records.runs if run.identity == key]))}

    found: list[Pool] = session.once(f"lineage {'/'.join(map(str, key))}", read)["pools"]
    if not found:
        raise AuditError(f"no lineage of run {in_line(' '.join(map(str, key)))}: its candidates are not texts")
    return found[0]

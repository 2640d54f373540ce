"""The lineage of a run's candidates as its page shows it: a tree, and where the sentences of each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audit.ingest.runs import open_records
from audit.output.errors import AuditError
from audit.output.escaping import in_line
from audit.reports.lineage.blame import blame
from audit.reports.lineage.pool import Node, Pool, pools
from audit.reports.lineage.tables import origin_row, row_of, verdict

if TYPE_CHECKING:
    from audit.viewer.session import Session
    from audit.vocabulary.keys import RunKey

SHOWN = ("candidate", "iteration", "role", "parents", "why", "before", "after", "minibatch_gain", "validation")
ORIGIN = ("component", "sentence", "how", "ratio", "candidate", "iteration", "reason")
BLAMED = (*ORIGIN, "minibatch_gain", "validation_gain")


def lineage(session: Session, key: RunKey) -> dict[str, Any]:
    """The candidates of a run and where each is drawn; refused proposals are beside their parents.

    `parents` of a node are places in `nodes`; `x` and `y` are in columns and generations.

    Raises:
        AuditError: there is no such run, or its candidates are not texts.
    """
    pool = _pool(session, key)
    places = {node.name: place for place, node in enumerate(pool.nodes) if node.name is not None}
    parents = [[places[name] for name in node.parents if name in places] for node in pool.nodes]
    at = _layout(pool.nodes, parents)
    nodes = []
    for node, above, (x, y) in zip(pool.nodes, parents, at, strict=True):
        row = row_of(pool, node)
        nodes.append({**{name: row[name] for name in SHOWN}, "above": above, "x": x, "y": y})
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
        with open_records(session.request.paths, cache=session.request.cache) as records:
            return {"pools": list(pools(records, [run for run in records.runs if run.identity == key]))}

    found: list[Pool] = session.once(f"lineage {'/'.join(map(str, key))}", read)["pools"]
    if not found:
        raise AuditError(f"no lineage of run {in_line(' '.join(map(str, key)))}: its candidates are not texts")
    return found[0]


def _layout(nodes: list[Node], parents: list[list[int]]) -> list[tuple[float, float]]:
    """A place for each node: below its first parent, and above the middle of its children.

    Kept candidates without children have a column each; refused proposals are in a row half a generation below.
    """
    children: list[list[int]] = [[] for _ in nodes]
    refused: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if parents[place]:
            (refused if node.name is None else children)[parents[place][0]].append(place)
    xs, ys = [0.0] * len(nodes), [0.0] * len(nodes)
    columns = 0
    stack = [(root, False) for root, node in enumerate(nodes) if node.name is not None and not parents[root]][::-1]
    while stack:
        place, is_below_done = stack.pop()
        below = children[place]
        if not below:
            xs[place] = float(columns)
            columns += 1
        elif is_below_done:
            xs[place] = (xs[below[0]] + xs[below[-1]]) / 2
        else:
            stack.append((place, True))
            for child in reversed(below):
                ys[child] = ys[place] + 1
                stack.append((child, False))
    for parent, beside in enumerate(refused):
        for number, place in enumerate(beside):
            xs[place] = xs[parent] + (number + 1) / (len(beside) + 1) - 0.5
            ys[place] = ys[parent] + 0.5
    return list(zip(xs, ys, strict=True))

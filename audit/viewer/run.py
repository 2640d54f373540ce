"""A run as its page shows it: what it is, the return of each iteration, the best so far, and its revisions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.output.errors import AuditError
from audit.output.escaping import in_line
from audit.records.locating import file_of
from audit.store import rows_of
from audit.viewer.calls import calls_of
from audit.viewer.query import Query
from audit.vocabulary.keys import RunKey
from collector.system.regular_files import RUN, read_regular

if TYPE_CHECKING:
    import duckdb

    from audit.viewer.session import Session

COLUMNS: Final = (
    *("iteration", "r0", "r1", "delta", "direction", "accepted", "p_no_change", "pattern", "strict", "permissive"),
    "cites",
)
SET_UP: Final = ("options", "switches", "versions", "method")
"""Objects of `run.json` that are shown."""
MOST: Final = 2_000
"""Iterations that are shown; of a longer run every n-th."""


def run(session: Session, key: RunKey) -> dict[str, Any]:
    """What a run is, its iterations, and its revisions.

    Of a run of more than `MOST` iterations every n-th is there, and none of its revisions.

    Raises:
        AuditError: there is no such run.
    """
    with session.lock:
        facts = rows_of(_of(session, "run_facts", key))
        if not facts:
            raise AuditError(f"no run {in_line(' '.join(map(str, key)))}")
        thresholds = rows_of(_of(session, "thresholds", key))
        iterations = _of(session, "iterations", key)
        [(total,)] = iterations.aggregate("count(*)").fetchall()
        every = -(-total // MOST) or 1
        steps = iterations.select(
            "iteration, kept_return, best_so_far, rollouts_spent, row_number() over (order by iteration) as place"
        )
        chosen = steps.filter(f"(place - 1) % {every} = 0").select("* exclude (place)").order("iteration")
        rows = rows_of(chosen)
        skipped = [number for (number,) in _of(session, "skipped", key).select("iteration").fetchall()]
        files = _of(session, "episodes", key).select("file").limit(1).fetchall()
    file = file_of(files[0][0], session.options.paths) if files else None
    filters = tuple((column, (str(value),)) for column, value in zip(RunKey._fields, key, strict=True))
    query = Query(filters=filters, sort=("iteration",))
    revisions = session.table.all_rows(query, COLUMNS) if every == 1 else ()
    return {
        "key": list(key),
        "facts": _named(facts[0]),
        "thresholds": _named(thresholds[0]) if thresholds else {},
        "calls": None if file is None else calls_of(file),
        "description": {} if file is None else _set_up(file),
        "iterations": rows,
        "every": every,
        "total": total,
        "skipped": sorted(skipped),
        "revisions": [dict(zip(COLUMNS, row, strict=True)) for row in revisions],
        "revisions_total": session.table.count(query),
    }


def _of(session: Session, relation: str, key: RunKey) -> duckdb.DuckDBPyRelation:
    """The rows of a relation that are the run's."""
    from duckdb import ColumnExpression, ConstantExpression

    condition, env, variant, run = (
        ColumnExpression(column) == ConstantExpression(value) for column, value in zip(RunKey._fields, key, strict=True)
    )
    return session.store.relation(relation).filter(condition & env & variant & run)


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """What a row states beside the run's identity."""
    return {
        name: in_line(value) if isinstance(value, str) else value
        for name, value in row.items()
        if name not in RunKey._fields
    }


def _set_up(file: Path) -> dict[str, str]:
    """How a run was set up, as its `run.json` states it: names with values, both in one line; empty without the file.

    Args:
        file: of its records.
    """
    try:
        description = msgspec.json.decode(read_regular(file.parent / "run.json", RUN))
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    if not isinstance(description, dict):
        return {}
    found = {name: description[name] for name in SET_UP if isinstance(description.get(name), dict)}
    return {
        in_line(f"{name}: {key}"): in_line(value if isinstance(value, str) else msgspec.json.encode(value).decode())
        for name, values in found.items()
        for key, value in values.items()
        if value is not None
    }

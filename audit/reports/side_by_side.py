"""Edit patterns of methods side by side, as the paper has them: a row per pattern, a column per method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Unpack

from audit.arguments import Data, Thresholds, request_of
from audit.output.rows import Table
from audit.reports.tables import NOTHING, relation_table

PATTERNS: Final[Mapping[str, tuple[str, str | None]]] = {
    "near_optimal_break": ("regression", "compulsive revision"),
    "surgical_backfire": ("regression", "surgical fix that backfires"),
    "full_redesign": ("regression", "full redesign"),
    "pure_stochasticity": ("regression", "pure stochasticity"),
    "other_regression": ("regression", None),
    "fine_tune": ("improvement", None),
    "pinpoint_fix": ("improvement", None),
    "history_guided_rescue": ("improvement", None),
    "targeted_multi_state_fix": ("improvement", None),
    "other_improvement": ("improvement", None),
}
"""Each pattern's direction, and its name among the four failure patterns of AlwaysCritic in the paper's text."""

COLUMNS: Final = ("condition", "env", "direction", "failure", "pattern")


def patterns(data: Data, *, wide: bool = False, **options: Unpack[Thresholds]) -> Table:
    """How often each edit pattern occurs; percentages are of all revisions.

    Args:
        data: records.
        wide: methods side by side, a row per pattern, as the paper has them; null where a method has no revisions.
        options: which groups, and how records are opened and classified.
    """
    request = request_of(data, Thresholds, options)
    if not wide:
        return relation_table("patterns_summary", request)
    with request.open() as store:
        counts = request.select(store.relation("patterns_summary")).fetchall()
        revisions = request.select(store.relation("summary").filter("revisions > 0"))
        cells = revisions.select("condition, env, variant").fetchall()
        caption = request.caption(store)
    methods = sorted({variant for _, _, variant in cells})
    shares = {(condition, env, variant, pattern): pct for condition, env, variant, pattern, _, pct in counts}
    rows: list[dict[str, Any]] = []
    for condition, env in sorted({(condition, env) for condition, env, _ in cells}):
        for pattern, (direction, failure) in PATTERNS.items():
            row = dict(zip(COLUMNS, (condition, env, direction, failure, pattern), strict=True))
            for method in methods:
                known = (condition, env, method) in cells
                row[method] = shares.get((condition, env, method, pattern), 0.0) if known else None
            rows.append(row)
    return Table(
        columns=(*COLUMNS, *methods),
        rows=rows,
        title="Edit patterns, % of revisions (failure: the name among AlwaysCritic's failure patterns)",
        essential=("condition", "env", "pattern", "failure", *methods),
        caption=caption,
        notes=[line for line in (None if cells else NOTHING, caption) if line],
    )

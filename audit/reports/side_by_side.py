"""Edit patterns of methods side by side, as the paper has them: a row per pattern, a column per method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from audit.output.rows import print_rows
from audit.reports.relation import NOTHING, simulated_caption
from audit.request import Request, note

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


def print_side_by_side(request: Request) -> None:
    """Print percentages of all revisions, by pattern and method; null where a method has no revisions."""
    with request.open() as store:
        counts = request.select(store.relation("patterns_summary")).fetchall()
        revisions = request.select(store.relation("summary").filter("revisions > 0"))
        cells = revisions.select("condition, env, variant").fetchall()
        caption = simulated_caption(request, store)
    if not cells:
        note(NOTHING)
    if caption:
        note(caption)
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
    print_rows(
        rows,
        (*COLUMNS, *methods),
        request.output,
        title="Edit patterns, % of revisions (failure: the name among AlwaysCritic's failure patterns)",
        essential=("condition", "env", "pattern", "failure", *methods),
        caption=caption,
    )

"""Edit patterns of methods side by side, as the paper has them: a row per pattern, a column per method."""

from __future__ import annotations

from typing import Any, Final

from audit.output.rows import print_rows
from audit.reports.relation import NOTHING, simulated_caption
from audit.request import Request, note
from audit.vocabulary.patterns import by_stake

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
        for pattern in (*by_stake("regression"), *by_stake("improvement")):
            row = dict(zip(COLUMNS, (condition, env, pattern.direction, pattern.failure, pattern.id), strict=True))
            for method in methods:
                known = (condition, env, method) in cells
                row[method] = shares.get((condition, env, method, pattern.id), 0.0) if known else None
            rows.append(row)
    print_rows(
        rows,
        (*COLUMNS, *methods),
        request.output,
        title="Edit patterns, % of revisions (failure: the name among AlwaysCritic's failure patterns)",
        essential=("condition", "env", "pattern", "failure", *methods),
        caption=caption,
    )

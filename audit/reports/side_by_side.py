"""Edit patterns of methods side by side, as the paper has them: a row per pattern, a column per method."""

from __future__ import annotations

from typing import Any, Final, Unpack

from audit.options import Data, Thresholds, options_of
from audit.output.names import METHODS
from audit.output.rows import Table
from audit.reports.emptiness import NOTHING
from audit.reports.tables import relation_table
from audit.vocabulary.patterns import by_stake

COLUMNS: Final = ("condition", "env", "direction", "failure", "pattern")


def patterns(data: Data, *, wide: bool = False, **keywords: Unpack[Thresholds]) -> Table:
    """How often each edit pattern occurs; percentages are of all revisions.

    Args:
        data: records.
        wide: methods side by side, a row per pattern, as the paper has them; null where a method has no revisions.
        keywords: which groups, and how records are opened and classified.
    """
    options = options_of(data, Thresholds, keywords)
    if not wide:
        return relation_table("patterns_summary", options)
    with options.open() as store:
        counts = options.select(store.relation("patterns_summary")).fetchall()
        revisions = options.select(store.relation("summary").filter("revisions > 0"))
        cells = revisions.select("condition, env, variant").fetchall()
        caption = options.caption(store)
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
    return Table(
        columns=(*COLUMNS, *methods),
        rows=rows,
        title="Edit patterns, % of revisions (failure: the name among AlwaysCritic's failure patterns)",
        essential=("condition", "env", "pattern", "failure", *methods),
        headings=METHODS,
        decides=methods,
        caption=caption,
        notes=[line for line in (None if cells else NOTHING, caption) if line],
    )

"""What is cited or imitated of the items shown, by place and by score, with what the records cannot tell apart."""

from __future__ import annotations

from typing import Final, Unpack

from audit.arguments import Data, Selection, request_of
from audit.output.escaping import visible
from audit.output.rows import Table
from audit.reports.tables import relation_table

OBSERVED: Final = (
    "what is observed is no proof of influence: only prompts that differ in nothing else give that (audit intervene)"
)


def positions(data: Data, **options: Unpack[Selection]) -> Table:
    """What is cited or imitated of the items that a prompt shows, by their place and by their score.

    Where a prompt shows other programs, as evolvers' prompts do, how far the revision moves towards each.

    Example: audit positions path/to/openevolve_output
    """
    found = relation_table("positions", request_of(data, Selection, options))
    assert found.relation is not None
    cells = found.relation.filter("aspect = 'place or score'").select("condition, env, variant, outcome, place_score_gamma")
    notes = [
        f"{visible(' '.join(cell))}, {outcome}: every prompt has its items in {'ascending' if gamma > 0 else 'descending'} "
        "order of score, so that place and score cannot be separated"
        for *cell, outcome, gamma in sorted(cells.distinct().fetchall())
    ]
    found.notes = (*found.notes, *notes, *([OBSERVED] if len(found) else ()))
    return found

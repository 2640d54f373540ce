"""Which of the items shown are cited or imitated, by place and by score, with what the records cannot tell apart."""

from __future__ import annotations

from typing import Final, Unpack

from audit.options import Data, Selection, options_of
from audit.output.escaping import visible
from audit.output.rows import Table
from audit.reports.tables import relation_table

HIGH: Final = 0.5
"""Goodman and Kruskal's gamma of place and score from which a note says so."""

NOTHING_COMPARED: Final = "no prompt here shows several items and has an answer that can cite them, or texts to compare"

OBSERVED: Final = (
    "citing or imitating an item does not show that it was the cause; only an experiment does (audit intervene)"
)


def positions(data: Data, **keywords: Unpack[Selection]) -> Table:
    """What is cited or imitated of the items that a prompt shows, by their place and by their score.

    Where a prompt shows other programs, as evolvers' prompts do, how far the revision moves towards each.

    Example: audit positions path/to/openevolve_output
    """
    found = relation_table("positions", options_of(data, Selection, keywords))
    assert found.relation is not None
    if not len(found):
        found.notes = [NOTHING_COMPARED, *([found.caption] if found.caption else [])]
        return found
    cells = found.relation.select("condition, env, variant, outcome, place_score_gamma").distinct().fetchall()
    together = [_together(visible(" ".join(cell)), outcome, gamma) for *cell, outcome, gamma in sorted(cells, key=str)]
    found.notes = [*found.notes, *(note for note in together if note), OBSERVED]
    return found


def _together(cell: str, outcome: str, gamma: float | None) -> str | None:
    """How far items are sorted by score; None where they hardly are."""
    if gamma is None or abs(gamma) < HIGH:
        return None
    cell = f"{cell}, {outcome}: items are"
    order = f"in {'ascending' if gamma > 0 else 'descending'} order of score"
    if abs(gamma) == 1:
        return f"{cell} always {order}, so that place and score are one factor"
    return f"{cell} mostly {order} (gamma {gamma:.2f}), so that place and score are hard to separate"

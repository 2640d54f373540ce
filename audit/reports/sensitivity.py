"""How the counts of the edit patterns move when a threshold moves, printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from audit.engine.interrupting import rows
from audit.output.formats import WRITERS, Row, rounded
from audit.output.tables import print_table
from audit.reports.relation import simulated_caption
from audit.request import Request, note
from audit.vocabulary.threshold_steps import Step
from audit.vocabulary.thresholds import KEYS

TITLE: Final = "Edit patterns as one threshold moves"
LEGEND: Final = (
    "Revisions per pattern; in brackets, the change against the value in force, which is marked *.\n"
    "Patterns whose count none of these values changes are left out; the other formats have them."
)


def print_sensitivity(request: Request, steps: Sequence[Step]) -> None:
    """Print the relation `sensitivity` over the values asked for: long rows, or for people patterns side by side."""
    with request.open() as store:
        store.set("threshold_steps", list(steps))
        relation = request.select(store.relation("sensitivity"))
        caption = simulated_caption(request, store)
        if not relation.limit(1).fetchall():
            note("nothing to show: no such revision changed a return")
        if caption:
            note(caption)
        if request.output == "table":
            _print_for_people(list(rows(relation, store)), caption)
        else:
            WRITERS[request.output](relation.columns, rows(relation, store), sys.stdout, caption)


def _print_for_people(found: Sequence[Row], caption: str | None) -> None:
    for (condition, env, variant), mine in groupby(
        found, key=lambda row: (row["condition"], row["env"], row["variant"])
    ):
        wide = _side_by_side(list(mine))
        print_table(
            list(wide[0]), [{"condition": condition, **row} for row in wide], title=f"{TITLE}: {env}, {variant}"
        )
    sys.stdout.write("".join(f"{line}\n" for line in (LEGEND, caption) if line))


def _side_by_side(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows of one group: a row for each value of a threshold, a column for each pattern."""
    patterns = sorted({row["pattern"] for row in found if row["change"]})
    ordered = sorted(found, key=lambda row: KEYS.index(row["threshold"]))
    wide = []
    for (threshold, value, in_force), mine in groupby(
        ordered, key=lambda row: (row["threshold"], row["value"], row["in_force"])
    ):
        cells = {row["pattern"]: _cell(row) for row in mine}
        number = "each run's" if value is None else rounded(value)
        marked = f"{number} *" if in_force else number
        wide.append({"threshold": threshold, "value": marked, **{name: cells.get(name, "0") for name in patterns}})
    return wide


def _cell(row: Row) -> str:
    return f"{row['revisions']} ({row['change']:+d})" if row["change"] else str(row["revisions"])

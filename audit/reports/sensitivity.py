"""How the counts of the edit patterns move when a threshold moves."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final, Unpack

from audit.options import Data, Thresholds, options_of
from audit.output.formats import Row, rounded
from audit.output.rows import Table
from audit.reports.emptiness import no_patterns
from audit.store import rows_of
from audit.vocabulary.threshold_steps import around, parse_variations
from audit.vocabulary.thresholds import KEYS

TITLE: Final = "Edit patterns as one threshold moves"
LEGEND: Final = (
    "Revisions per pattern; in brackets, the change against the value in force, which is marked *.\n"
    "Patterns whose count none of these values changes are left out; the other formats have them."
)


def sensitivity(
    data: Data,
    *,
    steps: int = 5,
    spread: float = 0.5,
    vary: Sequence[str] | None = None,
    **keywords: Unpack[Thresholds],
) -> Table:
    """How the counts of the edit patterns move when one threshold moves.

    Args:
        data: records.
        steps: values that are tried for each threshold, at least two.
        spread: how far they reach, as a share of the threshold in force.
        vary: `TASK.KEY=A,B,C`: these values, and no others.
        keywords: which groups, and how records are opened and classified.

    Raises:
        UsageError: `vary` names no threshold, or no numbers.
    """
    options = options_of(data, Thresholds, keywords)
    tried = parse_variations(vary) if vary else around(steps, spread)
    with options.open() as store:
        store.set("threshold_steps", list(tried))
        relation = options.select(store.relation("sensitivity"))
        found = rows_of(relation)
        columns = list(relation.columns)
        caption = options.caption(store)
        unscaled = no_patterns(options, store)
        store.set("threshold_steps", around())
    nothing = unscaled or (None if found else "nothing to show: no such revision changed a return")
    return Table(
        columns=columns,
        rows=found,
        title=TITLE,
        caption=caption,
        notes=[line for line in (nothing, caption) if line],
        print_for_people=print_for_people,
    )


def print_for_people(table: Table) -> None:
    """Print a table for each task and method, with a column for each pattern."""
    for (condition, env, variant), mine in groupby(
        table.rows, key=lambda row: (row["condition"], row["env"], row["variant"])
    ):
        wide = _side_by_side(list(mine))
        rows = [{"condition": condition, **row} for row in wide]
        columns, title = list(wide[0]), f"{TITLE}: {env}, {variant}"
        Table(columns=columns, rows=rows, title=title, decides=columns, is_part=True).print()
    sys.stdout.write("".join(f"{line}\n" for line in (LEGEND, table.caption) if line))


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

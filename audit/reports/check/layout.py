"""A check as people see it: what the records hold, and what they support."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from audit.output.formats import Row
from audit.output.rows import Table
from audit.reports.check.commands import COMMANDS, judge

RUN_COLUMNS: Final = (
    *("condition", "env", "variant", "source", "backend", "runs", "iterations", "revisions"),
    *("thresholds", "known_task", "calls", "truth"),
)
CANDIDATE_PARTS: Final = ("returns", "lengths", "seeds", "endings", "parameters")
REVISION_PARTS: Final = ("answers", "thinking", "three", "shown", "statistics")
PART_COLUMNS: Final = ("condition", "env", "variant", *CANDIDATE_PARTS, *REVISION_PARTS)
MOST_GROUPS: Final = 2
"""Groups that are named in the table for people; the rest are counted."""


def print_for_people(table: Table) -> None:
    """Print what the records hold, and what they support."""
    held: Sequence[Row] = table.parts["held"]
    runs = [{**row, **{name: _share(row[name], row["runs"]) for name in ("calls", "truth")}} for row in held]
    more = [name for name in ("skipped", "failed") if any(row[name] for row in held)]
    Table(columns=(*RUN_COLUMNS, *more), rows=runs, title="Runs", is_part=True).print()
    parts = [
        {
            **row,
            **{name: _share(row[name], row["candidates"]) for name in (*CANDIDATE_PARTS, "texts")},
            **{name: _share(row[name], row["revisions"]) for name in REVISION_PARTS},
        }
        for row in held
    ]
    of_texts = ("texts",) if any(row["texts"] for row in held) else ()
    legend = (
        f"Returns to parameters{' and texts' if of_texts else ''} are of all candidates, the rest of all revisions."
    )
    columns: Sequence[str] = (*PART_COLUMNS, *of_texts)
    Table(columns=columns, rows=parts, title="What the records hold", caption=legend, is_part=True).print()
    sys.stdout.write("\n")
    columns = ("condition", "command", "supported", "where", "reason")
    Table(columns=columns, rows=list(_merged(held)), title="Commands", is_part=True).print()


def _share(number: int, of: int) -> str:
    if not of:
        return "-"
    return {0: "none", of: "all"}.get(number, f"{number}/{of}")


def _merged(held: Sequence[Row]) -> Iterator[Row]:
    """Verdicts that several tasks and methods share, as one row."""
    for condition in dict.fromkeys(row["condition"] for row in held):
        mine = [row for row in held if row["condition"] == condition]
        for name, command in COMMANDS.items():
            groups: dict[tuple[bool, str | None], list[Row]] = {}
            for row in mine:
                groups.setdefault(judge(command, row), []).append(row)
            for (supported, reason), rows in groups.items():
                yield {
                    "condition": condition,
                    "command": name,
                    "supported": supported,
                    "where": _where(rows, mine),
                    "reason": reason,
                }


def _where(rows: Sequence[Mapping[str, Any]], every: Sequence[Mapping[str, Any]]) -> str:
    """Which tasks and methods are meant, in a few words."""
    if len(rows) == len(every):
        return "all"
    for column in ("variant", "env"):
        names = list(dict.fromkeys(row[column] for row in rows))
        if len(rows) == sum(row[column] in names for row in every):
            return _few(names)
    return _few([f"{row['env']} {row['variant']}" for row in rows])


def _few(names: Sequence[str]) -> str:
    more = len(names) - MOST_GROUPS
    return ", ".join(names[:MOST_GROUPS]) + (f" and {more} more" if more > 0 else "")

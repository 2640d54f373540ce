"""The result of a check, for people and for programs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Unpack

from audit.arguments import Data, Selection, request_of
from audit.output.errors import AuditError, UsageError, count, report
from audit.output.formats import Row
from audit.output.rows import Table
from audit.output.tables import print_table
from audit.packing.verifying import verify_findings
from audit.reports.check.beside import look_beside
from audit.reports.check.commands import COMMANDS, judge
from audit.reports.check.facts import facts_of
from audit.reports.check.remarks import remarks
from audit.reports.check.shards import COLUMNS as SHARD_COLUMNS
from audit.reports.check.shards import NO_GRIDS, print_grids, shards_of
from audit.reports.emptiness import NOTHING
from audit.request import Request

COLUMNS: Final = ("condition", "env", "variant", "command", "supported", "reason")
RUN_COLUMNS: Final = (
    *("condition", "env", "variant", "source", "backend", "runs", "iterations", "revisions"),
    *("thresholds", "known_task", "calls", "truth"),
)
CANDIDATE_PARTS: Final = ("returns", "lengths", "seeds", "endings", "parameters")
REVISION_PARTS: Final = ("answers", "thinking", "three", "shown", "statistics")
PART_COLUMNS: Final = ("condition", "env", "variant", *CANDIDATE_PARTS, *REVISION_PARTS)
FACT_COLUMNS: Final = (
    *("condition", "env", "variant", "source", "backend", "runs", "iterations", "revisions", "candidates"),
    *CANDIDATE_PARTS,
    *REVISION_PARTS,
    *("thresholds", "known_task", "calls", "truth", "skipped", "texts", "failed"),
)
MOST_GROUPS: Final = 2
"""Groups that are named in the table for people; the rest are counted."""


def check(
    data: Data, *, facts: bool = False, shards: bool = False, findings: bool = False, **options: Unpack[Selection]
) -> Table:
    """What records have and lack, and which commands they support.

    Args:
        data: records.
        facts: what there is, a row per condition, task and method, instead of what it supports, one per command.
        shards: a row per shard of the sweeps that were collected with `--shard` instead: which are complete, which runs
            are to do yet, and which are in more than one folder.
        findings: find again what packs carry, and compare it.
        options: which groups, and how records are opened.

    Raises:
        AuditError: as for every function; or the request is strict, and shards are not complete or overlap; or
            `findings`, and what a pack carries differs from its records.
        UsageError: facts and shards at once.
    """
    if facts and shards:
        raise UsageError("--facts and --shards exclude each other")
    request = request_of(data, Selection, options)
    agreeing = _refuse_other_findings(request) if findings else 0
    with request.open() as store:
        beside = look_beside(request.paths)
        held = facts_of(request, store, beside)
        divided = shards_of(request, store, beside)
        notes = [*remarks(request, store)] if held else [NOTHING]
    if findings:
        notes.append(
            f"findings of {count(agreeing, 'pack')} agree with the records"
            if agreeing
            else "no pack here carries findings that audits use"
        )
    if request.strict:
        divided.refuse_faults()
    if shards and not (beside.grids or divided.faults):
        notes.append(NO_GRIDS)

    return Table(
        columns=SHARD_COLUMNS if shards else FACT_COLUMNS if facts else COLUMNS,
        rows=divided.rows if shards else held if facts else list(verdicts(held)),
        title="Shards" if shards else "What the records hold" if facts else "Commands",
        notes=[*notes, *divided.faults, *divided.remarks],
        print_for_people=print_for_people,
        parts={"shards": divided.rows} if shards else {"shards": divided.rows, "held": held},
        plain=shards,
    )


def verdicts(held: Sequence[Row]) -> Iterator[Row]:
    """A row per condition, task, method and command."""
    for facts in held:
        for name, command in COMMANDS.items():
            supported, reason = judge(command, facts)
            values = (facts["condition"], facts["env"], facts["variant"], name, supported, reason)
            yield dict(zip(COLUMNS, values, strict=True))


def _refuse_other_findings(request: Request) -> int:
    """How many packs carry what their records give.

    Raises:
        AuditError: some carry anything else.
    """
    packs, problems = verify_findings(request.paths, strict=request.strict)
    if problems:
        lines = "".join(f"\n{line}" for line in report(problems))
        raise AuditError(f"findings in packs differ from their records, and are not to be trusted:{lines}")
    return packs


def print_for_people(table: Table) -> None:
    """Print what the records hold and support, unless shards alone are asked for, and a line for each grid."""
    if "held" in table.parts:
        _print_held(table.parts["held"])
    print_grids(table.parts["shards"])


def _print_held(held: Sequence[Row]) -> None:
    runs = [{**row, **{name: _share(row[name], row["runs"]) for name in ("calls", "truth")}} for row in held]
    more = [name for name in ("skipped", "failed") if any(row[name] for row in held)]
    print_table((*RUN_COLUMNS, *more), runs, title="Runs")
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
    print_table((*PART_COLUMNS, *of_texts), parts, title="What the records hold", caption=legend)
    sys.stdout.write("\n")
    columns = ("condition", "command", "supported", "where", "reason")
    print_table(columns, list(_merged(held)), title="Commands")


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

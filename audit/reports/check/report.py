"""The result of a check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Unpack

from audit.arguments import Data, Selection, request_of
from audit.output.errors import UsageError
from audit.output.formats import Row
from audit.output.rows import Table
from audit.reports.check.beside import look_beside
from audit.reports.check.commands import COMMANDS, judge
from audit.reports.check.facts import facts_of
from audit.reports.check.layout import CANDIDATE_PARTS, REVISION_PARTS, print_for_people
from audit.reports.check.remarks import remarks
from audit.reports.check.shards import COLUMNS as SHARD_COLUMNS
from audit.reports.check.shards import NO_GRIDS, shards_of
from audit.reports.emptiness import NOTHING

COLUMNS: Final = ("condition", "env", "variant", "command", "supported", "reason")
FACT_COLUMNS: Final = (
    *("condition", "env", "variant", "source", "backend", "runs", "iterations", "revisions", "candidates"),
    *CANDIDATE_PARTS,
    *REVISION_PARTS,
    *("thresholds", "known_task", "calls", "truth", "skipped", "texts", "failed"),
)


def check(data: Data, *, facts: bool = False, shards: bool = False, **options: Unpack[Selection]) -> Table:
    """What records have and lack, and which commands they support.

    Args:
        data: records.
        facts: what there is, a row per condition, task and method, instead of what it supports, one per command.
        shards: a row per shard of the sweeps that were collected with `--shard` instead: which are complete, which runs
            are to do yet, and which are in more than one folder.
        options: which groups, and how records are opened.

    Raises:
        AuditError: as for every function; or the request is strict, and shards are not complete or overlap.
        UsageError: facts and shards at once.
    """
    if facts and shards:
        raise UsageError("--facts and --shards exclude each other")
    request = request_of(data, Selection, options)
    with request.open() as store:
        beside = look_beside(request.paths)
        held = facts_of(request, store, beside)
        divided = shards_of(request, store, beside)
        notes = [*remarks(request, store)] if held else [NOTHING]
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

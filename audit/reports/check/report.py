"""The result of a check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Unpack

from audit.arguments import Data, Selection, request_of
from audit.output.errors import AuditError, count, report
from audit.output.formats import Row
from audit.output.rows import Table
from audit.packing.verifying import verify_findings
from audit.reports.check.commands import COMMANDS, judge
from audit.reports.check.facts import facts_of
from audit.reports.check.layout import CANDIDATE_PARTS, REVISION_PARTS, print_for_people
from audit.reports.check.remarks import remarks
from audit.reports.emptiness import NOTHING
from audit.request import Request

COLUMNS: Final = ("condition", "env", "variant", "command", "supported", "reason")
FACT_COLUMNS: Final = (
    *("condition", "env", "variant", "source", "backend", "runs", "iterations", "revisions", "candidates"),
    *CANDIDATE_PARTS,
    *REVISION_PARTS,
    *("thresholds", "known_task", "calls", "truth", "skipped", "texts", "failed"),
)


def check(data: Data, *, facts: bool = False, findings: bool = False, **options: Unpack[Selection]) -> Table:
    """What records have and lack, and which commands they support.

    Args:
        data: records.
        facts: what there is, a row per condition, task and method, instead of what it supports, one per command.
        findings: find again what packs carry, and compare it.
        options: which groups, and how records are opened.

    Raises:
        AuditError: as for every function; or `findings`, and what a pack carries differs from its records.
    """
    request = request_of(data, Selection, options)
    agreeing = _refuse_other_findings(request) if findings else 0
    with request.open() as store:
        held = facts_of(request, store)
        notes = [*remarks(request, store)] if held else [NOTHING]
    if findings:
        notes.append(
            f"findings of {count(agreeing, 'pack')} agree with the records"
            if agreeing
            else "no pack here carries findings that audits use"
        )
    return Table(
        columns=FACT_COLUMNS if facts else COLUMNS,
        rows=held if facts else list(verdicts(held)),
        title="What the records hold" if facts else "Commands",
        notes=notes,
        print_for_people=print_for_people,
        parts={"held": held},
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

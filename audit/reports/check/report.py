"""The result of a check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Unpack

from audit.options import Data, Selection, options_of
from audit.output.formats import Row
from audit.output.rows import Table
from audit.reports.check.commands import COMMANDS, judge
from audit.reports.check.facts import facts_of
from audit.reports.check.layout import CANDIDATE_PARTS, REVISION_PARTS, print_for_people
from audit.reports.check.remarks import remarks
from audit.reports.emptiness import NOTHING

COLUMNS: Final = ("condition", "env", "variant", "command", "supported", "reason")
FACT_COLUMNS: Final = (
    *("condition", "env", "variant", "source", "backend", "runs", "iterations", "revisions", "candidates"),
    *CANDIDATE_PARTS,
    *REVISION_PARTS,
    *("thresholds", "known_task", "calls", "truth", "skipped", "texts", "failed"),
)


def check(data: Data, *, facts: bool = False, **keywords: Unpack[Selection]) -> Table:
    """What records have and lack, and which commands they support.

    Args:
        data: records.
        facts: what there is, a row per condition, task and method, instead of what it supports, one per command.
        keywords: which groups, and how records are opened.

    Raises:
        AuditError: as for every function.
    """
    options = options_of(data, Selection, keywords)
    with options.open() as store:
        held = facts_of(options, store)
        notes = [*remarks(options, store)] if held else [NOTHING]
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

"""From a request for a sample to a sheet on standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from audit.output.errors import AuditError, UsageError, count
from audit.output.escaping import LONGEST
from audit.reports.relation import simulated_caption
from audit.request import Request, note
from audit.validation.coding.answers import rows_by_identity
from audit.validation.coding.sampling import Stratum, draw, shuffled
from audit.validation.coding.sheet import OUTCOME, sheet_rows, write_sheet
from audit.validation.coding.strata import named, strata
from audit.vocabulary.keys import RevisionKey


def print_sample(
    request: Request, sample: int, *, stratify: Sequence[str], seed: int, coders: Sequence[str], with_outcome: bool
) -> None:
    """Draw revisions and write the sheet that coders fill in.

    Args:
        request: the records to draw from.
        sample: how many revisions to draw.
        stratify: columns among `audit.validation.coding.strata.STRATA` to draw evenly over.
        seed: of the draw.
        coders: their names; each has a row for every revision drawn.
        with_outcome: whether the sheet tells how the revised policies did.

    Raises:
        UsageError: a coder has no name, or two have the same.
        AuditError: there is nothing to draw from, or the records cannot be read.
    """
    if not all(coders) or len(set(coders)) < len(coders):
        raise UsageError("--coders takes different names, separated by commas")
    by = list(dict.fromkeys(stratify))
    with request.open() as store:
        details = request.select(store.relation("revisions"))
        members = strata(details, by)
        if not members:
            raise AuditError("no revision that a critic answered for")
        chosen = draw(members, sample, seed)
        wanted = frozenset(chosen)
        answers = rows_by_identity(request.select(store.relation("answers_to_code")), wanted)
        outcomes = rows_by_identity(details, wanted, OUTCOME) if with_outcome else None
        if caption := simulated_caption(request, store):
            note(caption)
    _tell_shortage(by, members, chosen, sample)
    _tell_long(answers)
    rows = [
        row
        for coder in coders
        for row in sheet_rows(shuffled(chosen, coder, seed), coder, " ".join(by), answers, outcomes)
    ]
    write_sheet(rows, sys.stdout, with_outcome=with_outcome)


def _tell_shortage(
    by: Sequence[str], members: dict[Stratum, list[RevisionKey]], chosen: list[RevisionKey], n: int
) -> None:
    """Say which strata could not be drawn evenly."""
    if len(chosen) < n:
        note(f"only {count(len(chosen), 'revision')} to draw from, all of which are in the sheet")
    if not by:
        return
    drawn = frozenset(chosen)
    parts = {name: sum(identity in drawn for identity in revisions) for name, revisions in members.items()}
    for name, part in parts.items():
        size = count(len(members[name]), "revision")
        if part == len(members[name]) < max(parts.values()):
            note(f"{named(by, name)}: all of {size}, which is less than an equal share")
        elif part == 0:
            note(f"{named(by, name)}: none of {size}, there being more strata than --n")
    options = " ".join(f"--stratify {column}" for column in by)
    note(f"drawn evenly over {' and '.join(by)}; audit validate {options} weighs scores to what the records hold")


def _tell_long(answers: dict[RevisionKey, dict[str, Any]]) -> None:
    if long := sum(len(row["answer"] or "") > LONGEST for row in answers.values()):
        note(f"{count(long, 'answer')} of more than {LONGEST:,} characters, which some spreadsheets cut off")

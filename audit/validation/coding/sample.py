"""Draws a sample of critics' answers for people to code."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any, TextIO, Unpack

from audit.options import Data, RevisionSelection, options_of
from audit.output.errors import AuditError, UsageError, count
from audit.output.escaping import LONGEST
from audit.output.rows import Table
from audit.validation.coding.answers import rows_by_identity
from audit.validation.coding.codes import codes_for
from audit.validation.coding.sampling import Stratum, draw, named, shuffled, strata
from audit.validation.coding.sheet import OUTCOME, columns, sheet_rows
from audit.vocabulary.keys import RevisionKey


class Sheet(Table):
    """A sample, a row per coder and revision; `write` makes the file that coders fill in."""

    def write(self, stream: TextIO) -> None:
        """Write the sheet as CSV, every field in quotation marks, since answers hold commas and line breaks."""
        writer = csv.DictWriter(stream, self.columns, restval="", quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)


def sample(
    data: Data,
    n: int = 100,
    *,
    stratify: Sequence[str] = (),
    seed: int = 0,
    coders: Sequence[str] = ("A",),
    with_outcome: bool = False,
    **keywords: Unpack[RevisionSelection],
) -> Sheet:
    """Draw critics' answers for hand coding, blind to how the revisions turned out.

    Args:
        data: the records to draw from.
        n: how many revisions to draw.
        stratify: draw evenly over the values of these columns, among `audit.validation.coding.sampling.STRATA`.
        seed: of the draw.
        coders: their names; each has a row for every revision drawn.
        with_outcome: add how the revised policies did; coders are then not blind.
        keywords: which groups, and how records are opened and classified.

    Raises:
        UsageError: a coder has no name, or two have the same; or no such column.
        AuditError: there is nothing to draw from, or the records cannot be read.
    """
    if not all(coders) or len(set(coders)) < len(coders):
        raise UsageError("--coders takes different names, separated by commas")
    by = list(dict.fromkeys(stratify))
    options = options_of(data, RevisionSelection, keywords)
    with options.open() as store:
        details = options.select(store.relation("revisions"))
        members = strata(details, by)
        if not members:
            raise AuditError("no revision that a critic answered for")
        chosen = draw(members, n, seed)
        wanted = frozenset(chosen)
        answers = rows_by_identity(options.select(store.relation("answers_to_code")), wanted)
        outcomes = rows_by_identity(details, wanted, OUTCOME) if with_outcome else None
        caption = options.caption(store)
    return Sheet(
        columns=columns(codes_for(store.detected_by), with_outcome=with_outcome),
        rows=[
            row
            for coder in coders
            for row in sheet_rows(shuffled(chosen, coder, seed), coder, " ".join(by), answers, outcomes)
        ],
        caption=caption,
        notes=[*([caption] if caption else []), *_shortage(by, members, chosen, n), *_long(answers)],
    )


def _shortage(
    by: Sequence[str], members: dict[Stratum, list[RevisionKey]], chosen: list[RevisionKey], n: int
) -> Iterator[str]:
    """Which strata could not be drawn evenly."""
    if len(chosen) < n:
        yield f"only {count(len(chosen), 'revision')} to draw from, all of which are in the sheet"
    if not by:
        return
    drawn = frozenset(chosen)
    parts = {name: sum(identity in drawn for identity in revisions) for name, revisions in members.items()}
    for name, part in parts.items():
        size = count(len(members[name]), "revision")
        if part == len(members[name]) < max(parts.values()):
            yield f"{named(by, name)}: all of {size}, which is less than an equal share"
        elif part == 0:
            yield f"{named(by, name)}: none of {size}, there being more strata than --n"
    options = " ".join(f"--stratify {column}" for column in by)
    yield f"drawn evenly over {' and '.join(by)}; audit validate {options} weighs scores to what the records hold"


def _long(answers: dict[RevisionKey, dict[str, Any]]) -> Iterator[str]:
    if long := sum(len(row["answer"] or "") > LONGEST for row in answers.values()):
        yield f"{count(long, 'answer')} of more than {LONGEST:,} characters, which some spreadsheets cut off"

"""Rows on standard output, in whichever form was asked for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from audit.output.formats import WRITERS, Row
from audit.output.tables import print_table

LONGEST_TABLE: Final = 500
"""Rows that a table for people has at most; the other formats have all."""


def print_rows(
    rows: Sequence[Row],
    columns: Sequence[str],
    output: str,
    *,
    title: str,
    essential: Sequence[str] | None = None,
    caption: str | None = None,
    headings: Mapping[str, str] | None = None,
) -> None:
    """Print rows as `output` says.

    Args:
        rows: each with all columns.
        columns: of the formats for programs.
        output: table, or a key of `audit.output.formats.WRITERS`.
        title: above a table for people.
        essential: its columns, where all would be too many.
        caption: below it, and where other formats have a place for one.
        headings: of its columns, where names are too long.
    """
    if output != "table":
        WRITERS[output](columns, rows, sys.stdout, caption)
        return
    shown = essential or columns
    notes = [caption] if caption else []
    if len(shown) < len(columns):
        notes.append(f"{len(shown)} of {len(columns)} columns; the other formats have all.")
    if len(rows) > LONGEST_TABLE:
        notes.append(f"First {LONGEST_TABLE} of {len(rows)} rows; the other formats have all.")
    print_table(shown, rows[:LONGEST_TABLE], title=title, caption="\n".join(notes) or None, headings=headings)

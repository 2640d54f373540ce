"""The paper's printed numbers, checked against each other: the findings of `stats paper` as a table."""

from __future__ import annotations

from typing import Final

from figures.errors import FiguresError
from figures.tables import Column, Row, Table
from stats.published.checks import check_paper
from stats.published.report import counts, recomputed
from stats.published.results import Status
from stats.published.source import PublishedError

STEM: Final = "paper-recomputed"
CAPTION: Final = (
    "Numbers that do not follow from the others which the paper prints, whatever was rounded, and those that these "
    "leave open. Recomputed: all that the number can be. Numbers that agree are in the CSV file."
)
ORDER: Final = (Status.inconsistent, Status.undecidable)


def findings() -> Table:
    """The numbers that are inconsistent or undecidable; all of them in the data for the CSV file.

    No record has a part in this: it is the same on every page.

    Raises:
        FiguresError: the published numbers cannot be read.
    """
    try:
        results = check_paper()
    except PublishedError as error:
        raise FiguresError(str(error)) from None
    doubtful = [result for status in ORDER for result in results if result.status is status]
    return Table(
        STEM,
        "Printed numbers, recomputed",
        CAPTION,
        f"{counts(results)}.",
        [
            Column("Number", _number, "item", numeric=False, prose=True),
            *(_words(key) for key in ("published", "recomputed", "status")),
            Column("Why", lambda row: str(row["note"] or ""), "note", numeric=False, prose=True),
        ],
        [result.row() | {"recomputed": recomputed(result.found)} for result in doubtful],
        [result.row() for result in results],
    )


def _number(row: Row) -> str:
    return f"{row['table']}: {row['item'].replace('/', ' / ')}, {row['quantity']}"


def _words(key: str) -> Column:
    return Column(key.capitalize(), lambda row: str(row[key]), key, numeric=False)

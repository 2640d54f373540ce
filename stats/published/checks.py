"""All checks of the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stats.published import revisions, tables
from stats.published.claims import check_claims
from stats.published.results import Result
from stats.published.source import folder, read

CHECKS: Final = (
    tables.significance,
    tables.stability,
    tables.copies,
    tables.thresholds,
    tables.order,
    tables.extended_budget,
    tables.spreads,
    revisions.shares,
    revisions.salience,
    revisions.release,
    revisions.agreement,
)


def check_paper(where: Path | None = None) -> list[Result]:
    """Recompute everything that the published tables and claims allow to be recomputed.

    Args:
        where: a folder with the tables and `claims.toml`; by default the published ones.

    Raises:
        stats.published.source.PublishedError: a file is missing or broken.
    """
    where = where or folder()
    paper = read(where)
    found = [result for check in CHECKS for result in check(paper)]
    return [*found, *check_claims(paper, where)]

"""Links from counts to the revisions that they count, where a viewer's folder is beside the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from audit.viewer.counts import COUNTED, GROUP
from figures.names import NO_CHANGE, UNCLASSIFIED
from figures.tables import Column, Row, Table

INDEX: Final = "view/index.html"
"""Where `audit view --export` puts the viewer's page, below the folder of this one."""
NO_PATTERN: Final = {"pattern": [""], "direction": [f"!{NO_CHANGE}"]}
"""The filter of revisions that changed the return and have no pattern."""


@dataclass(frozen=True)
class Viewer:
    """The viewer that the page leads to; `address` is its page, relative to this one.

    `is_folder` is whether it is an exported folder, which has all revisions but no filters for counts to lead to.
    """

    address: str
    is_folder: bool = False

    def link(self, table: Table, column: Column, row: Row) -> str:
        """The address of the revisions that a cell counts; empty where it counts none, or there are no filters."""
        wanted = None if self.is_folder else (_filter(table.stem, row, column.needs) if row.get(column.needs) else None)
        return f"{self.address}#/revisions?{urlencode(wanted, doseq=True)}" if wanted else ""


def _filter(stem: str, row: Row, key: str) -> Mapping[str, Sequence[str]] | None:
    if stem == "patterns":  # a column here is a row of the audit's relation
        if key == UNCLASSIFIED:
            return {name: [str(row[name])] for name in GROUP} | NO_PATTERN
        if key in {"revisions", NO_CHANGE}:
            stem = "summary"
        elif f"{key}_pct" in row:
            row, key = {**row, "pattern": key}, "revisions"
    return COUNTED[stem].filter_of(row, key) if stem in COUNTED else None


def viewer_beside(out: Path, address: str | None) -> Viewer | None:
    """The viewer at an address, or the one that is in the folder of the page; None where there is none."""
    if address is not None:
        return Viewer(address) if address else None
    return Viewer(INDEX, is_folder=True) if (out / INDEX).is_file() else None

"""Links from counts to the revisions that they count, where a viewer's folder is beside the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pandas as pd

from figures.tables import Column, Row

INDEX: Final = "view/index.html"
"""Where `audit view --export` puts the viewer's page, below the folder of this one."""
KEYS: Final = ("condition", "env", "variant", "structure")
"""Columns of a row that identify the revisions that it is about."""


@dataclass(frozen=True)
class Viewer:
    """The viewer beside the page.

    `address` is its page, relative to this one; `revisions` are rows of the audit's relation of that name, as the
    viewer's table has them.
    """

    address: str
    revisions: pd.DataFrame

    def link(self, column: Column, row: Row) -> str:
        """The address of the revisions that a cell counts; empty where it counts none, or the table has no such filter.

        A count whose revisions cannot be chosen by columns alone has no link: the number of rows that the address shows
        is the number in the cell.
        """
        if column.where is None or not row[column.needs]:
            return ""
        wanted = {key: (row[key],) for key in KEYS if key in row} | dict(column.where)
        if not wanted.keys() <= set(self.revisions.columns):
            return ""
        found = self.revisions
        for key, values in wanted.items():
            found = found[found[key].isin(values)]
        if len(found) != row[column.needs]:
            return ""
        query = [
            (key, str(value).lower() if value is True else value) for key, values in wanted.items() for value in values
        ]
        return f"{self.address}#/revisions?{urlencode(query)}"


def viewer_beside(out: Path, address: str | None, revisions: pd.DataFrame) -> Viewer | None:
    """The viewer at an address, or the one that is in the folder of the page; None where there is none."""
    if address is None and (out / INDEX).is_file():
        address = INDEX
    return Viewer(address, revisions) if address else None

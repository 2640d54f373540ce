"""The paper's tables of some records: those that they fill, and what the others need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from figures.data import Records
from figures.paper.bases import bases
from figures.paper.cells import Cell
from figures.paper.definitions import DEFINITIONS
from figures.paper.layout import laid_out
from figures.plots.drawing import left_out
from figures.tables import Table


@dataclass(frozen=True)
class PaperTables:
    """The tables that some records fill, and a sentence on those that they do not, empty if there are none."""

    tables: Sequence[Table]
    left_out: str


def paper_tables(records: Records) -> PaperTables:
    """Make every table of the paper that the records have a number for."""
    places = bases(records)
    tables, missing = [], []
    for definition in DEFINITIONS:
        found = [(base, list(definition.cells(base))) for base in places]
        filled = [(base, cells) for base, cells in found if any(map(_is_recomputed, cells))]
        if filled:
            tables.append(laid_out(definition, filled, records.facts))
        else:
            missing.append(f"{definition.title} (needs {definition.needs})")
    return PaperTables(tables, left_out(missing))


def _is_recomputed(cell: Cell) -> bool:
    """Whether a cell has a number of the records; a threshold to be reached is given with the task."""
    return not cell.is_missing and cell.column != "threshold"


VERDICTS: Final = (
    "Under each number is the published one. Same: it prints the same digits. Compatible: it does not, but the "
    "difference is within what runs differ by. Differs: it is not. A verdict is given where like is held against like: "
    "no simulated model, two runs or more, and the paper's budget."
)

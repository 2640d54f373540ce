"""From cells to a table: rows, the best of each, the published number beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from audit.measures.summary import same
from figures.names import label, name
from figures.paper.bases import Base
from figures.paper.cells import Cell, Definition, Goal
from figures.paper.remarks import remarks
from figures.plots.drawing import joined
from figures.provenance import origin
from figures.tables import MISSING, Column, Table

Line = Mapping[str, Any]
"""A row: `condition` and ids under their keys, `cells` by column, `best` the columns of its best number."""

LABELS: Final[Mapping[str, str]] = {
    "sb3": "Best SB3",
    "mean_delta": "mean Δ",
    "mean_edit_distance": "mean edit distance",
    "accepted_pct": "accepted",
    "regressions_pct": "regressions",
}
"""What rows are called that `figures.names` does not know."""


def laid_out(definition: Definition, found: Sequence[tuple[Base, Sequence[Cell]]], facts: pd.DataFrame) -> Table:
    """A table of the cells that were found for each condition.

    Args:
        definition: which table.
        found: conditions with their cells, in the order of their rows; one at least.
        facts: one row per run, with what made it.
    """
    usual = _usual(found)
    lines = [line for base, cells in found for line in _lines(base.condition, cells, usual, definition)]
    cells = [cell for line in lines for cell in line["cells"].values()]
    full = {cell.column for cell in cells if not cell.is_missing}
    hidden = [key for key in definition.optional if key not in full]
    columns = [
        *[_label("condition", "Condition")] * (len(found) > 1),
        *(_label(key, heading) for key, heading in definition.keys.items()),
        *(_number(key, heading) for key, heading in definition.columns.items() if key not in hidden),
    ]
    note = joined([*remarks(definition, cells, hidden, [base for base, _ in found], usual), _origins(cells, facts)])
    data = [_datum(line, cell, definition) for line in lines for cell in line["cells"].values()]
    return Table(definition.stem, definition.title, definition.caption, note, columns, lines, data)


def bests(cells: Iterable[Cell]) -> frozenset[str]:
    """The columns of a row with its best number, unrounded: several where they tie, none where all do.

    None, either, where a number of which only a lower limit is known may be lower than the lowest.
    """
    ranked = [cell for cell in cells if cell.goal is not Goal.none]
    rivals = [(cell.column, cell.goal.value * cell.value) for cell in ranked if isinstance(cell.value, int | float)]
    limits = [cell.goal.value * cell.above for cell in ranked if cell.above is not None]
    best = max((value for _, value in rivals), default=0.0)
    found = frozenset(column for column, value in rivals if same(value, best))
    is_open = any(limit > best for limit in limits)
    return found if len(found) < len(rivals) + len(limits) and not is_open else frozenset()


def _lines(condition: str, cells: Iterable[Cell], usual: int | None, definition: Definition) -> Iterator[Line]:
    rows: dict[tuple[str, ...], dict[str, Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = _counted(cell, usual)
    for row, by_column in rows.items():
        yield {
            "condition": condition,
            **dict(zip(definition.keys, row, strict=True)),
            "cells": by_column,
            "best": bests(by_column.values()),
        }


def _origins(cells: Iterable[Cell], facts: pd.DataFrame) -> str:
    """What made the records behind some cells."""
    conditions = sorted({cell.records for cell in cells if cell.records})
    return joined(f"{label(condition)}: {origin(facts, condition)}" for condition in conditions)


def _usual(found: Sequence[tuple[Base, Sequence[Cell]]]) -> int | None:
    """The number of runs that most cells have, the larger one where two are as frequent."""
    counts = Counter(cell.runs for _, cells in found for cell in cells if cell.runs)
    return max(counts, key=lambda runs: (counts[runs], runs)) if counts else None


def _counted(cell: Cell, usual: int | None) -> Cell:
    """Mark a cell of another number of runs."""
    is_other = cell.runs is not None and cell.runs != usual and not cell.is_missing
    return replace(cell, text=f"{cell.text}, n = {cell.runs}") if is_other else cell


def _label(key: str, heading: str) -> Column:
    return Column(heading, lambda line: LABELS.get(line[key], name(line[key])), key, numeric=False)


def _number(key: str, heading: str) -> Column:
    def read(line: Line) -> str:
        cell = line["cells"].get(key)
        return cell.text if cell else MISSING

    def beside(line: Line) -> str:
        cell = line["cells"].get(key)
        if cell is None or cell.published is None:
            return ""
        return f"paper {cell.published.text}" + (f": {cell.verdict}" if cell.verdict else "")

    return Column(heading, read, key, numeric=key != "note", is_best=lambda line: key in line["best"], beside=beside)


def _datum(line: Line, cell: Cell, definition: Definition) -> dict[str, Any]:
    """A cell as a row of the CSV file."""
    published = cell.published
    return {
        "condition": line["condition"],
        **{key: line[key] for key in definition.keys},
        "column": cell.column,
        "method": cell.method or None,
        "records": cell.records or None,
        "value": cell.value,
        "spread": cell.spread,
        "runs": cell.runs,
        **{key: cell.details.get(key) for key in definition.details},
        "best": cell.column in line["best"],
        "published": published.value.text if published and published.value else None,
        "published_spread": published.spread.text if published and published.spread else None,
        "published_method": published.method or None if published else None,
        "published_words": published.words or None if published else None,
        "verdict": cell.verdict,
        "no_verdict_because": cell.withheld and cell.withheld.value,
    }

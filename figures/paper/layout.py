"""From cells to a table: rows, the best of each, the published number beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pandas as pd

from audit.measures.summary import same
from figures.conditions import BASELINE
from figures.names import METHODS, TASKS, label, name, ordered
from figures.paper.bases import Base, Source
from figures.paper.cells import Cell, Definition, Goal
from figures.paper.published import BUDGET, Withheld, tasks
from figures.plots.drawing import joined
from figures.provenance import origin
from figures.tables import MISSING, Column, Table

WITHHELD: Final = {
    Withheld.simulated: "The model was simulated: the paper's numbers are given beside, "
    "but no agreement is to be expected.",
    Withheld.impossible: "No verdict against published standard errors that are larger than ten such returns can have; "
    "those beside them may be standard deviations as well.",
    Withheld.mixed: "No verdict, as identical rollouts are somewhere in the paper's three rows.",
    Withheld.budget: "No verdict where runs spent another budget than the paper's, give or take a tenth "
    f"({BUDGET} rollouts, unless stated otherwise).",
    Withheld.runs: "No verdict for fewer than two runs.",
    Withheld.constant: "No verdict where runs do not vary and the paper gives no spread.",
    Withheld.family: "No verdict on corrected tests where the correction runs over another number of tasks than in "
    "the paper.",
}


def remarks(
    definition: Definition, cells: Sequence[Cell], hidden: Sequence[str], places: Sequence[Base], usual: int | None
) -> Iterator[str]:
    """Sentences for the note of a table.

    Args:
        definition: which table.
        cells: all of its cells.
        hidden: the columns that it does not show, as nothing is in them.
        places: its conditions.
        usual: the number of runs that most cells have.
    """
    if usual is not None:
        is_uniform = all(cell.runs in {None, usual} for cell in cells)
        yield f"Over {usual} run{'s' * (usual != 1)}{'' if is_uniform else ', unless n states otherwise'}."
    reasons = {cell.withheld for cell in cells}
    yield from (sentence for reason, sentence in WITHHELD.items() if reason in reasons)
    sources = _sources(cells, places)
    yield from _named("Runs of unequal length", sources, lambda source: source.is_uneven)
    yield from _named("Runs without a finite return, left out", sources, lambda source: source.has_gaps)
    own = {base.condition for base in places}
    borrowed = sorted({source.condition for source in sources if source.method.startswith(BASELINE)} - own)
    if borrowed:
        yield f"Stable-Baselines3 is taken from condition {', '.join(map(label, borrowed))}."
    without = [definition.columns[key] for key in hidden if key != "note"]
    if without:
        yield f"No runs of {', '.join(without)}."
    here = {env for base in places for env in base.tasks}
    absent = [name(task) for task in tasks(definition.published) if task not in here]
    if absent:
        yield f"In the paper and not in these records: {', '.join(absent)}."


def _sources(cells: Iterable[Cell], places: Sequence[Base]) -> list[Source]:
    grid = places[0].grid.cells
    wanted = {(cell.records, cell.env, cell.method) for cell in cells}
    return [grid[key] for key in sorted(wanted) if key in grid]


def _named(what: str, sources: Sequence[Source], is_meant: Callable[[Source], bool]) -> Iterator[str]:
    meant: dict[str, set[str]] = {}
    for source in filter(is_meant, sources):
        meant.setdefault(source.method, set()).add(source.env)
    where = [f"{name(m)} on {', '.join(map(name, ordered(meant[m], TASKS)))}" for m in ordered(meant, METHODS)]
    if where:
        yield f"{what}: {'; '.join(where)}."


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

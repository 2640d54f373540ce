"""What a reader must know of a table's cells: what is missing, uneven, or cannot be compared with the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from figures.conditions import BASELINE
from figures.names import METHODS, TASKS, label, name, ordered
from figures.paper.bases import Base, Source
from figures.paper.cells import Cell, Definition
from figures.paper.published import BUDGET, Withheld, tasks

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

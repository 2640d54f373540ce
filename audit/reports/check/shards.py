"""Which shards of a sweep are complete, and which runs are in several places or in none of its grids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import msgspec

from audit.output.errors import AuditError, count, shortened
from audit.output.escaping import in_line
from audit.reports.check.beside import Beside, contradictory
from audit.request import Request
from audit.store import Store
from audit.vocabulary.keys import RunKey
from collector.records.grids import Cell, Grid

COLUMNS: Final = (
    *("grid", "shard", "shards", "state", "runs", "complete", "unfinished", "missing", "iterations", "done"),
    *("to_do", "overlapping", "contradictory"),
)
NO_GRIDS: Final = "no grid-….json, which collect --shard writes, so shards are unknown"
NO_SHARD: Final = "no shard"

_NAMED: Final = 8
"""Shards and runs that a sentence names; the rest are counted."""
_SETTINGS: Final = tuple(
    name for name in Cell.__struct_fields__ if name not in {"condition", "env", "variant", "shards"}
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shards:
    """What is known of the shards of all sweeps.

    Attributes:
        rows: one per grid and shard that has runs, and a last one of runs that no grid has.
        faults: what is wrong or to be done yet, in sentences.
        remarks: what readers should know, and is no fault.
    """

    rows: list[Row]
    faults: list[str]
    remarks: list[str]

    def refuse_faults(self) -> None:
        """Raise an error if there are faults.

        Raises:
            AuditError: there are some.
        """
        if self.faults:
            lines = "\n".join(shortened(self.faults))
            raise AuditError(f"{count(len(self.faults), 'fault')} of shards, and --strict:\n{lines}")


def shards_of(request: Request, store: Store, beside: Beside) -> Shards:
    """Compare the records with the grids that lie beside them; nothing where there are none."""
    if not beside.grids:
        return Shards([], list(beside.damaged), [])
    columns = "condition, env, variant, run"
    facts = request.select(store.relation("run_facts"))
    done = {
        RunKey(*key): finished
        for *key, finished in facts.select(f"{columns}, iterations_finished + iterations_skipped").fetchall()
    }
    twice = _overlaps(request, store)
    rows = [
        row
        for name, grid in sorted(beside.grids.items())
        for row in _grid_rows(name, _chosen(grid, request), done, twice)
    ]
    sentences = [line for name in sorted(beside.grids) for line in _unfinished(name, beside.grids[name], rows)]
    sentences += [line for pair in combinations(sorted(beside.grids.items()), 2) for line in _disagreement(*pair)]
    for contradicts, words in ((True, "with different content"), (False, "with the same content")):
        if runs := [run for run, value in twice.items() if value == contradicts]:
            sentences.append(f"{count(len(runs), 'run')} in more than one folder, {words}: {_listed(map(named, runs))}")
    known = {key for grid in beside.grids.values() for key, _, _ in _runs(grid.cells)}
    others = sorted(done.keys() - known)
    remarks = []
    if others:
        finished = sum(done[run] for run in others)
        rows.append(_row(None, None, None, NO_SHARD, others, twice) | {"done": finished})
        remarks.append(f"{count(len(others), 'run')} of no shard: {_listed(map(named, others))}")
    return Shards(rows, [*beside.damaged, *sentences], remarks)


def named(run: RunKey) -> str:
    """A run as its folder is named."""
    return f"{run.condition}/{run.env}/{run.variant}/run-{run.run:02d}"


def _chosen(grid: Grid, request: Request) -> Grid:
    """The cells that the request selects."""
    filters = [(column, names) for column, names in request.filters() if column != "run"]
    cells = [cell for cell in grid.cells if all(getattr(cell, column) in names for column, names in filters)]
    return msgspec.structs.replace(grid, cells=cells)


def _runs(cells: Iterable[Cell]) -> Iterator[tuple[RunKey, int, int]]:
    """Every run of some cells with its shard, and how many iterations it is to have."""
    for cell in cells:
        for number, shard in enumerate(cell.shards, start=1):
            yield RunKey(*cell.key, number), shard, cell.iterations


def _grid_rows(name: str, grid: Grid, done: Mapping[RunKey, int], twice: Mapping[RunKey, bool]) -> Iterator[Row]:
    members: dict[int, list[tuple[RunKey, int]]] = {}
    for run, shard, iterations in _runs(grid.cells):
        members.setdefault(shard, []).append((run, iterations))
    for shard, runs in sorted(members.items()):
        missing = [run for run, _ in runs if run not in done]
        short = [run for run, planned in runs if run in done and done[run] < planned]
        state = "missing" if len(missing) == len(runs) else "incomplete" if missing or short else "complete"
        yield _row(name, shard, grid.shards, state, [run for run, _ in runs], twice) | {
            "complete": len(runs) - len(missing) - len(short),
            "unfinished": len(short),
            "missing": len(missing),
            "iterations": sum(planned for _, planned in runs),
            "done": sum(min(done.get(run, 0), planned) for run, planned in runs),
            "to_do": [named(run) for run in sorted({*short, *missing})],
        }


def _row(
    grid: str | None,
    shard: int | None,
    shards: int | None,
    state: str,
    runs: Sequence[RunKey],
    twice: Mapping[RunKey, bool],
) -> Row:
    return dict.fromkeys(COLUMNS) | {
        "grid": grid,
        "shard": shard,
        "shards": shards,
        "state": state,
        "runs": len(runs),
        "to_do": [],
        "overlapping": [named(run) for run in runs if run in twice],
        "contradictory": [named(run) for run in runs if twice.get(run)],
    }


def _overlaps(request: Request, store: Store) -> dict[RunKey, bool]:
    """The runs that are in several folders, and whether what they hold differs."""
    files = request.select(store.relation("record_files")).aggregate(
        "condition, env, variant, run, list(distinct label order by label) as labels"
    )
    found = {RunKey(*key): labels for *key, labels in sorted(files.filter("len(labels) > 1").fetchall())}
    if not found:
        return {}
    judged = zip(found, contradictory(request.paths, list(found.values())), strict=True)
    return {run: contradicts for run, contradicts in judged if contradicts is not None}


def _unfinished(name: str, grid: Grid, rows: Iterable[Row]) -> Iterator[str]:
    """One sentence on the shards of a grid that are not complete."""
    mine = [row for row in rows if row["grid"] == name]
    parts = []
    for state in ("missing", "incomplete"):
        if found := [row for row in mine if row["state"] == state]:
            shards = _listed(str(row["shard"]) for row in found)
            parts.append(
                f"shards {shards} of {grid.shards} are {state}"
                if len(found) > 1
                else f"shard {shards} of {grid.shards} is {state}"
            )
    if parts:
        to_do = [run for row in mine if row["state"] == "incomplete" for run in row["to_do"]]
        yield f"{name}: {', '.join(parts)}{f', with {_listed(to_do)} to do' if to_do else ''}"


def _disagreement(one: tuple[str, Grid], other: tuple[str, Grid]) -> Iterator[str]:
    """One sentence on settings in which two grids describe the same runs differently."""
    cells = {cell.key: cell for cell in other[1].cells}
    shared = [(cell, cells[cell.key]) for cell in one[1].cells if cell.key in cells]
    settings = [
        name for name in _SETTINGS if any(getattr(mine, name) != getattr(theirs, name) for mine, theirs in shared)
    ]
    if shared and one[1].prompts != other[1].prompts:
        settings.append("prompts")
    if settings:
        yield f"{one[0]} and {other[0]} describe the same runs with different settings: {', '.join(settings)}"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    rest = len(every) - _NAMED
    return in_line(", ".join(every[:_NAMED]) + (f" and {rest} more" if rest > 0 else ""))

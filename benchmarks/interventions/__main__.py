"""`python -m benchmarks.interventions`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.interventions.asking import Edits, experiment
from benchmarks.interventions.cells import PRESET, SIMULATED, Cell, cells
from benchmarks.interventions.laboratory import Laboratory
from benchmarks.interventions.measuring import estimates, measure
from benchmarks.interventions.pool import make_pool
from benchmarks.interventions.report import SIGNALS, print_report
from benchmarks.interventions.scores import Scores
from collector import seeding

ROUND: Final = 10
"""Data sets of a cell that are made before the next cell has its turn."""


def main() -> None:
    """Make data sets, or report on them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interventions", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the pool and of the results")
    parser.add_argument("--cells", default="", help="only cells that contain this, as planted/simulated")
    parser.add_argument("--sets", type=int, help="data sets of each cell; without, as many as the cell states")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th data set, beginning with the I-th")
    parser.add_argument("--permutations", type=int, default=499)
    parser.add_argument("--report", action="store_true", help="print the tables of what there is")
    given = parser.parse_args()
    chosen = [cell for cell in cells() if given.cells in str(cell)]
    if given.report:
        print_report(given.out, chosen)
        return
    part, parts = map(int, given.part.split("/"))
    given.out.mkdir(parents=True, exist_ok=True)
    laboratory = _laboratory(given.out) if any(cell.source == SIMULATED for cell in chosen) else None
    path = given.out / f"results-{part}-{parts}.jsonl"
    done = _done(path)
    with path.open("a", encoding="utf-8") as stream:
        for cell, number in _turns(chosen, given.sets):
            if number % parts != part - 1 or (str(cell), number) in done:
                continue
            started = time.perf_counter()
            found = _data_set(cell, number, laboratory, given.permutations)
            line = {"cell": str(cell), "set": number, **found, "seconds": round(time.perf_counter() - started, 3)}
            stream.write(json.dumps(line) + "\n")
            stream.flush()


def _laboratory(folder: Path) -> Laboratory:
    """The simulated critic with the pool of a folder, whose signal to noise is kept there."""
    laboratory = Laboratory(make_pool(folder))
    kept = folder / SIGNALS
    if not kept.exists():
        kept.write_text(json.dumps(laboratory.signals()))
    return laboratory


def _data_set(cell: Cell, number: int, laboratory: Laboratory | None, permutations: int) -> dict[str, object]:
    """Make a data set and look at it."""
    seed = int(seeding.seeds(number, 1, str(cell))[0])
    edits: Edits
    if cell.source == SIMULATED:
        assert laboratory is not None
        edits, units = laboratory, laboratory.pool.draw(PRESET.units, cell.runs, seed)
    else:
        edits = Scores(PRESET.units, cell.runs, float(cell.source), seed)
        units = edits.units
    made = experiment(edits, cell.critic, units, PRESET.arms, np.random.default_rng(seed))
    return estimates(made) if cell.row == "coverage" else measure(made, permutations=permutations, seed=seed)


def _turns(chosen: list[Cell], sets: int | None) -> Iterator[tuple[Cell, int]]:
    """Some data sets of every cell, then some more of every cell."""
    most = {cell: sets or cell.sets for cell in chosen}
    for start in range(0, max(most.values(), default=0), ROUND):
        for cell in chosen:
            for number in range(start, min(start + ROUND, most[cell])):
                yield cell, number


def _done(path: Path) -> set[tuple[str, int]]:
    """The data sets that a file holds; a line that was cut off is taken away."""
    if not path.exists():
        return set()
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        path.write_bytes(whole)
    lines = [json.loads(line) for line in whole.splitlines()]
    return {(line["cell"], line["set"]) for line in lines}


if __name__ == "__main__":
    main()

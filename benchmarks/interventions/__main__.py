"""`python -m benchmarks.interventions`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from benchmarks.interventions.cells import DESIGNS, Cell, cells
from benchmarks.interventions.datasets import Laboratory
from benchmarks.interventions.harm_truth import harm_truth
from benchmarks.interventions.measuring import measure
from benchmarks.interventions.pool import make_pool
from benchmarks.interventions.report import print_report
from collector import seeding

ROUND: Final = 10
"""Data sets of a cell that are made before the next cell has its turn."""


def main() -> None:
    """Make data sets, or report on them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.interventions", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the pool and of the results")
    parser.add_argument("--cells", default="", help="only cells that contain this, as label/small")
    parser.add_argument("--sets", type=int, default=400, help="data sets of each cell")
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
    pool = make_pool(given.out)
    laboratory = Laboratory(pool)
    for cell in chosen:
        if cell.design == "harm":
            harm_truth(given.out, laboratory, cell)
    path = given.out / f"results-{part}-{parts}.jsonl"
    done = _done(path)
    with path.open("a", encoding="utf-8") as stream:
        for cell, number in _turns(chosen, given.sets):
            if number % parts != part - 1 or (str(cell), number) in done:
                continue
            started = time.perf_counter()
            seed = int(seeding.seeds(number, 1, str(cell))[0])
            experiment = laboratory.experiment(
                cell.critic,
                DESIGNS[cell.design].arms,
                pool.draw(cell.units, cell.runs, seed),
                seed,
                rollouts=DESIGNS[cell.design].rollouts,
            )
            found = measure(experiment, cell, permutations=given.permutations, seed=seed)
            line = {"cell": str(cell), "set": number, **found, "seconds": round(time.perf_counter() - started, 3)}
            stream.write(json.dumps(line) + "\n")
            stream.flush()


def _turns(chosen: list[Cell], sets: int) -> Iterator[tuple[Cell, int]]:
    """Some data sets of every cell, then some more of every cell."""
    for start in range(0, sets, ROUND):
        for cell in chosen:
            for number in range(start, min(start + ROUND, sets)):
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

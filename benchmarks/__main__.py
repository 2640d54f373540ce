"""`make bench`: prints all comparisons, with the facts of the machine that they were made on."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from benchmarks import commands, concurrency, rollouts, viewer
from benchmarks.machine import machine


def _throughput() -> None:
    for result in concurrency.results():
        print(concurrency.line(result), flush=True)


PARTS: dict[str, tuple[str, Callable[[], object]]] = {
    "rollouts": ("evaluations of 20 rollouts against a plain Gymnasium loop", rollouts.results),
    "throughput": ("many calls in flight, of a model in the process and of a server on the loopback", _throughput),
    "cold": ("an audit with nothing kept against read_json and pandas", partial(commands.results, "cold")),
    "cores": ("one core against all, threads against workers", partial(commands.results, "cores")),
    "viewer": ("the viewer over a million revisions", viewer.results),
}


def main() -> None:
    """Run all benchmarks, or some."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    chosen = parser.parse_args().parts or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    for part in chosen:
        title, run = PARTS[part]
        print(f"\n## {title}\n", flush=True)
        run()


if __name__ == "__main__":
    main()

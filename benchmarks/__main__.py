"""`make bench`: prints all comparisons, and keeps them with the facts of the machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from benchmarks import collector_scale, commands, concurrency, prompts, reproduction, rollouts, tool_folders, viewer
from benchmarks.machine import machine

RESULTS = Path("benchmarks/results")


def _throughput() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for result in concurrency.results():
        print(concurrency.line(result), flush=True)
        rows.append(asdict(result))
    return rows


PARTS: dict[str, tuple[str, Callable[[], list[dict[str, object]]]]] = {
    "rollouts": ("evaluations of 20 rollouts against a plain Gymnasium loop", rollouts.results),
    "prompts": ("writing a rollout for a prompt and reading it", prompts.results),
    "throughput": ("many calls in flight, of a model in the process and of a server on the loopback", _throughput),
    "collector": ("collect with the simulated model", collector_scale.results),
    "cold": ("an audit with nothing kept against read_json and pandas", partial(commands.results, "cold")),
    "kept": ("commands on unchanged records against imports alone", partial(commands.results, "kept")),
    "tools": ("commands over a long folder of GEPA against the same with nothing kept", tool_folders.results),
    "cores": ("one core against all, threads against workers", partial(commands.results, "cores")),
    "reproduction": ("tables and figures of 900 runs", reproduction.results),
    "viewer": ("the viewer over a million revisions", viewer.results),
}


def main() -> None:
    """Run all benchmarks, or some; `torture` and `tau` are none of them, and take options of their own."""
    if sys.argv[1:2] == ["torture"]:
        from benchmarks.torture.campaign import main as torture

        sys.exit(torture(sys.argv[2:]))
    if sys.argv[1:2] == ["tau"]:
        from benchmarks.tau import main as tau

        sys.exit(tau(sys.argv[2:]))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    chosen = parser.parse_args().parts or list(PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        parser.error(f"no part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    facts = machine()
    print(", ".join(f"{name} {value}" for name, value in facts.items()))
    results: dict[str, object] = {"machine": facts, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    for part in chosen:
        title, run = PARTS[part]
        print(f"\n## {title}\n", flush=True)
        results[part] = run()
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nkept in {path}")


if __name__ == "__main__":
    main()

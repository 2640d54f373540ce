"""`make bench`: prints the comparisons, and keeps them with the facts of the machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import audit, rollouts
from benchmarks.machine import machine

RESULTS = Path("benchmarks/results")


def main() -> None:
    """Run all benchmarks."""
    facts = machine()
    print(f"{facts['processor']}, {facts['cores']} cores, Python {facts['python']}")
    results: dict[str, object] = {"machine": facts, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    for title, module in (("rollouts against a plain Gymnasium loop", rollouts), ("audit against pandas", audit)):
        print(f"\n{title}")
        rows = []
        for row in module.comparisons():
            print(f"  {row.name:<24} {row.ratio:6.1f} times as fast  ({row.ours:.4f} s, {row.alternative:.4f} s)")
            rows.append(asdict(row) | {"ratio": row.ratio})
        results[title] = rows
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y-%m-%d-%H%M%S}.json"
    path.write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nkept in {path}")


if __name__ == "__main__":
    main()

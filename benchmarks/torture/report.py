"""What was tried, what survived, and how to see each failure again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.torture.trial import Failure

_LONG = "python -m benchmarks"


@dataclass
class Tally:
    """The outcome of one part."""

    title: str
    unit: str
    tried: int = 0
    attempts: int = 0
    failed: int = 0
    seconds: float = 0.0
    failures: dict[str, list[Failure]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def fail(self, failure: Failure) -> None:
        """One more failure; the first of its kind with a short reproduction is the one that is reported."""
        self.failed += 1
        self.counts[failure.kind] = self.counts.get(failure.kind, 0) + 1
        held = self.failures.setdefault(failure.kind, [])
        if len(held) < 3:
            held.append(failure)

    def line(self, name: str) -> str:
        """The outcome in a line."""
        survived = max(0, self.tried - self.failed)
        kinds = f", {len(self.failures)} kinds of failure" if self.failures else ""
        return f"{name}: {self.title}: {self.tried:,} {self.unit} in {self.seconds:.0f} s, {survived:,} survived{kinds}"


def print_report(tallies: Mapping[str, Tally]) -> None:
    """Print failures, then a table."""
    for name, tally in tallies.items():
        for kind, failures in tally.failures.items():
            shown = min(failures, key=lambda each: (each.reproduce.startswith(_LONG), len(each.what)))
            print(f"\n{name}: {kind} ({tally.counts[kind]:,} times)")
            print("  " + "\n  ".join(shown.what.rstrip().splitlines()[:20]))
            print(f"  $ {shown.reproduce}")
    print("\n| part | tried | survived | kinds of failure | seconds |\n|---|---:|---:|---:|---:|")
    for name, tally in tallies.items():
        survived = max(0, tally.tried - tally.failed)
        print(f"| {name} | {tally.tried:,} {tally.unit} | {survived:,} | {len(tally.failures)} | {tally.seconds:.0f} |")

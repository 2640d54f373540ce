"""The table of requirements with what the benchmark found beside each."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from scipy.stats import binomtest

from audit.interventions.effects.named_shares import CONTENTS, LABELS, NUMBERS, PLACES
from audit.interventions.effects.results import DOES_NOT, MOVES
from benchmarks.interventions.cells import SIMULATED, VECTORS, Cell

SIGNALS: Final = "signals.json"
"""The file of the pool's signal to noise by task."""
Line = dict[str, Any]
Lines = dict[str, list[Line]]


class Rate(NamedTuple):
    """How often something happened in so many cases."""

    hits: int
    of: int

    def __str__(self) -> str:
        if not self.of:
            return "none made"
        low, high = binomtest(self.hits, self.of).proportion_ci(0.95, method="wilson")
        return f"{self.hits} of {self.of}: {self.hits / self.of:.1%} ({low:.1%} to {high:.1%})"

    @property
    def limit(self) -> float:
        """One-sided exact 95% upper limit."""
        return float(binomtest(self.hits, self.of, alternative="less").proportion_ci(0.95).high) if self.of else 1.0


class Finding(NamedTuple):
    """A row of the report."""

    what: str
    source: str
    rate: Rate
    required: str
    is_met: bool


def print_report(folder: Path, cells: Sequence[Cell]) -> None:
    """Print signal to noise of the sources, a row for each requirement and cell, and what was said falsely."""
    lines = read_lines(folder)
    known = [cell for cell in cells if lines.get(str(cell))]
    print("| edits | signal to noise |\n|---|---|")
    if (folder / SIGNALS).exists():
        for env, signal in json.loads((folder / SIGNALS).read_text()).items():
            print(f"| {SIMULATED}, all prompts of {env} | {signal:.2f} |")
    for source in sorted({cell.source for cell in known}):
        rows = [cell for cell in known if cell.source == source and cell.row in {"planted", "nothing", "coverage"}]
        if signals := [line["signal"] for cell in rows for line in lines[str(cell)]]:
            between = f"{min(signals):.2f} to {max(signals):.2f}"
            print(f"| {source}, {len(signals)} data sets | {fmean(signals):.2f} ({between}) |")
    print("\n| what | edits | found (95% by Wilson) | required | |\n|---|---|---|---|---|")
    for each in findings(known, lines):
        print(
            f"| {each.what} | {each.source} | {each.rate} | {each.required} | {'met' if each.is_met else 'NOT MET'} |"
        )
    print("\n| falsely said to move it | edits | times |\n|---|---|---|")
    for (what, source), times in sorted(_false_movers(known, lines).items()):
        print(f"| {what} | {source} | {times} |")


def read_lines(folder: Path) -> Lines:
    """Results by cell."""
    found: dict[str, dict[int, Line]] = defaultdict(dict)
    for path in sorted(folder.glob("results-*.jsonl")):
        for text in path.read_text("utf-8").splitlines(keepends=True):
            if text.endswith("\n"):
                line = json.loads(text)
                found[line["cell"]][line["set"]] = line
    return {cell: list(each.values()) for cell, each in found.items()}


def findings(cells: Sequence[Cell], lines: Lines) -> Iterator[Finding]:
    """What was found of every requirement."""
    for cell in cells:
        own = lines[str(cell)]
        if cell.row in {"planted", "two motives"}:
            rate = Rate(sum(line["headline"] == cell.right for line in own), len(own))
            yield _at_least(f"{cell.critic}: headline", cell.source, rate, 0.9)
        elif cell.row == "carried":
            remarks = [_remark(line["carriers"][cell.right]) for line in own if cell.right in line["carriers"]]
            yield _at_least(f"{cell.critic}: stated", cell.source, Rate(sum(remarks), len(own)), 0.9)
            silent = Rate(len(remarks) - sum(remarks), len(own))
            what = f"{cell.critic}: moves it, without a remark"
            yield Finding(what, cell.source, silent, "at most 5%", silent.hits <= 0.05 * silent.of)
    for source in (SIMULATED, VECTORS):
        yield _lone(source, [cell for cell in cells if cell.source == source and cell.row != "coverage"], lines)
        for row in ("planted", "no rollout", "nothing", "two motives", "refusals", "carried"):
            chosen = [cell for cell in cells if (cell.row, cell.source) == (row, source)]
            if chosen:
                yield _pooled(row, source, chosen, lines)
        for cell in cells:
            if (cell.row, cell.source) == ("nothing", source):
                yield from _unmoved(cell, lines[str(cell)])
    yield from _coverage([cell for cell in cells if cell.row == "coverage"], lines)


def _at_least(what: str, source: str, rate: Rate, least: float) -> Finding:
    return Finding(what, source, rate, f"at least {least:.0%}", bool(rate.of) and rate.hits >= least * rate.of)


def _remark(carriers: Line) -> bool:
    """Whether the report states that not all follow alike, or that one run does."""
    return bool(carriers["uneven"] or carriers["one_run"])


def _lone(source: str, cells: Sequence[Cell], lines: Lines) -> Finding:
    """Data sets in which one run is falsely said to follow something alone."""
    false = [
        any(found["one_run"] and not (cell.critic.carried == "one run" and name == cell.right) for name, found in each)
        for cell in cells
        for each in (line["carriers"].items() for line in lines[str(cell)])
    ]
    rate = Rate(sum(false), len(false))
    return Finding(
        "all cells: one run falsely said to follow alone", source, rate, "at most 5%", rate.hits <= 0.05 * rate.of
    )


def _wrong(cell: Cell, line: Line) -> list[str]:
    return [each["name"] for each in line["shares"] if each["verdict"] == MOVES and each["name"] not in cell.allowed]


def _pooled(row: str, source: str, cells: Sequence[Cell], lines: Lines) -> Finding:
    """Data sets in which anything that is not planted is said to move the critic."""
    wrong = [bool(_wrong(cell, line)) for cell in cells for line in lines[str(cell)]]
    rate = Rate(sum(wrong), len(wrong))
    what = f"{row}: anything else moves it (upper limit {rate.limit:.1%})"
    if row in {"no rollout", "refusals"}:
        return Finding(what, source, rate, "never", not rate.hits)
    is_met = rate.hits <= 0.05 * rate.of and (row != "planted" or rate.limit <= 0.07)
    return Finding(what, source, rate, "at most 5%, limit 7%" if row == "planted" else "at most 5%", is_met)


def _unmoved(cell: Cell, own: Sequence[Line]) -> Iterator[Finding]:
    for name in (*LABELS, *PLACES, *CONTENTS, NUMBERS[0]):
        verdicts = [each["verdict"] for line in own for each in line["shares"] if each["name"] == name]
        rate = Rate(verdicts.count(DOES_NOT), len(verdicts))
        yield _at_least(f"{cell.critic}: {name} does not move it", cell.source, rate, 0.8)


def _coverage(cells: Sequence[Cell], lines: Lines) -> Iterator[Finding]:
    """How often intervals hold the truth, by signal and share, over all critics."""
    hits: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for cell in cells:
        truth = cell.critic.truth(hides=True)
        for line in lines[str(cell)]:
            for each in line["shares"]:
                hits[each["name"], cell.source].append(each["low"] <= truth[each["name"]] <= each["high"])
    for (name, source), held in hits.items():
        rate = Rate(sum(held), len(held))
        is_met = 0.92 * rate.of <= rate.hits <= 0.98 * rate.of
        yield Finding(f"coverage of {name}", source, rate, "92% to 98%", is_met)


def _false_movers(cells: Sequence[Cell], lines: Lines) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = defaultdict(int)
    for cell in cells:
        for line in lines[str(cell)] if cell.row != "coverage" else ():
            for name in _wrong(cell, line):
                found[f"{cell.critic}: {name}", cell.source] += 1
    return found

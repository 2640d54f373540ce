"""The tables of what the benchmark found."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from scipy.stats import binomtest

from audit.measures.holm import holm
from benchmarks.interventions.cells import TESTS, Cell

LEVEL: Final = 0.05
Line = dict[str, Any]


def print_report(folder: Path, cells: Sequence[Cell]) -> None:
    """Print how often each test rejects, where nothing and where something was planted; verdicts; coverage of harm."""
    lines = read_lines(folder)
    known = [cell for cell in cells if lines.get(str(cell))]
    _print_null([(cell, test, _p(lines[str(cell)], test)) for cell in known for test in cell.tests])
    _print_power([(cell, test, _p(lines[str(cell)], test)) for cell in known for test in cell.tests])
    print("\n| critic (units, runs) | data sets | edits moved beyond placebo | text goes by the worst | verdicts |")
    print("|---|---|---|---|---|")
    for cell in known:
        if cell.design == "small":
            _print_verdicts(cell, lines[str(cell)])
    for cell in known:
        if cell.design == "harm":
            _print_coverage(folder, cell, lines[str(cell)])


def read_lines(folder: Path) -> dict[str, list[Line]]:
    """Results by cell."""
    found: dict[str, dict[int, Line]] = defaultdict(dict)
    for path in sorted(folder.glob("results-*.jsonl")):
        for text in path.read_text("utf-8").splitlines(keepends=True):
            if text.endswith("\n"):
                line = json.loads(text)
                found[line["cell"]][line["set"]] = line
    return {cell: list(each.values()) for cell, each in found.items()}


def _p(lines: Sequence[Line], test: str) -> list[float]:
    """The p-values of a test; data sets in which it could not be made are left out."""
    factor, outcome, arm = TESTS[test]
    return [
        effect["p"]
        for line in lines
        for effect in line["effects"]
        if (effect["name"], effect["outcome"], effect["arm"]) == (factor, outcome, arm) and "p" in effect
    ]


def rejections(p: Sequence[float]) -> int:
    """How many are significant."""
    return sum(value <= LEVEL for value in p)


def _print_null(tested: Sequence[tuple[Cell, str, list[float]]]) -> None:
    """Size: the chance of so many rejections if the size were 5%, and the same corrected over all cells."""
    rows = [(cell, test, p) for cell, test, p in tested if p and cell.planted(test) is False]
    chances = [binomtest(rejections(p), len(p), LEVEL, alternative="greater").pvalue for *_, p in rows]
    print("| critic | units | runs | test | data sets | rejected | p (size 5%) | Holm |")
    print("|---|---|---|---|---|---|---|---|")
    for (cell, test, p), chance, adjusted in zip(rows, chances, holm(chances), strict=True):
        share = f"{rejections(p)} ({rejections(p) / len(p):.1%})"
        chances_of = f"{chance:.3f} | {adjusted:.3f}"
        print(f"| {cell.critic} | {cell.units} | {cell.runs} | {test} | {len(p)} | {share} | {chances_of} |")
    total, hits = sum(len(p) for *_, p in rows), sum(rejections(p) for *_, p in rows)
    if total:
        high = binomtest(hits, total).proportion_ci(0.95).high
        print(f"\nPooled size: {hits} of {total:,} = {hits / total:.2%} (to {high:.2%})")


def _print_power(tested: Sequence[tuple[Cell, str, list[float]]]) -> None:
    print("\n| critic | units | test | planted | data sets | found |\n|---|---|---|---|---|---|")
    for cell, test, p in tested:
        if p and (planted := cell.planted(test)) is not False:
            low, high = binomtest(rejections(p), len(p)).proportion_ci(0.95, method="wilson")
            words = "yes" if planted else "in part"
            share = f"{rejections(p) / len(p):.1%} ({low:.1%} to {high:.1%})"
            print(f"| {cell.critic} | {cell.units} | {test} | {words} | {len(p)} | {share} |")


def _print_verdicts(cell: Cell, lines: Sequence[Line]) -> None:
    beyond = sum(
        any(
            effect["verdict"] == "found"
            for effect in line["effects"]
            if effect["primary"] and effect["outcome"] == "edits"
        )
        for line in lines
    )
    named = sum(line["named"] for line in lines) / len(lines)
    verdicts = Counter(line["verdict"] for line in lines)
    shares = ", ".join(f"{name} {number / len(lines):.0%}" for name, number in verdicts.most_common())
    name = f"{cell.critic} ({cell.units}, {cell.runs})"
    print(f"| {name} | {len(lines)} | {beyond / len(lines):.1%} | {named:.0%} | {shares} |")


def _print_coverage(folder: Path, cell: Cell, lines: Sequence[Line]) -> None:
    truth = json.loads((folder / f"harm-{cell.critic}.json").read_text())
    print("\n| critic | task | truth | mean estimate | data sets | covered |\n|---|---|---|---|---|---|")
    for env, true in truth.items():
        found = [
            effect
            for line in lines
            for effect in line["effects"]
            if (effect["outcome"], effect["arm"], effect["control"], effect["env"]) == ("gain", "N0", "RW", env)
            and "low" in effect
        ]
        if found:
            covered = sum(effect["low"] <= true <= effect["high"] for effect in found)
            low, high = binomtest(covered, len(found)).proportion_ci(0.95, method="wilson")
            mean = sum(effect["estimate"] for effect in found) / len(found)
            share = f"{covered / len(found):.1%} ({low:.1%} to {high:.1%})"
            print(f"| {cell.critic} | {env} | {true:.3f} | {mean:.3f} | {len(found)} | {share} |")

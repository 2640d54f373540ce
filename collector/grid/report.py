"""The cost of a grid, for people and for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from rich.console import Console
from rich.table import Table

from collector.cli.columns import fitting
from collector.grid.cost import Cost, Pace, total_hours
from collector.grid.measured import Measured
from collector.grid.parts import PARTS

RATES: Final = (0.1, 0.5, 1, 2, 5, 10)
"""Calls per second that hours are given for where no rate is known."""
COUNTS: Final = ("runs", "complete", "calls_left", "rollouts_left")
WORDS: Final = ""
"""The heading of what a part is."""
HEADINGS: Final = (
    "part",
    WORDS,
    "runs",
    "complete",
    "calls left",
    "rollouts left",
    "prompt tokens",
    "answer tokens",
    "hours",
)
LEAST_IMPORTANT: Final = (WORDS, "complete", "rollouts left", "answer tokens", "runs")
"""Columns that a narrow terminal lacks, the first one first."""


def print_json(rows: Sequence[Cost]) -> None:
    """Every row as an object, numbers unrounded."""
    json.dump([asdict(row) for row in rows], sys.stdout, indent=2)
    sys.stdout.write("\n")


def print_table(rows: Sequence[Cost], at: Pace, asked: Measured, *, rate: float | None, answers: float | None) -> None:
    """A line per part and one for all, and where the numbers are from.

    Args:
        rows: per part, condition, task and method.
        at: the pace that they were made with.
        asked: what was measured of the model.
        rate: calls per second, if given.
        answers: tokens of an answer, if given.
    """
    # Piped, it keeps its full width instead of that of an assumed terminal.
    console = Console(width=None if sys.stdout.isatty() else 180)
    lines = [
        dict(zip(HEADINGS, (part.name, part.words, *_cells(mine)), strict=True))
        for part in PARTS
        if (mine := [row for row in rows if row.part == part.name])
    ]
    lines.append(dict(zip(HEADINGS, ("all", "", *_cells(rows)), strict=True)))
    table = Table(box=None, pad_edge=False)
    shown = fitting(lines, HEADINGS, LEAST_IMPORTANT, console.width)
    for heading in shown:
        table.add_column(heading, justify="left" if heading in {"part", WORDS} else "right", no_wrap=True)
    for cells in lines:
        table.add_row(*(cells[heading] for heading in shown))
    console.print(table)
    if missing := [heading for heading in HEADINGS if heading not in {WORDS, *shown}]:
        console.print(f"Without {', '.join(missing)}: the terminal is too narrow.", style="dim", highlight=False)
    for line in _sources(rows, at, asked, rate=rate, answers=answers):
        console.print(line, style="dim", soft_wrap=not console.is_terminal, highlight=False)


def _cells(rows: Sequence[Cost]) -> Iterator[str]:
    for name in COUNTS:
        yield f"{sum(getattr(row, name) for row in rows):,}"
    low, high = (sum(getattr(row, f"prompt_tokens_{end}") for row in rows) for end in ("low", "high"))
    yield _count(low) if _count(low) == _count(high) else f"{_count(low)} to {_count(high)}"
    yield _count(sum(row.completion_tokens for row in rows))
    hours, known = total_hours(rows), [row.hours for row in rows if row.hours]
    yield f"> {_hours(sum(known))}" if hours is None and known else _hours(hours)


def _sources(
    rows: Sequence[Cost], at: Pace, asked: Measured, *, rate: float | None, answers: float | None
) -> Iterator[str]:
    yield "Left is what is not recorded yet. Warm-up, and answers that are asked for again, come on top."
    ratio = f"{at.characters_per_token:.2f} characters a token"
    counted = f"measured over {asked.counted:,} calls" if asked.prompt_tokens else "assumed"
    yield (
        "Prompt tokens: prompts written out as they would be sent, from rollouts as short as random policies' to such "
        f"as reach the step cap; {ratio}, {counted}."
    )
    measured = f"measured over {asked.answered:,} answers" if asked.answered else "assumed; --answer-tokens sets them"
    yield f"Answer tokens: {at.answer_tokens:,.0f} each, {'given' if answers else measured}. Thinking counts."
    calling = [row for row in rows if row.calls]
    if calling:
        longest = max(calling, key=lambda row: row.longest_prompt)
        yield (
            f"Longest prompt: up to {longest.longest_prompt:,.0f} tokens ({longest.env}, {longest.variant}). The "
            f"server's context must hold it and the answer."
        )
    yield from _paces(sum(row.calls_left for row in rows), at, asked, rate=rate)
    if any(not row.calls and row.hours is None for row in rows):
        yield "Hours of baselines are not known before one has been trained here."


def _paces(calls_left: int, at: Pace, asked: Measured, *, rate: float | None) -> Iterator[str]:
    if at.calls_per_second is not None:
        how = "given" if rate else f"measured over {asked.needed:,} calls of {asked.runs} runs, rollouts included"
        yield f"Hours: at {at.calls_per_second:.3g} calls a second, {how}."
    elif calls_left:
        hours = ", ".join(f"{_hours(calls_left / each / 3600)} at {each:g}" for each in RATES)
        yield (
            f"Hours: not known, as no call of this model is recorded; by calls a second: {hours}. --rate sets one, and "
            f"a first hour of collecting measures it."
        )


def _count(number: float) -> str:
    """A number with three digits at most: 512, 8.1k, 36M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def _hours(hours: float | None) -> str:
    if hours is None:
        return "–"
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}" if hours >= 0.01 or hours == 0 else "<0.01"

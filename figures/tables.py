"""The tables of the page: which columns, in which words, with which precision."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from audit.output.cells import ROUGH, ROUGH_NOTE
from figures.names import (
    IMPROVEMENTS,
    METHODS,
    NO_CHANGE,
    REGRESSIONS,
    STRUCTURES,
    TASKS,
    UNCLASSIFIED,
    name,
    position,
    worded,
)

MISSING: Final = "–"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, and how it reads in a row.

    `is_best` marks whether it is the best of its row and is emphasised, `beside` what is under it in small print.
    """

    heading: str
    read: Callable[[Row], str]
    needs: str
    numeric: bool = True
    is_best: Callable[[Row], bool] = lambda _row: False
    beside: Callable[[Row], str] = lambda _row: ""


@dataclass(frozen=True)
class Table:
    """A table with its title, caption and note; `rows` are as the audit gave them, unrounded.

    `data` is what goes to the CSV file, where that is not the rows as they are.
    """

    stem: str
    title: str
    caption: str
    note: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    data: Sequence[Row] | None = None

    @property
    def has_gaps(self) -> bool:
        """Whether a cell has nothing but a dash."""
        return any(MISSING in line.values() for line in self.displayed())

    def displayed(self) -> list[dict[str, str]]:
        """The rows as people read them: by heading, rounded, with a dash for what could not be computed."""
        return [{column.heading: column.read(row) for column in self.columns} for row in self.rows]


def text(key: str, heading: str) -> Column:
    """Words: an id by its name, anything else as it is."""
    return Column(heading, lambda row: name(str(row[key])), key, numeric=False)


def count(key: str, heading: str) -> Column:
    """A whole number."""
    return Column(heading, lambda row: shown(row[key], "{:.0f}"), key)


def decimal(key: str, heading: str, digits: int = 2) -> Column:
    """A number with so many decimals."""
    return Column(heading, lambda row: shown(row[key], f"{{:.{digits}f}}"), key)


def percent(key: str, heading: str) -> Column:
    """A percentage, with one decimal."""
    return Column(heading, lambda row: shown(row[key], "{:.1f}%"), key)


def counted(key: str, heading: str) -> Column:
    """A count with the percentage beside it, which the row holds as `<key>_pct`, and its interval where it has one."""

    def read(row: Row) -> str:
        share = shown(row[f"{key}_pct"], " ({:.1f}%)")
        return _joined(_joined(shown(row[key], "{:.0f}"), share), _interval(row, key, "{:.0f}"))

    return Column(heading, read, key)


def spread(key: str, heading: str) -> Column:
    """Mean ± sample standard deviation, which the row holds as `<key>_std`."""
    return Column(heading, lambda row: _joined(shown(row[key], "{:.2f}"), shown(row[f"{key}_std"], " ± {:.2f}")), key)


def bounded(key: str, heading: str) -> Column:
    """A number with its interval, which the row holds as `<key>_low` and `<key>_high`."""
    return Column(heading, lambda row: _joined(shown(row[key], "{:.2f}"), _interval(row, key, "{:.2f}")), key)


def _interval(row: Row, key: str, pattern: str) -> str:
    """The interval of a number, marked where it is rough; a dash without one."""
    low, high = (shown(row.get(f"{key}_{end}"), pattern) for end in ("low", "high"))
    mark = ROUGH if key in (row.get("rough") or ()) else ""
    return MISSING if low == high == MISSING else f" [{low}, {high}]{mark}"


def shown(value: Any, pattern: str) -> str:
    """A number by a format pattern, or a dash where there is none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return MISSING
    shown = pattern.format(value)
    # Rounding must not leave a zero with a sign.
    return shown if re.search("[1-9]", shown) else shown.replace("-", "")


def _joined(value: str, beside: str) -> str:
    if value == MISSING:
        return MISSING
    return value if beside == MISSING else value + beside


_WHERE: Final = (text("condition", "Condition"), text("env", "Task"), text("variant", "Method"))
OPTIONAL: Final = "mean_edit_distance"
"""A column that no text or log without parameters has a value in; empty, it is left out."""

COLUMNS: Final[Mapping[str, Sequence[Column]]] = {
    "salience": (
        *_WHERE,
        text("detector", "Detector"),
        count("revisions", "Revisions"),
        counted("regressions", "Regressions (of revisions)"),
        counted("strict", "Strict (of regressions)"),
        counted("permissive", "Permissive (of regressions)"),
        count("worst_below_median", "Worst < median"),
        count("worst_below_best", "Worst < best"),
        percent("citing_regressions_pct", "Regressions citing"),
        percent("citing_improvements_pct", "Improvements citing"),
        percent("citing_no_change_pct", "Unchanged citing"),
        bounded("risk_ratio", "Risk ratio"),
        bounded("odds_ratio", "Odds ratio"),
    ),
    "summary": (
        *_WHERE,
        count("runs", "Runs"),
        count("revisions", "Revisions"),
        decimal("mean_delta", "Mean Δ", digits=3),
        decimal("mean_edit_distance", "Mean edit distance"),
        counted("accepted", "Accepted"),
        counted("regressions", "Regressions"),
        count("improvements", "Improvements"),
        count(NO_CHANGE, "No change"),
    ),
    "patterns": (
        *_WHERE,
        count("revisions", "Revisions"),
        *(counted(pattern, called.capitalize()) for pattern, called in REGRESSIONS.items()),
        counted(NO_CHANGE, "No change"),
        counted(UNCLASSIFIED, "Unclassified"),
        *(counted(pattern, called.capitalize()) for pattern, called in IMPROVEMENTS.items()),
    ),
    "agreement": (
        *_WHERE,
        text("structure", "Structure"),
        count("revisions", "Revisions"),
        decimal("mean_delta", "Mean Δ", digits=3),
    ),
    "metrics": (
        *_WHERE,
        count("runs", "Runs"),
        count("missing", "Runs left out"),
        spread("mean_return", "Mean return"),
        spread("best_return", "Best return"),
        decimal("stability_gap", "Stability gap"),
    ),
    "aggregate": (
        text("condition", "Condition"),
        text("variant", "Method"),
        count("tasks", "Tasks"),
        count("runs", "Runs"),
        bounded("iqm", "Interquartile mean"),
        decimal("mean", "Mean"),
        bounded("optimality_gap", "Optimality gap"),
        bounded("probability_of_improvement", "P(R2PO better)"),
        bounded("mean_rank", "Mean rank"),
    ),
}

TITLES: Final[Mapping[str, str]] = {
    "salience": "Salience-problem regressions",
    "summary": "Revisions",
    "patterns": "Edit patterns",
    "agreement": "What the critic was shown",
    "metrics": "Returns",
    "aggregate": "Scores over tasks",
}

CAPTIONS: Final[Mapping[str, str]] = {
    "salience": (
        "Strict: a regression where the worst rollout returned less than the median one and the critic's answer refers "
        "to the worst. Permissive: the worst returned no more than the median and less than the best, and the same "
        "reference. Both are in percent of regressions, with 95% intervals by run (CR2), and regressions in percent of "
        "revisions."
    ),
    "summary": (
        "Δ is the change that a revision made to the mean return; the edit distance, where there is one, counts "
        "changed parameters. Accepted: the revised candidate entered the history. Percentages are of revisions."
    ),
    "patterns": (
        "Revisions by edit pattern, regressions with most at stake first and improvements with most at stake last; in "
        "percent of the row's revisions. Patterns that none of the records have are left out. A pattern names a "
        "combination of the return before, its change and the size of the edit, not a cause."
    ),
    "agreement": "Revisions by how the three rollouts agreed that the critic compared, with the mean change in return.",
    "metrics": (
        "Mean ± sample standard deviation over runs. A run's mean and best are over its iterations; the stability gap "
        "is best minus mean. A run's best is the largest of many noisy means, and so biased upwards."
    ),
    "aggregate": (
        "Scores are a run's mean return, 0 for the task's floor and 1 for its optimum, over the tasks on which all "
        "methods of a condition have runs; 95% intervals by bootstrap within tasks. The optimality gap is the mean "
        "shortfall from 1. P(R2PO better): that a run of R2PO beats one of the method on the same task. Ranks are by "
        "mean score on a task, 1 being the best, averaged over tasks."
    ),
}


BASE_RATES: Final = (
    "Citing: how often the answers before regressions, improvements and unchanged returns refer to the worst rollout; "
    "the ratios compare regressions with and without such a reference, with 95% intervals by bootstrap over whole "
    f"runs. {ROUGH_NOTE}"
)


def table(key: str, rows: Sequence[Row], note: str, *, of_texts: bool = False) -> Table:
    """One of the page's tables, with the columns that its rows have values in, in the order that figures follow too.

    The condition gets a column only where there are several: the note names them.

    Args:
        key: of `COLUMNS`.
        rows: one mapping per line, as from `audit` or `stats`.
        note: what the records were made with.
        of_texts: whether all of the records revise texts.
    """
    single = len({row["condition"] for row in rows}) < 2
    hidden = {"condition"} if single else set()
    columns = [c for c in COLUMNS[key] if c.needs not in hidden and (not rows or _has_values(c, rows))]
    base_rates = any(column.needs == "citing_regressions_pct" for column in columns)
    caption = f"{CAPTIONS[key]} {BASE_RATES}" if base_rates and rows else CAPTIONS[key]
    return Table(key, TITLES[key], worded(caption, of_texts=of_texts), note, columns, sorted(rows, key=_place))


def _has_values(column: Column, rows: Sequence[Row]) -> bool:
    return any(column.needs in row and (row[column.needs] is not None or column.needs != OPTIONAL) for row in rows)


def _place(row: Row) -> tuple[Any, ...]:
    known = ((row.get("env", ""), TASKS), (row["variant"], METHODS), (row.get("structure", ""), STRUCTURES))
    return (row["condition"], *(position(identifier, names) for identifier, names in known))

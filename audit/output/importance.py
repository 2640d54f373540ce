"""Which columns of a table answer its question, and in which order a narrow table has room for the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit.output.formats import Row, is_number_column

DECIDING: Final = frozenset(
    {
        # What was found, and how sure it is.
        *("verdict", "holm_p", "p", "p_adjusted", "strict"),
        # Differences.
        *("gap", "delta", "mean_delta", "difference", "difference_pct", "effect", "estimate"),
        *("risk_ratio", "probability_of_improvement", "mean_luck", "best_luck", "harm avoided", "validation_gain"),
        # The two sides of a difference.
        *("reference_mean", "baseline_mean", "mean_with", "mean_without", "regressions", "control_regressions"),
        *("citing_regressions", "citing_improvements", "citing_regressions_pct", "citing_improvements_pct"),
        *("regressions_citing_pct", "regressions_not_citing_pct", "strict_untied_pct"),
        *("expected_pooled", "beyond_noise", "strict_beyond_noise", "improvements", "significant", "r0", "r1"),
        # Values that are the answer.
        *("mean_return", "best_return", "final_return", "iqm", "share", "pct", "answers", "validation", "kept"),
        *("precision", "recall", "kappa", "references_worst", "rollouts", "supported", "text"),
    }
)
"""Columns that no table for people leaves out, however narrow it is."""

KEYS: Final = frozenset(
    {
        *("env", "variant", "baseline", "run", "iteration", "rank", "candidate", "outcome", "aspect", "factor"),
        *("start", "degree", "structure", "pattern", "threshold", "value", "kind", "topic", "command", "name", "arm"),
        *("control", "section", "remedy", "share", "number", "coder", "column", "detector", "personality", "quantity"),
    }
)
"""Columns that say what a row is of."""


def keys(columns: Sequence[str]) -> list[str]:
    """The columns that a table begins with and that say what a row is of; the first one at least."""
    number = next((place for place, column in enumerate(columns) if column not in KEYS), len(columns) - 1)
    return list(columns[: max(number, 1)])


def deciding(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """The columns that are never left out: those of `DECIDING` that have a value."""
    return [column for column in columns if column in DECIDING and _any(rows, column)]


def by_importance(columns: Sequence[str], rows: Sequence[Row]) -> list[str]:
    """Columns in the order in which a narrow table keeps them.

    Columns that identify rows come first, then those that decide. Where numbers have intervals, texts and these come
    right behind, then p-values; counts without a percentage come behind all others. Without intervals, the other
    columns stay in their order. Columns without any value come last.
    """
    every, columns = columns, [column for column in columns if _any(rows, column)]
    empty = [column for column in every if column not in columns]
    first = list(dict.fromkeys([*keys(columns), *deciding(columns, rows)]))
    bounded = [column for column in columns if _any(rows, f"{column}_low", f"{column}_high")]
    intervals = sorted(bounded, key=lambda column: _any(rows, f"{column}_pct"))  # shares last
    if intervals:
        texts = [column for column in columns if not is_number_column(rows, column)]
        tests = [column for column in columns if column.endswith("_p")]
        first = list(dict.fromkeys([*first, *texts, *intervals, *tests]))
    rest = [column for column in columns if column not in first]
    counts = [column for column in rest if intervals and _is_count(rows, column)]
    return [*first, *(column for column in rest if column not in counts), *counts, *empty]


def _is_count(rows: Sequence[Row], column: str) -> bool:
    return not _any(rows, f"{column}_pct") and all(isinstance(row[column], int | None) for row in rows)


def _any(rows: Sequence[Row], *columns: str) -> bool:
    return any(row.get(column) is not None for row in rows for column in columns)

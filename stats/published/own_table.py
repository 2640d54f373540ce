"""A user's own table: summaries of methods and tests between them, in one CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Final, NamedTuple

from stats.published.intervals import point
from stats.published.printed import Printed
from stats.published.results import Result, compare
from stats.published.significance import ALPHA, QUANTITIES, PrintedTest, check_tests
from stats.published.source import PublishedError, Row, read_csv
from stats.published.welch_bounds import Sample, exact_sample, sample

NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "group": ("environment", "env", "task", "dataset", "domain", "benchmark"),
    "method": ("variant", "algorithm", "model", "arm"),
    "mean": ("average", "avg"),
    "std": ("sd", "stdev", "std_dev", "standard_deviation"),
    "standard_error": ("se", "sem", "stderr"),
    "n": ("runs", "seeds", "samples", "size"),
    "reference": ("ours", "method_a"),
    "baseline": ("versus", "against", "method_b"),
    "family": ("baseline_family",),
    "gap": ("difference", "diff", "delta"),
    "welch_t": ("t", "t_stat", "t_statistic", "statistic"),
    "df": ("dof", "degrees_of_freedom"),
    "raw_p": ("p", "p_value", "pvalue"),
    "holm_p": ("p_holm", "adjusted_p", "p_adj", "p_adjusted", "corrected_p"),
}
"""Columns, and what else they may be called."""

_SUMMARY: Final = ("method", "mean", "n")
_TEST: Final = ("reference", "baseline")


class Key(NamedTuple):
    """A method within a group."""

    group: str
    method: str


class Summaries(NamedTuple):
    """A method's printed summary, as it may be and at face value."""

    sample: Sample
    face: Sample


def check_table(path: Path, alpha: Decimal = ALPHA) -> list[Result]:
    """Recompute the tests of a table from its summaries, and standard errors from standard deviations.

    Args:
        path: a CSV file. A row with a `mean` is a summary, one with a `baseline` a test; see `docs/stats.md`.
        alpha: a corrected p-value up to this is significant.

    Raises:
        PublishedError: the file cannot be used; the message states where and why.
    """
    rows = [_renamed(row, path) for row in read_csv(path)]
    summary_rows = [row for row in rows if _has(row, "mean")]
    test_rows = [row for row in rows if _has(row, "baseline")]
    _refuse(rows, path)
    summaries: dict[Key, Summaries] = {}
    results: list[Result] = []
    for row in summary_rows:
        key = Key(row.fields.get("group", ""), row["method"])
        if key in summaries:
            raise PublishedError(f"{row.place}: a second summary of {_item(*key)}")
        summaries[key] = _summary(row)
        results += _standard_error(path.name, key, row)
    tests = [_test(row, summaries) for row in test_rows]
    return [*results, *check_tests(path.name, tests, alpha)]


def _renamed(row: Row, path: Path) -> Row:
    """The row with its columns under their own names; others are left out."""
    meant = {alias: name for name, aliases in NAMES.items() for alias in (name, *aliases)}
    fields: dict[str, str] = {}
    for heading, value in row.fields.items():
        name = meant.get("_".join(heading.lower().replace("-", " ").replace("_", " ").split()))
        if name is None:
            continue
        if name in fields:
            raise PublishedError(f"{path}: two columns for {name}, the second is {heading[:40]!r}")
        fields[name] = value
    return Row(row.place, fields)


def _refuse(rows: Sequence[Row], path: Path) -> None:
    """Report what is missing, for the whole file or for a row."""
    columns = rows[0].fields
    has = {kind: [name for name in needed if name in columns] for kind, needed in (("s", _SUMMARY), ("t", _TEST))}
    spread = "std" in columns or "standard_error" in columns
    if not (len(has["s"]) == len(_SUMMARY) and spread) and len(has["t"]) < len(_TEST):
        missing = [name for name in _SUMMARY if name not in columns] + ([] if spread else ["std or standard_error"])
        absent = [name for name in _TEST if name not in columns]
        raise PublishedError(
            f"{path}: no column for {', '.join(missing)} (summaries), nor for {', '.join(absent)} (tests)"
        )
    for row in rows:
        if _has(row, "mean") == _has(row, "baseline"):
            which = "both a mean and a baseline" if _has(row, "mean") else "neither a mean nor a baseline"
            raise PublishedError(f"{row.place}: {which}; a row is a summary or a test")
        needed = _SUMMARY if _has(row, "mean") else _TEST
        for name in needed:
            if not _has(row, name):
                raise PublishedError(f"{row.place}: no {name}")
        if _has(row, "mean") and not (_has(row, "std") or _has(row, "standard_error")):
            raise PublishedError(f"{row.place}: no std and no standard_error")
        if _has(row, "baseline") and not any(_has(row, name) for name in QUANTITIES):
            raise PublishedError(f"{row.place}: a test without {', '.join(QUANTITIES[:-1])} or {QUANTITIES[-1]}")


def _has(row: Row, name: str) -> bool:
    return bool(row.fields.get(name))


def _summary(row: Row) -> Summaries:
    mean, n = row.number("mean"), _size(row)
    if mean.is_bound:
        raise PublishedError(f"{row.place}: mean: {mean.text} is a bound, not a mean")
    if _has(row, "std"):
        std = _not_negative(row, "std")
        return Summaries(sample(mean, std, n), exact_sample(mean, std, n))
    error = _not_negative(row, "standard_error")
    may_be, face = sample(mean, error, n), exact_sample(mean, error, n)
    root = point(n).root()
    return Summaries(Sample(may_be.mean, may_be.std * root, n), Sample(face.mean, face.std * root, n))


def _standard_error(table: str, key: Key, row: Row) -> Iterator[Result]:
    if _has(row, "std") and _has(row, "standard_error"):
        root = point(_size(row)).root()
        std, error = _not_negative(row, "std"), _not_negative(row, "standard_error")
        wrong = f"not the standard deviation {std.text} over the root of {row['n']}"
        yield compare(table, _item(*key), "standard_error", error, std.interval / root, wrong)


def _size(row: Row) -> int:
    n = row.count("n")
    if n == 0:
        raise PublishedError(f"{row.place}: n: must be at least 1")
    return n


def _not_negative(row: Row, name: str) -> Printed:
    number = row.number(name)
    if number.value < 0 or number.is_bound:
        raise PublishedError(f"{row.place}: {name}: {number.text} is not a valid {name.replace('_', ' ')}")
    return number


def _test(row: Row, summaries: Mapping[Key, Summaries]) -> PrintedTest:
    group = row.fields.get("group", "")
    ours, theirs = (summaries.get(Key(group, row[name])) for name in _TEST)
    pair = None if ours is None or theirs is None else (ours, theirs)
    return PrintedTest(
        item=_item(group, f"{row['reference']} against {row['baseline']}"),
        family=row.fields.get("family", ""),
        samples=pair and (pair[0].sample, pair[1].sample),
        face=pair and (pair[0].face, pair[1].face),
        printed={name: row.number(name) for name in QUANTITIES if _has(row, name)},
    )


def _item(group: str, rest: str) -> str:
    return f"{group}/{rest}" if group else rest

"""A user's own table: summaries of methods and tests between them, in one CSV file, held against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from audit.measures.holm import holm_within
from stats.published.corners import (
    ANYTHING,
    PROBABILITY,
    Found,
    Sample,
    common,
    mistakes,
    narrowed,
    p_range,
    welch_range,
)
from stats.published.printed import Printed, Range
from stats.published.source import PublishedError, Row, read_csv

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
COLUMNS: Final = ("table", "item", "quantity", "status", "published", "low", "high", "note")
ALPHA: Final = 0.05

_LARGEST: Final = 1e60
"""Means and deviations from here on, or below its reciprocal, are refused: their powers are no floats."""
_GIVEN_BY: Final = {
    "gap": "the printed means",
    "welch_t": "the printed means and standard deviations",
    "df": "the printed standard deviations",
    "raw_p": "t and its degrees of freedom",
}


class _Test(NamedTuple):
    """A printed test; `samples` and `exact` are None where the summaries are not printed."""

    item: str
    family: str
    samples: tuple[Sample, Sample] | None
    exact: tuple[Sample, Sample] | None
    printed: Mapping[str, Printed]


def check_table(path: Path, alpha: float = ALPHA) -> list[dict[str, Any]]:
    """Recompute the tests of a table from its summaries, and standard errors from standard deviations.

    Args:
        path: a CSV file. A row with a `mean` is a summary, one with a `baseline` a test; see `docs/stats.md`.
        alpha: a corrected p-value up to this is significant.

    Returns:
        A row of all `COLUMNS` for each number that can be recomputed; no bound is None.

    Raises:
        PublishedError: the file cannot be used; the message states where and why.
    """
    rows = [_renamed(row, path) for row in read_csv(path)]
    _refuse(rows, path)
    summaries: dict[tuple[str, str], tuple[Sample, Sample]] = {}
    results: list[dict[str, Any]] = []
    for row in rows:
        if not _has(row, "mean"):
            continue
        group, method = row.fields.get("group", ""), row["method"]
        if (group, method) in summaries:
            raise PublishedError(f"{row.place}: a second summary of {_item(group, method)}")
        summaries[group, method] = _summary(row)
        if _has(row, "std") and _has(row, "standard_error"):
            error, found = row.number("standard_error"), summaries[group, method][0].scaled(row.count("n") ** -0.5).std
            wrong = f"not the standard deviation {row['std']} over the root of {row['n']}"
            status, note = ("consistent", None) if error.range.meets(found) else ("inconsistent", wrong)
            results.append(_result(_item(group, method), "standard_error", status, error, found, note))
    tests = [_test(row, summaries) for row in rows if _has(row, "baseline")]
    results += [
        _verdict(test, quantity, number, bounds, alpha)
        for test, bounds in zip(tests, _recomputed(tests), strict=True)
        for quantity, number in test.printed.items()
    ]
    return [{"table": path.name, **result} for result in results]


def _renamed(row: Row, path: Path) -> Row:
    """The row with its columns under their own names; others are left out."""
    meant = {alias: name for name, aliases in NAMES.items() for alias in (name, *aliases)}
    fields: dict[str, str] = {}
    for heading, value in row.fields.items():
        name = meant.get("_".join(heading.lower().replace("-", " ").replace("_", " ").split()))
        if name in fields:
            raise PublishedError(f"{path}: two columns for {name}, the second is {heading[:40]!r}")
        if name is not None:
            fields[name] = value
    return Row(row.place, fields)


def _refuse(rows: Sequence[Row], path: Path) -> None:
    """Report what is missing, for the whole file or for a row."""
    if not {"mean", "baseline"} & rows[0].fields.keys():
        raise PublishedError(f"{path}: no column for mean (summaries), nor for baseline (tests)")
    for row in rows:
        is_summary = _has(row, "mean")
        if is_summary == _has(row, "baseline"):
            which = "both a mean and a baseline" if is_summary else "neither a mean nor a baseline"
            raise PublishedError(f"{row.place}: {which}; a row is a summary or a test")
        for name in ("method", "n") if is_summary else ("reference",):
            if not _has(row, name):
                raise PublishedError(f"{row.place}: no {name}")
        if is_summary and not (_has(row, "std") or _has(row, "standard_error")):
            raise PublishedError(f"{row.place}: no std and no standard_error")
        if not is_summary and not any(_has(row, name) for name in Found._fields):
            raise PublishedError(f"{row.place}: a test without {', '.join(Found._fields[:-1])} or {Found._fields[-1]}")


def _has(row: Row, name: str) -> bool:
    return bool(row.fields.get(name))


def _summary(row: Row) -> tuple[Sample, Sample]:
    """A method's printed summary, as it may be and at face value."""
    n = row.count("n")
    if n == 0:
        raise PublishedError(f"{row.place}: n: must be at least 1")
    mean = row.number("mean")
    if mean.is_bound:
        raise PublishedError(f"{row.place}: mean: {mean.text} is a bound, not a mean")
    spreads = {name: row.number(name) for name in ("std", "standard_error") if _has(row, name)}
    for name, number in spreads.items():
        if number.value < 0 or number.is_bound:
            raise PublishedError(f"{row.place}: {name}: {number.text} is not a valid {name.replace('_', ' ')}")
    for number in (mean, *spreads.values()):
        if any(end and not 1 / _LARGEST < abs(end) < _LARGEST for end in number.range):
            raise PublishedError(f"{row.place}: {number.text} is too large or too small to compute with")
    name, spread = next(iter(spreads.items()))
    scale = math.sqrt(n) if name == "standard_error" else 1.0
    found = Sample(mean.range, Range(max(spread.range.low, 0.0), spread.range.high), n)
    exact = Sample(Range(mean.value, mean.value), Range(spread.value, spread.value), n)
    return found.scaled(scale), exact.scaled(scale)


def _test(row: Row, summaries: Mapping[tuple[str, str], tuple[Sample, Sample]]) -> _Test:
    group = row.fields.get("group", "")
    ours, theirs = (summaries.get((group, row[name])) for name in ("reference", "baseline"))
    samples, exact = zip(ours, theirs, strict=True) if ours and theirs else (None, None)
    printed = {name: row.number(name) for name in Found._fields if _has(row, name)}
    item = _item(group, f"{row['reference']} against {row['baseline']}")
    return _Test(item, row.fields.get("family", ""), samples, exact, printed)


def _item(group: str, rest: str) -> str:
    return f"{group}/{rest}" if group else rest


def _recomputed(tests: Sequence[_Test]) -> Iterator[Found]:
    """What the quantities of all tests can be, each held against all that is printed before it.

    p follows from the summaries, and from t and its degrees of freedom as recomputed and as printed; the corrected p
    from all p of the family likewise. Holm's correction is monotone in each p, so lower ends give lower ends.
    """
    found = []
    for test in tests:
        each = welch_range(*test.samples) if test.samples else Found()
        t, df = (narrowed(getattr(each, name), test.printed.get(name)) for name in ("welch_t", "df"))
        found.append(each._replace(raw_p=common(each.raw_p, p_range(t, df))))
    usable = [narrowed(each.raw_p, test.printed.get("raw_p")) for each, test in zip(found, tests, strict=True)]
    ends = (holm_within(p, [test.family for test in tests])[0].tolist() for p in zip(*usable, strict=True))
    for each, low, high in zip(found, *ends, strict=True):
        yield each._replace(holm_p=Range(low, high))


def _verdict(test: _Test, quantity: str, number: Printed, bounds: Found, alpha: float) -> dict[str, Any]:
    found: Range = getattr(bounds, quantity)
    # The corrected p is left open at face value.
    exact = getattr(welch_range(*test.exact), quantity) if test.exact and quantity != "holm_p" else None
    silence = _undecided(test, quantity, found, alpha)
    if not number.range.meets(found):
        status, note = "inconsistent", _why(test, quantity, number, found)
    elif (silence is None and not number.is_bound) or found.within(number.range):
        status, note = "consistent", None
    elif exact is not None and exact.within(number.range):
        status, note = "consistent", silence and f"as printed, though {silence}"
    else:
        status, note = "undecidable", silence or "it may be on either side of the printed bound"
    return _result(test.item, quantity, status, number, found, note)


def _undecided(test: _Test, quantity: str, found: Range, alpha: float) -> str | None:
    """Why a range is too wide to decide anything, or None where it is not."""
    if quantity == "welch_t" and found == ANYTHING and test.samples and min(each.n for each in test.samples) > 1:
        return "with standard deviations that may be 0 any t is possible"
    if found in (ANYTHING, PROBABILITY):
        return "nothing that is printed says what it is"
    if quantity in ("raw_p", "holm_p") and found.low <= alpha < found.high:
        return f"the rounding leaves open on which side of {alpha} it is"
    return None


def _why(test: _Test, quantity: str, number: Printed, found: Range) -> str:
    if quantity in ("gap", "welch_t") and Range(-number.range.high, -number.range.low).meets(found):
        return "has the other sign: it is that of baseline minus reference"
    source = _GIVEN_BY.get(quantity, "the raw p-values" + (f" of family {test.family}" if test.family else ""))
    likely = list(mistakes(quantity, test.printed, test.samples, found))
    hint = f"; {' or '.join(likely)} could" if likely else ""
    return f"not what {source} give, however they were rounded{hint}"


def _result(item: str, quantity: str, status: str, number: Printed, found: Range, note: str | None) -> dict[str, Any]:
    low, high = (end if math.isfinite(end) else None for end in found)
    return dict(zip(COLUMNS[1:], (item, quantity, status, number.text, low, high, note), strict=True))

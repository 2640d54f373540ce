"""What the overview states first: how many revisions regress and cite, whether one goes with the other, and intervals.

All intervals are 95%, with runs as clusters, and by the functions that compare two methods on the page beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from audit.measures.cluster_robust import Coefficient, cluster_robust, clustered_mean
from audit.output.errors import UsageError
from audit.output.numbers import known
from audit.viewer.counts import CITING, GROUP, REGRESSION, SALIENCE, Filter, filters_of
from audit.viewer.query import Query

if TYPE_CHECKING:
    from audit.viewer.session import Session

_KNOWN: Final = ("true", "false")
_ASKED: Final[Filter] = {**SALIENCE, "cites": _KNOWN}
FEW: Final = 4.0
"""Degrees of freedom below which an interval is not to be relied on: E. Tipton, "Small sample adjustments for robust
variance estimation with meta-regression" (Psychological Methods 20, 2015)."""
SHARES: Final[Mapping[str, tuple[Filter, Filter]]] = {
    "regressions": (REGRESSION, {}),
    "strict": ({"strict": "true"}, {**SALIENCE, **REGRESSION, "strict": _KNOWN}),
    "permissive": ({"permissive": "true"}, {**SALIENCE, **REGRESSION, "permissive": _KNOWN}),
    "citing_regressions": (CITING, {**_ASKED, **REGRESSION}),
    "citing_improvements": (CITING, {**_ASKED, "direction": "improvement"}),
    "citing_no_change": (CITING, {**_ASKED, "direction": "no_change"}),
}
"""Shares of revisions: the filter of those that are counted, beside that of those among which they are."""
_ASSOCIATED: Final[tuple[Filter, ...]] = (
    {**SALIENCE, **CITING, **REGRESSION},
    {**SALIENCE, **CITING},
    {**SALIENCE, "cites": "false", **REGRESSION},
    {**SALIENCE, "cites": "false"},
)

Counts = tuple[Any, ...]
"""A run, and counts of its revisions: of a share how many are counted, and among how many."""


def conclusion(session: Session, query: Query) -> dict[str, Any]:
    """The numbers of the overview's sentences, and the intervals of its charts.

    A share is that of all revisions, or of those of a condition, task and method. The difference is that between the
    regressions of revisions whose answer cites and of those whose answer does not, in percentage points: the slope of a
    linear regression with an intercept for each condition, task and method, so that it is none between these.

    Args:
        session: the records.
        query: conditions, tasks and methods; all without filters.

    Raises:
        UsageError: a filter by another column.
    """
    if strange := [name for name, _ in query.filters if name not in GROUP]:
        raise UsageError(f"a conclusion for {strange[0]}: filter by condition, env and variant alone")
    if query != Query():
        return _conclusion(session, query)
    return session.once("conclusion", lambda: _conclusion(session, query))


def _conclusion(session: Session, query: Query) -> dict[str, Any]:
    every = [each for part, whole in SHARES.values() for each in ({**whole, **part}, whole)]
    rows = session.table.grouped(query, [*GROUP, "run"], [filters_of(each) for each in (*every, *_ASSOCIATED)])
    counts = [(tuple(row[:4]), row[4:]) for row in rows]
    tallies = {
        name: [(key, found[2 * place], found[2 * place + 1]) for key, found in counts if found[2 * place + 1]]
        for place, name in enumerate(SHARES)
    }
    return {
        "shares": {name: _share(name, tally) for name, tally in tallies.items()},
        "difference": _difference([(key, *found[2 * len(SHARES) :]) for key, found in counts]),
        "cells": _cells(tallies),
    }


def _share(name: str, tally: Sequence[Counts]) -> dict[str, Any]:
    part, whole = SHARES[name]
    count, of = (sum(each[place] for each in tally) for place in (1, 2))
    return {
        "count": count,
        "of": of,
        "pct": 100 * count / of if of else None,
        **_ends(_mean(tally), 0),
        "runs": len(tally),
        "links": {"count": {**whole, **part}, "of": whole},
    }


def _mean(tally: Sequence[Counts]) -> Coefficient:
    """The share, which is the mean of those of runs, weighted by their revisions."""
    values, weights = ([each[1] / each[2] for each in tally], [each[2] for each in tally])
    return clustered_mean(values, range(len(tally)), weights=weights)


def _ends(found: Coefficient, least: int) -> dict[str, float | bool | None]:
    """The interval in percent, as far as there are such values, and whether too few runs inform it."""
    low, high = (known(100 * end) for end in (found.low, found.high))
    return {
        "low": None if low is None else max(100.0 * least, low),
        "high": None if high is None else min(100.0, high),
        "is_rough": found.df < FEW,
    }


def _cells(tallies: Mapping[str, Sequence[Counts]]) -> list[dict[str, Any]]:
    """The interval of each share of each condition, task and method."""
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    for name, tally in tallies.items():
        for cell, mine in _by_cell(tally).items():
            ends = _ends(_mean(mine), 0)
            row = cells.setdefault(cell, dict(zip(GROUP, cell, strict=True)))
            row |= {f"{name}_pct_low": ends["low"], f"{name}_pct_high": ends["high"]}
    return list(cells.values())


def _difference(rows: Sequence[Counts]) -> dict[str, Any]:
    """Regressions of those that cite less those of the others, within conditions, tasks and methods that have both."""
    cells = _by_cell(rows)
    both = [mine for mine in cells.values() if all(any(row[place] for row in mine) for place in (2, 4))]
    observed = [
        (key, stratum, cites, part, whole)
        for stratum, mine in enumerate(both)
        for key, *found in mine
        for cites, (part, whole) in ((1.0, found[:2]), (0.0, found[2:]))
        if whole
    ]
    facts = {
        "citing": sum(row[2] for row in rows),
        "others": sum(row[4] for row in rows),
        "runs": len({key for key, *_ in observed}),
        "cells": len(both),
    }
    if not observed:
        return {**facts, "points": None, "low": None, "high": None, "is_rough": False}
    found = cluster_robust(
        [part / whole for *_, part, whole in observed],
        [[*(float(each == stratum) for each in range(len(both))), cites] for _, stratum, cites, *_ in observed],
        _numbered(key for key, *_ in observed),
        weights=[whole for *_, whole in observed],
    )[-1]
    return {**facts, "points": known(100 * found.estimate), **_ends(found, -1)}


def _numbered(keys: Iterable[Any]) -> list[int]:
    places: dict[Any, int] = {}
    return [places.setdefault(key, len(places)) for key in keys]


def _by_cell(rows: Iterable[Counts]) -> dict[tuple[Any, ...], list[Counts]]:
    """Rows of runs, by the condition, task and method of each."""
    found: dict[tuple[Any, ...], list[Counts]] = defaultdict(list)
    for row in rows:
        found[row[0][:3]].append(row)
    return found

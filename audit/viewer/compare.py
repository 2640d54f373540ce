"""Two conditions or two methods side by side: returns and rates of both by task, and tests of their differences."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from audit.measures.cluster_robust import Coefficient, cluster_robust
from audit.measures.holm import holm_within
from audit.measures.summary import Summary, summarise
from audit.measures.welch import welch_from_summaries, welch_interval
from audit.output.errors import UsageError
from audit.output.names import METHODS
from audit.output.numbers import known
from audit.store import rows_of
from audit.viewer.counts import GROUP, REGRESSION, SALIENCE, Filter, filters_of
from audit.viewer.query import Query
from audit.vocabulary.methods import CONTROL
from audit.vocabulary.names import ordered

if TYPE_CHECKING:
    from audit.viewer.session import Session

SIDES: Final = ("variant", "condition")
"""What two sides can be of."""
REFERENCE: Final = "r2po"
"""What others are compared with where there is no control."""
METRICS: Final = ("best_return", "mean_return")

Stratum = tuple[str, str]
"""A condition or method, and a task: what both sides have in common."""
Tally = dict[int, tuple[int, int]]
"""How many revisions of each run have a property, and of how many."""


class Rate(NamedTuple):
    """A share of revisions.

    Attributes:
        title: what is counted.
        part: the filter of those that are.
        whole: the filter of those among which they are counted.
    """

    title: str
    part: Filter
    whole: Filter


_ALL: Final[Filter] = {}
_COMPARED: Final = {**SALIENCE, **REGRESSION}
RATES: Final = {
    "regressions": Rate("Regressions, of revisions", REGRESSION, _ALL),
    "improvements": Rate("Improvements, of revisions", {"direction": "improvement"}, _ALL),
    "citing": Rate("Answers that cite, of revisions", {**SALIENCE, "cites": "true"}, SALIENCE),
    "strict": Rate(
        "Salience regressions by the strict criterion, of regressions", {**_COMPARED, "strict": "true"}, _COMPARED
    ),
    "permissive": Rate(
        "Salience regressions by the permissive criterion, of regressions",
        {**_COMPARED, "permissive": "true"},
        _COMPARED,
    ),
}
"""What is compared, beside returns."""


def compare(session: Session, query: Query, by: str = "", a: str = "", b: str = "") -> dict[str, Any]:
    """Compare two conditions or two methods within each task, and within each method or condition.

    Args:
        session: the records.
        query: conditions, tasks and methods to be compared on; all without filters.
        by: variant or condition; whichever there are two of, if not given.
        a: the first one; if not given, of those with the most tasks in common with the second one whose critic was
            shown what is asked about, or else the first in the order of tables.
        b: the second one; if not given, among methods the control, or R2PO, where it has tasks in common with another.

    Returns:
        The choices that there are, and rows of returns and of rates with the filters of what each counts. A difference
        is that of `a` less `b`. Holm's correction is over the tasks of one measure.

    Raises:
        UsageError: there are no two, no such one, or a filter by another column.
    """
    if strange := [name for name, _ in query.filters if name not in GROUP]:
        raise UsageError(f"compare by {strange[0]}: filter by condition, env and variant alone")
    runs = [row for row in _runs(session) if all(str(row[name]) in values for name, values in query.filters)]
    choices = {name: sorted({row[name] for row in runs}) for name in SIDES}
    sides = _sides(session, query, choices, by, a, b)
    if sides is None:
        return {"choices": choices, "by": None, "returns": [], "rates": []}
    by, a, b = sides
    other = next(name for name in SIDES if name != by)
    return {
        "choices": choices,
        "by": by,
        "a": a,
        "b": b,
        "other": other,
        "returns": _corrected(row for metric in METRICS for row in _returns(runs, metric, by, other, (a, b))),
        "rates": _corrected(row for name in RATES for row in _rates(session, query, name, by, other, (a, b))),
    }


def _sides(
    session: Session, query: Query, choices: dict[str, list[str]], by: str, a: str, b: str
) -> tuple[str, str, str] | None:
    if by and by not in SIDES:
        raise UsageError(f"compare by {by!r}: give {' or '.join(SIDES)}")
    by = by or next((name for name in SIDES if len(choices[name]) > 1), "")
    if not by or len(choices[by]) < 2:
        return None
    for value in filter(None, (a, b)):
        if value not in choices[by]:
            raise UsageError(f"no {by} {value!r}; there are {', '.join(choices[by])}")
    if a and a == b:
        raise UsageError(f"{a!r} twice: give two different ones")
    if not (a and b):
        a, b = _worth_comparing(session, query, choices[by], by, a, b)
    return by, a, b


def _worth_comparing(
    session: Session, query: Query, choices: Sequence[str], by: str, a: str, b: str
) -> tuple[str, str]:
    """Two sides with revisions on the same tasks, the second preferably a control, the first one it is a control of."""
    other = next(name for name in SIDES if name != by)
    tasks: dict[str, set[Stratum]] = defaultdict(set)
    seen: dict[str, int] = defaultdict(int)
    for side, common, env, shown in session.table.grouped(query, [by, other, "env"], [filters_of(SALIENCE)]):
        tasks[side].add((common, env))
        seen[side] += shown

    def worth(pair: tuple[str, str]) -> tuple[bool, int, bool, int, bool]:
        first, second = pair
        shared = len(tasks[first] & tasks[second])
        control = {CONTROL: 2, REFERENCE: 1}.get(second, 0) if shared else 0
        return shared > 0, control, seen[first] > 0, shared, first not in (CONTROL, REFERENCE)

    pairs = permutations(ordered(choices, METHODS), 2)
    return max((pair for pair in pairs if a in ("", pair[0]) and b in ("", pair[1])), key=worth)


def _runs(session: Session) -> list[dict[str, Any]]:
    with session.lock:
        return rows_of(session.options.select(session.store.relation("runs")))


def _returns(
    runs: Sequence[dict[str, Any]], metric: str, by: str, other: str, sides: tuple[str, str]
) -> Iterable[dict[str, Any]]:
    """Welch's test of the runs' returns in each stratum."""
    values: dict[Stratum, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in runs:
        if row[by] in sides:
            value = row[metric]
            values[row[other], row["env"]][row[by]].append(math.nan if value is None else value)
    for (common, env), found in sorted(values.items()):
        first, second = (summarise(found[side]) for side in sides)
        test = welch_from_summaries(first, second)
        low, high = welch_interval(first, second)
        yield {
            "metric": metric,
            "env": env,
            other: common,
            **_summary("a", first),
            **_summary("b", second),
            "difference": known(first.mean - second.mean),
            "low": known(low),
            "high": known(high),
            "t": known(test.t),
            "df": known(test.df),
            "p": known(test.p),
            "links": _links(by, other, (common, env), sides, {"runs": _ALL}),
        }


def _summary(side: str, summary: Summary) -> dict[str, Any]:
    return {f"{side}_runs": summary.n, f"{side}_mean": known(summary.mean), f"{side}_std": known(summary.std)}


def _rates(
    session: Session, query: Query, name: str, by: str, other: str, sides: tuple[str, str]
) -> Iterable[dict[str, Any]]:
    """A difference of rates in each stratum, with errors that are robust to dependence within runs."""
    rate = RATES[name]
    chosen = Query(filters=(*query.filters, (by, sides)))
    rows = session.table.grouped(chosen, ["env", other, by, "run"], [filters_of(rate.part), filters_of(rate.whole)])
    tallies: dict[Stratum, dict[str, Tally]] = defaultdict(lambda: defaultdict(dict))
    for env, common, side, run, part, whole in rows:
        if whole:
            tallies[common, env][side][run] = (part, whole)
    for (common, env), found in sorted(tallies.items()):
        counts = {key: _counts(found[side]) for key, side in zip("ab", sides, strict=True)}
        test = _difference(found[sides[0]], found[sides[1]])
        cells = {"count": rate.part, "of": rate.whole}
        yield {
            "measure": name,
            "title": rate.title,
            "env": env,
            other: common,
            **{f"{key}_{column}": value for key, found in counts.items() for column, value in found.items()},
            "difference": known(100 * test.estimate),
            "low": known(100 * test.low),
            "high": known(100 * test.high),
            "is_rough": test.is_rough,
            "df": known(test.df),
            "p": known(test.p),
            "links": _links(by, other, (common, env), sides, cells),
        }


def _counts(tally: Tally) -> dict[str, float | None]:
    part, whole = (sum(each[place] for each in tally.values()) for place in (0, 1))
    return {"count": part, "of": whole, "pct": 100 * part / whole if whole else None, "runs": len(tally)}


def _difference(first: Tally, second: Tally) -> Coefficient:
    """The difference of two shares, by regressing each run's share on its side, weighted by its revisions.

    The estimate, and the CR2 standard error with runs as clusters, are those of the regression over single revisions.
    """
    tallies = [*first.values(), *second.values()]
    if not (first and second):
        return Coefficient(*[math.nan] * 6)
    is_first = [1.0] * len(first) + [0.0] * len(second)
    return cluster_robust(
        [part / whole for part, whole in tallies],
        [[1.0, side] for side in is_first],
        range(len(tallies)),
        weights=[whole for _, whole in tallies],
    )[1]


def _corrected(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with Holm's correction over the tasks of one measure and one of what both sides have in common."""
    found = list(rows)
    families = [tuple(value for name, value in row.items() if name in {"metric", "measure", *SIDES}) for row in found]
    p_values = [math.nan if row["p"] is None else row["p"] for row in found]
    for row, p, size in zip(found, *holm_within(p_values, families), strict=True):
        row |= {"holm_p": known(p), "family": int(size)}
    return found


def _links(
    by: str, other: str, stratum: Stratum, sides: tuple[str, str], cells: dict[str, Filter]
) -> dict[str, Filter]:
    common, env = stratum
    return {
        f"{key}_{column}": {"env": env, other: common, by: side, **chosen}
        for key, side in zip("ab", sides, strict=True)
        for column, chosen in cells.items()
    }

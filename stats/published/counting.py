"""Claims that count: tasks on which a method leads, tests that are significant, definitions that contradict.

Every function takes the published tables and the arguments that `claims.toml` gives it by name.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from stats.published.finding import Finding, Verdict, counted, every, exceeds
from stats.published.intervals import Interval, hull, point
from stats.published.printed import Printed
from stats.published.significance import ALPHA, recompute
from stats.published.source import Paper, Row
from stats.published.tables import METRICS, significance_tests
from stats.published.welch_bounds import df_bounds, exact_sample, p_bounds, sample, t_bounds


def tasks_ahead(
    paper: Paper,
    table: str,
    ours: str,
    others: Sequence[str],
    value: str = "mean",
    *,
    where: Mapping[str, str] | None = None,
    tasks: Sequence[str] | None = None,
    lower: bool = False,
    strictly: bool = False,
) -> Finding:
    """On how many tasks a method has a number at least as high as all others; or as low, or strictly so."""
    cases = {}
    for env in tasks or _tasks(paper, table):
        rows = list(paper.rows(table, environment=env, **(where or {})))
        mine = _of(rows, ours).number(value)
        theirs = [_of(rows, other).number(value) for other in others]
        pairs = [(their, mine) if lower else (mine, their) for their in theirs]
        sign = ("<" if lower else ">") + ("" if strictly else "=")
        against = ", ".join(their.text for their in theirs)
        cases[f"{env} (wanted {mine.text} {sign} {against})"] = every(
            exceeds(*pair, strictly=strictly) for pair in pairs
        )
    return counted(cases)


def tasks_ahead_by_some_measure(paper: Paper, tables: Sequence[str], **arguments: Any) -> Finding:
    """The same where the text does not name the table: what it is by any of them."""
    found = {table: tasks_ahead(paper, table, **arguments) for table in tables}
    notes = [f"by {table}: {each.note or 'all'}" for table, each in found.items()]
    return Finding(hull(x.found for x in found.values()), hull(x.face for x in found.values()), "; ".join(notes))


def smaller_gaps(paper: Paper, ours: str, others: Sequence[str]) -> Finding:
    """On how many tasks a method's mean best reward is closer to its mean reward than the others' are to theirs."""
    cases = {}
    for env in paper.environments():
        tables = [list(paper.rows(metric, environment=env)) for metric in METRICS]
        gaps = {name: _gap(*(_of(rows, name).number("mean") for rows in tables)) for name in (ours, *others)}
        mine, theirs = gaps[ours], [gaps[other] for other in others]
        against = ", ".join(their.text for their in theirs)
        cases[f"{env} ({mine.text} against {against})"] = every(exceeds(their, mine, strictly=True) for their in theirs)
    return counted(cases, named="its gap is not smaller on")


def _gap(mean: Printed, best: Printed) -> Printed:
    value = best.value - mean.value
    return Printed(str(value), value, best.interval - mean.interval)


def lead(paper: Paper, table: str, ours: str, others: Sequence[str]) -> Finding:
    """By how many tasks, on which it is strictly best of all, a method leads the next best of the others."""
    methods = (ours, *others)
    wins = {
        name: tasks_ahead(paper, table, name, [each for each in methods if each != name], strictly=True)
        for name in methods
    }
    low, high, face = (
        mine - max(theirs)
        for mine, theirs in (
            (wins[ours].found.low, [wins[other].found.high for other in others]),
            (wins[ours].found.high, [wins[other].found.low for other in others]),
            (wins[ours].face.low, [wins[other].face.low for other in others]),
        )
    )
    return Finding(Interval(low, high), point(face))


def significant(paper: Paper, metric: str, families: Sequence[str], *, rejected: bool = True) -> Finding:
    """How many of R2PO's tests are significant after Holm's correction, with R2PO ahead; or how many are not."""
    tests = significance_tests(paper, metric)
    cases = {}
    for test, found in zip(tests, recompute(tests), strict=True):
        if test.family not in families:
            continue
        stated, ahead = test.printed["holm_p"], found.gap
        verdict = Verdict(
            found.holm_p.high <= ALPHA and ahead.low > 0,
            found.holm_p.low <= ALPHA and ahead.high > 0,
            stated.value <= ALPHA and test.printed["gap"].value > 0,
        )
        cases[f"{test.item} (p = {stated.text})"] = verdict if rejected else _not(verdict)
    return counted(cases)


def _not(verdict: Verdict) -> Verdict:
    return Verdict(not verdict.possible, not verdict.certain, not verdict.face)


def clearly_behind(paper: Paper, table: str, ours: str, other: str, ahead_on: Sequence[str]) -> Finding:
    """On how many tasks but those `ahead_on` a method is behind another with p <= 0.05 in Welch's test, uncorrected."""
    cases = {}
    for env in _tasks(paper, table):
        if env in ahead_on:
            continue
        rows = list(paper.rows(table, environment=env))
        summaries = [
            (row.number("mean"), row.number("std"), row.count("runs")) for row in (_of(rows, ours), _of(rows, other))
        ]
        behind = exceeds(summaries[1][0], summaries[0][0], strictly=True)
        p_values = []
        for make in (sample, exact_sample):
            a, b = (make(*summary) for summary in summaries)
            p_values.append(p_bounds(t_bounds(a, b), df_bounds(a, b)))
        p, exact = p_values
        texts = " against ".join(f"{mean.text} ± {std.text}" for mean, std, _ in summaries)
        cases[f"{env} ({texts}, p = {float(exact.low):.2g})"] = Verdict(
            behind.certain and p.high <= ALPHA, behind.possible and p.low <= ALPHA, behind.face and exact.high <= ALPHA
        )
    return counted(cases, named="no clear difference on")


def in_lower_half(paper: Paper, table: str, methods: Sequence[str]) -> Finding:
    """In how many of their (task, method) cells some methods are in the lower half of all columns of the table."""
    cases = {}
    for env in _tasks(paper, table):
        rows = list(paper.rows(table, environment=env))
        for name in methods:
            mine = _of(rows, name).number("mean")
            above = [exceeds(row.number("mean"), mine, strictly=True) for row in rows if row["column"] != name]
            certain, possible, face = (sum(each[i] for each in above) for i in range(3))
            half = len(rows) // 2
            rank = f"{env}: {name} is number {face + 1} of {len(rows)}"
            cases[rank] = Verdict(certain >= half, possible >= half, face >= half)
    return counted(cases, named="in the upper half")


def thresholds_at_optimum(paper: Paper, tasks: Sequence[str]) -> Finding:
    """On how many tasks the revision threshold is the optimum: both are settings and no rounded results."""
    cases = {}
    for env in tasks:
        row = paper.row("thresholds", environment=env)
        equal = row.number("tau_c").value == row.number("optimum").value
        cases[f"{env} ({row['tau_c']}, optimum {row['optimum']})"] = Verdict(equal, equal, equal)
    return counted(cases, named="below it on")


def thresholds_run(paper: Paper, factors: Sequence[str]) -> Finding:
    """How many of some multiples of the default threshold were run on every task of the sensitivity analysis."""
    cases = {}
    for factor in factors:
        ran = True
        for row in paper.rows("tau_sensitivity", setting="default"):
            wanted = row.number("tau_c").value * Decimal(factor)
            settings = [each["tau_c"] for each in paper.rows("tau_sensitivity", environment=row["environment"])]
            ran = ran and any(_is(text, wanted) for text in settings)
        cases[f"{factor} times the default"] = Verdict(ran, ran, ran)
    return counted(cases, named="not run")


def _is(text: str, wanted: Decimal) -> bool:
    # "-inf" disables the rule and is a multiple of nothing.
    return not text.endswith("inf") and Decimal(text) == wanted


_STRICT: Final = "worst < median"
_DEFINITIONS: Final[Mapping[str, Callable[[int, int, int], bool]]] = {
    _STRICT: lambda worst, median, _best: worst < median,
    "worst <= median < best": lambda worst, median, best: worst <= median < best,
    "worst <= median and worst < best": lambda worst, median, best: worst <= median and worst < best,
}


def strict_but_not(paper: Paper, definition: str) -> Finding:
    """How many orders of worst, median and best are strict and yet left out by a definition of permissive."""
    del paper
    permits = _DEFINITIONS[definition]
    orders = [order for order in itertools.product(range(3), repeat=3) if list(order) == sorted(order)]
    ranks = {tuple(sorted(set(order)).index(value) for value in order) for order in orders}
    left_out = sorted(order for order in ranks if _DEFINITIONS[_STRICT](*order) and not permits(*order))
    count = point(len(left_out))
    return Finding(count, count, "; ".join(_relations(order) for order in left_out) or None)


def _relations(order: tuple[int, ...]) -> str:
    worst, median, best = order
    return f"worst {'<' if worst < median else '='} median {'<' if median < best else '='} best is strict"


def permissive_by_heading(paper: Paper) -> Finding:
    """Pong's permissive count as the table heads it, worst <= median < best, from the other counts.

    The printed count follows worst < best (the release has the same). From it the heading takes away what has worst <
    median = best: some of the strict ones, an unknown number. The table of agreement does not help: it has no row
    for three equal rollouts, though there were some, so that its rows hold others than they are headed.
    """
    counts = paper.row("salience_release", environment="pong")
    cited, strict = (counts.count(name) for name in ("worst_below_best_and_cited", "worst_below_median_and_cited"))
    found = Interval(Decimal(cited - strict), Decimal(cited))
    note = (
        f"by that heading it leaves out worst < median = best, which any of the {strict} strict ones may have; {cited} "
        "is the count with worst < best, the text's definition, which alone is sure to contain all strict ones"
    )
    return Finding(found, found, note)


def _tasks(paper: Paper, table: str) -> list[str]:
    return list(dict.fromkeys(row["environment"] for row in paper.tables[table]))


def _of(rows: Sequence[Row], name: str) -> Row:
    """The row of a column of the printed table, or of a method."""
    return next(row for key in ("column", "method", "setting") for row in rows if row.fields.get(key) == name)


FUNCTIONS: Final[Mapping[str, Callable[..., Finding]]] = {
    function.__name__: function
    for function in (
        tasks_ahead,
        tasks_ahead_by_some_measure,
        smaller_gaps,
        lead,
        significant,
        clearly_behind,
        in_lower_half,
        thresholds_at_optimum,
        thresholds_run,
        strict_but_not,
        permissive_by_heading,
    )
}

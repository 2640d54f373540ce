"""Expressions over the published tables, as `claims.toml` writes them.

An expression is a number, which is exact; the address of a cell; a list of an operation and its terms; or a table that
counts the cases in which some relations hold. Names in braces stand for what the case at hand has there.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, NamedTuple

from stats.published.intervals import Interval, highest, hull, point, total
from stats.published.printed import Printed, printed
from stats.published.significance import ALPHA, recompute
from stats.published.source import Paper, PublishedError
from stats.published.tables import significance_tests, summary
from stats.published.welch_bounds import df_bounds, exact_sample, p_bounds, sample, t_bounds

Expression = str | list[Any] | Mapping[str, Any]
Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """A recomputed number.

    `found` is all that it can be, `face` what it is if the printed numbers are exact, `note` what a reader of a
    contradiction should know, and `cell` what is printed where it is one.
    """

    found: Interval
    face: Interval
    note: str | None = None
    cell: Printed | None = None

    @property
    def printed(self) -> Printed:
        """The number as printed, or as it would be if it were: exact."""
        return self.cell or Printed(str(self.face.low), self.face.low, self.found)

    def __format__(self, form: str) -> str:
        """As printed, else at face value: an exact number in full, another in the given form."""
        if self.cell is not None:
            return self.cell.text
        low, high = self.face.low, self.face.high
        # The upper end of nothing is 0, the lower one -0: it is rounded down.
        return str(high) if low == high and not form else format(float(low), form or ".3g")


class Verdict(NamedTuple):
    """Whether something holds of printed numbers: whatever the rounding, for some rounding, and at face value."""

    certain: bool
    possible: bool
    face: bool


_OPERATIONS: Final[Mapping[str, Callable[..., Interval]]] = {
    "sum": lambda *terms: total(terms),
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "ratio": lambda a, b: a / b,
    "percent": lambda a, b: point(100) * a / b,
    "root": lambda a: a.root(),
    "highest": lambda *terms: highest(terms),
    "between": lambda *terms: hull(terms),
}


def evaluate(paper: Paper, expression: Expression, names: Names) -> Finding:
    """What an expression can be, and what it is if the printed numbers are exact.

    Args:
        paper: the published tables.
        expression: see `docs/stats.md`.
        names: what stands for names in braces.

    Raises:
        PublishedError: a cell is not there, or an operation not known.
    """
    if isinstance(expression, str):
        return _number(paper, expression.format(**names))
    if isinstance(expression, Mapping):
        return _count(paper, names, **expression)
    operation, *terms = expression
    if operation in _OF_ADDRESSES:
        return _OF_ADDRESSES[operation](paper, *(term.format(**names) for term in terms))
    if operation not in _OPERATIONS:
        raise PublishedError(f"operation {operation!r} is not one of {', '.join((*_OPERATIONS, *_OF_ADDRESSES))}")
    values = [evaluate(paper, term, names) for term in terms]
    found, face = (_OPERATIONS[operation](*ends) for ends in ([x.found for x in values], [x.face for x in values]))
    # Readings between which a number lies are told apart by their notes.
    notes = [value.note for value in values if value.note] if operation == "between" else []
    return Finding(found, face, "; ".join(notes) or None)


def evaluate_all(paper: Paper, expressions: Mapping[str, Expression], names: Names) -> dict[str, Finding]:
    """Expressions by name, for the text of a note."""
    return {name: evaluate(paper, expression, names) for name, expression in expressions.items()}


def _number(paper: Paper, text: str) -> Finding:
    if "/" not in text:
        return _exact(printed(text).value)
    return _printed(paper.cell(text))


def _printed(number: Printed) -> Finding:
    return Finding(number.interval, point(number.value), cell=number)


def _exact(value: Decimal | int) -> Finding:
    return Finding(point(value), point(value))


def _count(
    paper: Paper,
    names: Names,
    holds: list[list[Any]],
    over: Mapping[str, list[str]] | None = None,
    case: str = "{task} (wanted {this} {sign} {those})",
    fails: str = "not so",
    **given: Any,
) -> Finding:
    """In how many cases all of some relations hold; the note names the others.

    Args:
        paper: the published tables.
        names: what stands for names in braces around the cases.
        holds: relations, each a list of an expression, a sign and the expressions that it is compared with.
        over: values of the names that tell cases apart; by default `task`, all of them.
        case: how a case is named in the note, with its names, and of the first relation `this`, `sign` and `those`.
        fails: what the note says of the cases where they do not hold.
        **given: `with`, expressions whose values `case` has in braces.

    Raises:
        PublishedError: another key is given.
    """
    strange = sorted(given.keys() - {"with"})
    if strange:
        raise PublishedError(f"key {strange[0]!r} of a count is unknown")
    over = over or {"task": paper.environments()}
    verdicts, others = [], []
    for values in itertools.product(*over.values()):
        here = {**names, **dict(zip(over, values, strict=True))}
        relations = [_Relation.of(paper, relation, here) for relation in holds]
        verdict = _every(relation.verdict() for relation in relations)
        verdicts.append(verdict)
        if not verdict.face:
            first = relations[0]
            this = {"this": first.this, "sign": first.sign, "those": ", ".join(map(format, first.those))}
            others.append(case.format(**here, **this, **evaluate_all(paper, given.get("with", {}), here)))
    return _counted(verdicts, fails, others)


def _counted(verdicts: list[Verdict], fails: str, others: list[str]) -> Finding:
    low, high, face = (Decimal(sum(verdict[i] for verdict in verdicts)) for i in range(3))
    return Finding(Interval(low, high), point(face), f"{fails}: {', '.join(others)}" if others else None)


class _Relation(NamedTuple):
    """A number, a sign, and the numbers that it is compared with."""

    this: Finding
    sign: str
    those: list[Finding]

    @classmethod
    def of(cls, paper: Paper, relation: list[Any], names: Names) -> _Relation:
        this, sign, *those = relation
        return cls(evaluate(paper, this, names), sign, [evaluate(paper, each, names) for each in those])

    def verdict(self) -> Verdict:
        """Whether it holds of all; of `in`, which takes settings and no rounded results, of one of them."""
        if self.sign == "in":
            return Verdict(*[any(self.this.face == each.face for each in self.those)] * 3)
        return _every(_SIGNS[self.sign](self.this, each) for each in self.those)


def _above(a: Finding, b: Finding) -> Verdict:
    return Verdict(a.found.low > b.found.high, a.found.high > b.found.low, a.face.low > b.face.high)


def _not_below(a: Finding, b: Finding) -> Verdict:
    return Verdict(a.found.low >= b.found.high, a.found.high >= b.found.low, a.face.low >= b.face.high)


_SIGNS: Final[Mapping[str, Callable[[Finding, Finding], Verdict]]] = {
    ">": _above,
    ">=": _not_below,
    "<": lambda a, b: _above(b, a),
    "<=": lambda a, b: _not_below(b, a),
}


def _every(verdicts: Iterable[Verdict]) -> Verdict:
    """Whether all hold."""
    items = list(verdicts)
    return Verdict(*(all(each[i] for each in items) for i in range(3)))


def _p_value(paper: Paper, one: str, other: str) -> Finding:
    """The p-value of Welch's test of two rows with a mean, a standard deviation and a number of runs."""
    found, face = (
        p_bounds(t_bounds(a, b), df_bounds(a, b))
        for a, b in ((make(*summary(paper.at(row))) for row in (one, other)) for make in (sample, exact_sample))
    )
    return Finding(found, face)


def _rank(paper: Paper, address: str) -> Finding:
    """The place of a cell among those of its task in its table, the highest being the first."""
    table, _, column = address.split("/")
    row = paper.at(address)
    mine = _printed(row.number(column))
    others = [each for each in paper.rows(table, environment=row["environment"]) if each is not row]
    above = [_above(_printed(each.number(column)), mine) for each in others]
    certain, possible, face = (Decimal(1 + sum(each[i] for each in above)) for i in range(3))
    return Finding(Interval(certain, possible), point(face))


def _top(paper: Paper, *addresses: str) -> Finding:
    """The highest of the cells at some addresses, whose keys may pick several rows; the note names its method."""
    cells = [(row, row.number(address.split("/")[2])) for address in addresses for row in paper.matching(address)]
    row, number = max(cells, key=lambda cell: cell[1].value)
    return replace(_printed(number), note=row["method"])


def _significant(paper: Paper, metric: str, *families: str, rejected: bool = True) -> Finding:
    """How many of R2PO's tests of some families are significant after Holm's correction, with it ahead; or are not."""
    tests = significance_tests(paper, metric)
    verdicts, others = [], []
    for test, found in zip(tests, recompute(tests), strict=True):
        if test.family in families:
            p, gap = test.printed["holm_p"], test.printed["gap"]
            below = _not_below(_exact(ALPHA), Finding(found.holm_p, point(p.value)))
            ahead = _above(Finding(found.gap, point(gap.value)), _exact(0))
            both = _every([below, ahead])
            verdicts.append(both if rejected else Verdict(not both.possible, not both.certain, not both.face))
            if not verdicts[-1].face:
                others.append(f"{test.item} (p = {p.text})")
    return _counted(verdicts, "not so", others)


_OF_ADDRESSES: Final[Mapping[str, Callable[..., Finding]]] = {
    "p_value": _p_value,
    "rank": _rank,
    "top": _top,
    "significant": _significant,
    "not significant": functools.partial(_significant, rejected=False),
}

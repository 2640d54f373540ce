"""What an address asks of the table of revisions: filters, a search, an order and a page.

`env=cartpole&env=pong&strict=true&delta=..-10&pattern=&sort=-delta&q=worst` asks for revisions on two tasks of which
strict is true, delta is at most -10 and no pattern is known, and whose answer or thinking has the word; those with the
largest delta first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import unquote

from audit.output.errors import UsageError
from audit.vocabulary.keys import RevisionKey

PAGE: Final = 100
"""Revisions on a page of the table."""
MOST_TERMS: Final = 256
"""Values to filter by, columns to sort by, or chosen revisions that a query has at most, and columns in a list."""
DIGITS: Final = 18
"""Digits that a whole number has at most."""

Kind = Literal["name", "number", "boolean"]
Filters = tuple[tuple[str, tuple[str, ...]], ...]

RESERVED: Final = frozenset({"rows", "tag", "star", "q", "sort", "page", "columns", "facets", "by", "a", "b"})
"""Names in an address that are no columns."""
SEARCH: Final = 200
"""Characters that a search has at most."""
_TERM: Final = re.compile(r'(-(?=\S))?(?:"([^"]*)"?|(\S+))')
"""A phrase between quotation marks, or a word; after a minus sign, one that is not to be there."""


@dataclass(frozen=True)
class Query:
    """A part of the table of revisions.

    Attributes:
        filters: columns with the values that they may have: a name, true or false, a number, a range `low..high` of
            which either end may be left out, nothing for null; an exclamation mark before it means all others.
        search: words and phrases that the answer or its thinking has, whatever their case; see `terms`.
        sort: columns, with a minus sign before those that descend.
        page: from 1.
        tags: only revisions with one of these tags.
        starred: only revisions with a star.
        keys: only these revisions; None for any. Their keys are in addresses, since numbers of rows change as records
            grow: `rows=condition/task/method/run/3.5.8` has three iterations of a run.
    """

    filters: Filters = ()
    search: str = ""
    sort: tuple[str, ...] = ()
    page: int = 1
    tags: tuple[str, ...] = ()
    starred: bool = False
    keys: tuple[RevisionKey, ...] | None = None

    @classmethod
    def parse(cls, items: Sequence[tuple[str, str]], kinds: Mapping[str, Kind]) -> Query:
        """Read a query from an address.

        Args:
            items: its names and values, decoded.
            kinds: of the columns that there are.

        Raises:
            UsageError: no such column, or a value that its kind does not have.
        """
        filters: dict[str, list[str]] = {}
        for name, value in items:
            if name in RESERVED:
                continue
            _kind(name, kinds)
            filters.setdefault(name, []).append(value)
        _few(sum(map(len, filters.values())), "values to filter by")
        given = dict(items)
        sort = columns_in(given.get("sort", ""))
        for name in sort:
            _kind(name.removeprefix("-"), kinds)
        query = cls(tuple((name, tuple(values)) for name, values in filters.items()), given.get("q", ""), sort)
        if len(query.search) > SEARCH:
            raise UsageError(f"a search of {len(query.search):,} characters; {SEARCH} are the most")
        page = given.get("page", "1")
        if not _is_whole(page) or int(page) < 1:
            raise UsageError(f"page {page!r}: give a whole number from 1")
        query.where(kinds)
        tags = tuple(value for name, value in items if name == "tag")
        rows = [value for name, value in items if name == "rows"]
        keys = tuple(dict.fromkeys(key for each in rows for key in _keys(each))) if rows else None
        _few(len(keys or ()), "chosen revisions")
        return replace(query, page=int(page), tags=tags, starred=given.get("star") == "true", keys=keys)

    @property
    def terms(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Words and phrases that a text is to have, all of them, and those that it is not to have."""
        wanted: list[str] = []
        unwanted: list[str] = []
        for minus, phrase, word in _TERM.findall(self.search):
            if term := phrase or word:
                (unwanted if minus else wanted).append(term)
        return tuple(wanted), tuple(unwanted)

    def without(self, column: str) -> Query:
        """The same without the filter of one column."""
        return replace(self, filters=tuple(each for each in self.filters if each[0] != column))

    def where(self, kinds: Mapping[str, Kind]) -> tuple[str, list[Any]]:
        """The filters as a condition in SQL, and the values that it binds.

        Raises:
            UsageError: a value that its column's kind does not have.
        """
        parts: list[str] = []
        bound: list[Any] = []
        for name, values in self.filters:
            terms = []
            for value in values:
                term, more = _term(name, value, kinds[name])
                terms.append(term)
                bound += more
            parts.append(f"({' or '.join(terms)})")
        return " and ".join(parts) or "true", bound

    def order(self) -> str:
        """The order in SQL: nulls last, equals as they are numbered."""
        terms = [f'"{name.removeprefix("-")}" {"desc" if name[0] == "-" else "asc"} nulls last' for name in self.sort]
        return ", ".join([*terms, "id"])


def columns_in(text: str) -> tuple[str, ...]:
    """The columns of a list in an address.

    Raises:
        UsageError: more than any list needs.
    """
    columns = tuple(name for name in text.split(",") if name)
    _few(len(columns), "columns")
    return columns


def whole(text: str) -> int:
    """A whole number in an address.

    Raises:
        UsageError: it is none, or larger than all that are recorded.
    """
    if not _is_whole(text):
        raise UsageError(f"{text!r}: give a whole number of at most {DIGITS} digits")
    return int(text)


def _keys(text: str) -> list[RevisionKey]:
    """The revisions of one run that an address names."""
    parts = [unquote(part) for part in text.split("/")]
    numbers = [*parts[3:4], *"".join(parts[4:]).split(".")]
    if len(parts) != len(RevisionKey._fields) or not all(map(_is_whole, numbers)):
        raise UsageError(f"rows={text}: give condition/task/method/run/iterations, with dots between iterations")
    run, *iterations = map(int, numbers)
    _few(len(iterations), "chosen revisions")
    condition, env, variant = parts[:3]
    return [RevisionKey(condition, env, variant, run, iteration) for iteration in iterations]


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= DIGITS


def _few(number: int, what: str) -> None:
    if number > MOST_TERMS:
        raise UsageError(f"{number} {what}; {MOST_TERMS} are the most")


def _kind(name: str, kinds: Mapping[str, Kind]) -> Kind:
    if name not in kinds:
        raise UsageError(f"no column {name!r}")
    return kinds[name]


def _term(name: str, value: str, kind: Kind) -> tuple[str, list[Any]]:
    if value.startswith("!"):
        stated = value.lstrip("!")
        negations = len(value) - len(stated)
        _few(negations, f"exclamation marks before a value of {name}")
        term, bound = _term(name, stated, kind)
        return ("not " * negations + f"coalesce({term}, false)"), bound
    if value == "":
        return f'"{name}" is null', []
    if kind == "number":
        return _between(name, value)
    if kind == "boolean" and value not in {"true", "false"}:
        raise UsageError(f"{name}={value}: give true or false")
    return f'"{name}" = ?', [value == "true" if kind == "boolean" else value]


def _between(name: str, value: str) -> tuple[str, list[Any]]:
    low, dots, high = value.partition("..")
    if not dots:
        return f'"{name}" = ?', [_number(name, value)]
    ends = [(end, sign) for end, sign in ((low, ">="), (high, "<=")) if end]
    if not ends:
        return f'"{name}" is not null', []
    return " and ".join(f'"{name}" {sign} ?' for _, sign in ends), [_number(name, end) for end, _ in ends]


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise UsageError(f"{name}={text}: give a number, or a range such as -10..0")
    return number

"""All checks of the published numbers: identities of the tables, and claims of the text, both stated in files."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from collector.system.regular_files import read_regular
from stats.published.expressions import evaluate, evaluate_all
from stats.published.intervals import INFINITY, ZERO, Interval
from stats.published.printed import NotPrintedError, printed
from stats.published.results import Result, Status, compare, judge
from stats.published.significance import check_tests
from stats.published.source import LARGEST, Paper, PublishedError, Row, folder, read
from stats.published.tables import significance_tests, spreads

IDENTITIES: Final = "identities.toml"
_KEYS: Final = frozenset({"id", "where", "claim", "quantity", "published", "recompute", "unknown", "otherwise", "with"})
_RELATIONS: Final[Mapping[str, Callable[[Interval], Interval]]] = {
    "equals": lambda that: that,
    "at_least": lambda that: Interval(that.low, INFINITY),
    "at_most": lambda that: Interval(-INFINITY, that.high),
    "among": lambda that: Interval(ZERO, that.high),
}
"""What a number can be by what it is compared with."""


def check_paper(where: Path | None = None) -> list[Result]:
    """Recompute everything that the published tables and claims allow to be recomputed.

    Args:
        where: a folder with the tables and `claims.toml`; by default the published ones. Without `identities.toml` in
            it the published identities hold for it.

    Raises:
        stats.published.source.PublishedError: a file is missing or broken.
    """
    where = where or folder()
    paper = read(where)
    identities = next(path for place in (where, folder()) if (path := place / IDENTITIES).exists() or place != where)
    return [
        *_every(identities, "identity", lambda identity: _check_identity(paper, identity)),
        *_every(where / "claims.toml", "claim", lambda claim: [_check_claim(paper, claim)]),
    ]


def _every(path: Path, kind: str, check: Callable[[Mapping[str, Any]], Iterable[Result]]) -> Iterator[Result]:
    """The verdicts on all entries of a file."""
    try:
        entries = tomllib.loads(read_regular(path, LARGEST).decode()).get(kind, [])
    except OSError as error:
        raise PublishedError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise PublishedError(f"{path}: not TOML: {' '.join(str(error).split())}") from None
    if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
        raise PublishedError(f"{path}: no {path.stem}; each begins with [[{kind}]]")
    for entry in entries:
        try:
            yield from check(entry)
        except (NotPrintedError, PublishedError) as error:
            raise PublishedError(f"{_place(path, kind, entry)}: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            # Keys, names and expressions are a user's; Python's own message names the one that is wrong.
            raise PublishedError(f"{_place(path, kind, entry)}: {type(error).__name__}: {error}") from None


def _place(path: Path, kind: str, entry: Mapping[str, Any]) -> str:
    return f"{path}: {kind} {entry.get('id') or entry.get('rows') or 'without id'}"


def _check_identity(paper: Paper, identity: Mapping[str, Any]) -> Iterator[Result]:
    if "tests" in identity:
        yield from check_tests(f"significance_{identity['tests']}", significance_tests(paper, identity["tests"]))
    elif "spreads" in identity:
        yield from spreads(paper, identity["spreads"])
    else:
        for row in paper.rows(identity["rows"], **identity.get("where", {})):
            keys = identity["keys"].format(**row.fields)
            if "beside" not in identity or paper.matching(f"{identity['beside']}/{keys}"):
                for check in identity["checks"]:
                    yield _check_row(paper, row, identity, keys, check)


def _check_row(paper: Paper, row: Row, identity: Mapping[str, Any], keys: str, check: Mapping[str, Any]) -> Result:
    """The verdict on a number that belongs to a row."""
    number = check["number"]
    if isinstance(number, str) and "/" not in number:
        number = f"{identity['rows']}/{keys}/{number}"
    this = evaluate(paper, number, row.fields)
    relation = next(name for name in _RELATIONS if name in check)
    that = evaluate(paper, check[relation], row.fields)
    table, _, column = (number if isinstance(number, str) else "//").split("/")
    words = check.get("wrong") or _wrong(relation, check[relation])
    return compare(
        check.get("table", table),
        check.get("item", identity.get("item", keys.replace(",", "/"))).format(**row.fields),
        check.get("quantity", column).format(**row.fields),
        this.printed,
        _RELATIONS[relation](that.found),
        words.format(**{**row.fields, **evaluate_all(paper, check.get("with", {}), row.fields), "that": that}),
        that.face if relation == "equals" else None,
    )


def _wrong(relation: str, address: str) -> str:
    table, _, column = address.split("/")
    return f"more than {column}, which it is among" if relation == "among" else f"{table} has {{that}}"


def _check_claim(paper: Paper, claim: Mapping[str, Any]) -> Result:
    if "function" in claim:
        raise PublishedError(f"function {claim['function']!r}: a count is an expression now, see docs/stats.md")
    strange = sorted(set(claim) - _KEYS)
    if strange:
        raise PublishedError(f"key {strange[0]!r} is unknown")
    name, quantity, text = (str(claim[key]) for key in ("id", "quantity", "published"))
    about = f"{claim['claim']} ({claim['where']})"
    if "unknown" in claim:
        return Result("claims", name, quantity, Status.undecidable, text, note=f"{about}: {claim['unknown']}")
    finding = evaluate(paper, claim["recompute"], {})
    status = judge(printed(text), finding.found, face=finding.face, decides=False)
    reasons = []
    if status is not Status.consistent:
        is_open = "the printed numbers leave it open" if status is Status.undecidable else None
        reasons = list(filter(None, [is_open, _explained(paper, claim), finding.note]))
    note = ": ".join([about, "; ".join(reasons)]) if reasons else about
    return Result("claims", name, quantity, status, text, finding.found, note)


def _explained(paper: Paper, claim: Mapping[str, Any]) -> str | None:
    """The claim's `otherwise`, with the numbers that it names filled in."""
    if "otherwise" not in claim:
        return None
    return str(claim["otherwise"]).format(**evaluate_all(paper, claim.get("with", {}), {}))

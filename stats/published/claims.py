"""The claims of the text, from `claims.toml`: each with its number, and with how that is recomputed."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from collector.system.regular_files import read_regular
from stats.published.counting import FUNCTIONS
from stats.published.finding import Finding
from stats.published.intervals import Interval, highest, point, total
from stats.published.printed import NotPrintedError, printed
from stats.published.results import Result, Status, judge
from stats.published.source import LARGEST, Paper, PublishedError

Expression = str | list[Any]
"""A number, exact; the address of a cell; or a list of an operation and what it is done to."""

_OPERATIONS: Final[Mapping[str, Callable[..., Interval]]] = {
    "sum": lambda *terms: total(terms),
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "ratio": lambda a, b: a / b,
    "percent": lambda a, b: point(100) * a / b,
    "highest": lambda *terms: highest(terms),
}
_KEYS: Final = frozenset(
    {
        "id",
        "where",
        "claim",
        "quantity",
        "published",
        "recompute",
        "function",
        "arguments",
        "unknown",
        "otherwise",
        "with",
    }
)


def check_claims(paper: Paper, where: Path) -> Iterator[Result]:
    """The verdict on every claim of a folder's `claims.toml`.

    Raises:
        PublishedError: the file cannot be read, or a claim in it is invalid.
    """
    for claim in _read(where / "claims.toml"):
        try:
            yield _check(paper, claim)
        except (NotPrintedError, PublishedError) as error:
            raise PublishedError(f"{_place(where, claim)}: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError, StopIteration, RecursionError) as error:
            # Keys, arguments and expressions are a user's; Python's own message names the one that is wrong.
            raise PublishedError(f"{_place(where, claim)}: {type(error).__name__}: {error}") from None


def _place(where: Path, claim: Mapping[str, Any]) -> str:
    return f"{where / 'claims.toml'}: claim {claim.get('id', 'without id')}"


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        claims = tomllib.loads(read_regular(path, LARGEST).decode()).get("claim", [])
    except OSError as error:
        raise PublishedError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise PublishedError(f"{path}: not TOML: {' '.join(str(error).split())}") from None
    if not (isinstance(claims, list) and claims and all(isinstance(claim, dict) for claim in claims)):
        raise PublishedError(f"{path}: no claims; each begins with [[claim]]")
    return claims


def _check(paper: Paper, claim: Mapping[str, Any]) -> Result:
    strange = sorted(set(claim) - _KEYS)
    if strange:
        raise PublishedError(f"key {strange[0]!r} is unknown")
    name, quantity, text = (str(claim[key]) for key in ("id", "quantity", "published"))
    about = f"{claim['claim']} ({claim['where']})"
    if "unknown" in claim:
        return Result("claims", name, quantity, Status.undecidable, text, note=f"{about}: {claim['unknown']}")
    finding = _recompute(paper, claim)
    status = judge(printed(text), finding.found, face=finding.face, decides=False)
    reasons = []
    if status is not Status.consistent:
        is_open = "the printed numbers leave it open" if status is Status.undecidable else None
        reasons = list(filter(None, [is_open, _explained(paper, claim), finding.note]))
    note = ": ".join([about, "; ".join(reasons)]) if reasons else about
    return Result("claims", name, quantity, status, text, finding.found, note)


def _recompute(paper: Paper, claim: Mapping[str, Any]) -> Finding:
    if "function" in claim:
        return FUNCTIONS[claim["function"]](paper, **claim.get("arguments", {}))
    expression = claim["recompute"]
    return Finding(evaluate(paper, expression), evaluate(paper, expression, face=True))


def evaluate(paper: Paper, expression: Expression, *, face: bool = False) -> Interval:
    """All that an expression can be; or with `face` what it is if the printed numbers are exact.

    Raises:
        PublishedError: a cell is not there, or an operation not known.
    """
    if isinstance(expression, str):
        if "/" not in expression:
            return point(printed(expression).value)
        number = paper.cell(expression)
        return point(number.value) if face else number.interval
    operation, *terms = expression
    if operation not in _OPERATIONS:
        raise PublishedError(f"operation {operation!r} is not one of {', '.join(_OPERATIONS)}")
    return _OPERATIONS[operation](*(evaluate(paper, term, face=face) for term in terms))


def _explained(paper: Paper, claim: Mapping[str, Any]) -> str | None:
    """The claim's `otherwise`, with the numbers that it names filled in."""
    if "otherwise" not in claim:
        return None
    named: Mapping[str, Expression] = claim.get("with", {})
    values = {name: _shown(evaluate(paper, expression, face=True)) for name, expression in named.items()}
    return str(claim["otherwise"]).format(**values)


def _shown(interval: Interval) -> str:
    value = float(interval.low)
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"

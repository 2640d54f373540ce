"""All checks of the published numbers: identities of the tables, and claims of the text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from collector.system.regular_files import read_regular
from stats.published import revisions, tables
from stats.published.expressions import evaluate, evaluate_all
from stats.published.printed import NotPrintedError, printed
from stats.published.results import Result, Status, judge
from stats.published.source import LARGEST, Paper, PublishedError, folder, read

_KEYS: Final = frozenset({"id", "where", "claim", "quantity", "published", "recompute", "unknown", "otherwise", "with"})
CHECKS: Final = (
    tables.significance,
    tables.stability,
    tables.copies,
    tables.thresholds,
    tables.order,
    tables.extended_budget,
    tables.spreads,
    revisions.shares,
    revisions.salience,
    revisions.release,
    revisions.agreement,
)


def check_paper(where: Path | None = None) -> list[Result]:
    """Recompute everything that the published tables and claims allow to be recomputed.

    Args:
        where: a folder with the tables and `claims.toml`; by default the published ones.

    Raises:
        stats.published.source.PublishedError: a file is missing or broken.
    """
    where = where or folder()
    paper = read(where)
    found = [result for check in CHECKS for result in check(paper)]
    return [*found, *_check_claims(paper, where)]


def _check_claims(paper: Paper, where: Path) -> Iterator[Result]:
    """The verdict on every claim of a folder's `claims.toml`."""
    for claim in _read(where / "claims.toml"):
        try:
            yield _check_claim(paper, claim)
        except (NotPrintedError, PublishedError) as error:
            raise PublishedError(f"{_place(where, claim)}: {error}") from None
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            # Keys, names and expressions are a user's; Python's own message names the one that is wrong.
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

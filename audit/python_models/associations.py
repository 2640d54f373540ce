"""Computes `associations` and `association_tests`: do revisions that cite the worst rollout regress more often?

Intervals and tests respect that the revisions of a run depend on each other.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from audit.measures.association import Ratio, associate, robust_odds
from audit.output.numbers import known
from audit.python_models.batches import batches, write_lines

if TYPE_CHECKING:
    import duckdb

COUNTS: Final = ("citing_regressions", "other_regressions", "citing_others", "other_others")

Cell = tuple[str, str, str]


def write_associations(runs: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write risk and odds ratios, a line of JSON for each condition, task and method.

    Args:
        runs: a query for all of the relation `citing_by_run`, which was executed and not yet fetched.
        path: the file to write.
    """
    lines = []
    for cell, clusters in _clusters(runs).items():
        found = associate(clusters)
        ratios = {"risk_ratio": found.risk_ratio, "odds_ratio": found.odds_ratio}
        columns = {name: value for each in ratios.items() for name, value in _columns(*each).items()}
        lines.append({**_named(cell), "runs": len(clusters), **columns})
    write_lines(path, lines)


def write_tests(runs: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the second opinion, by logistic regression, with Holm's correction over the tasks of a method.

    Args:
        runs: see `write_associations`.
        path: the file to write.
    """
    from audit.measures.holm import holm_within

    found = {cell: robust_odds(clusters) for cell, clusters in _clusters(runs).items()}
    families = [(condition, variant) for condition, _, variant in found]
    adjusted, sizes = holm_within([opinion.p for opinion in found.values()], families)
    lines = []
    for (cell, opinion), p, size in zip(found.items(), adjusted, sizes, strict=True):
        columns = _columns("robust_odds_ratio", opinion.odds_ratio)
        del columns["robust_odds_ratio"]  # it equals the ratio of `associations`
        tests = {"robust_p": known(opinion.p), "holm_p": known(p), "family": int(size)}
        lines.append({**_named(cell), **columns, **tests})
    write_lines(path, lines)


def _clusters(runs: duckdb.DuckDBPyConnection) -> dict[Cell, list[list[int]]]:
    """The counts of each run, by condition, task and method; in order, whatever order the database gives."""
    found: dict[Cell, dict[int, list[int]]] = defaultdict(dict)
    for batch in batches(runs):
        for row in batch:
            found[row["condition"], row["env"], row["variant"]][row["run"]] = [row[name] for name in COUNTS]
    return {cell: [counts for _, counts in sorted(found[cell].items())] for cell in sorted(found)}


def _named(cell: Cell) -> dict[str, str]:
    return dict(zip(("condition", "env", "variant"), cell, strict=True))


def _columns(name: str, ratio: Ratio) -> dict[str, float | None]:
    return {name: known(ratio.value), f"{name}_low": known(ratio.low), f"{name}_high": known(ratio.high)}

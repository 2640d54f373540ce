"""Computes `associations` and `association_tests`: do revisions that cite the worst rollout regress more often?

Intervals and tests respect that the revisions of a run depend on each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.measures.association import Ratio, associate, robust_odds
from audit.measures.rounding import SHARE
from audit.output.numbers import known
from audit.python_models.batches import batches, write_lines

if TYPE_CHECKING:
    import duckdb

    from audit.measures.cluster_robust import Coefficient

COUNTS: Final = ("citing_regressions", "other_regressions", "citing_others", "other_others")
SHARES: Final = {
    "strict": ("strict", "regressions"),
    "permissive": ("permissive", "regressions"),
    "citing_regressions_pct": ("citing_regressions", "regressions"),
    "citing_improvements_pct": ("citing_improvements", "improvements"),
    "citing_no_change_pct": ("citing_no_change", "no_change"),
}
"""Shares that have an interval: of what is counted, and among what."""

Cell = tuple[str, str, str]
Run = dict[str, Any]


def write_associations(runs: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write ratios, the gap and shares with their intervals, a line of JSON for each condition, task and method.

    Args:
        runs: a query for all of the relation `citing_by_run`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_lines(path, ({**_named(cell), **_associated(clusters)} for cell, clusters in _clusters(runs).items()))


def write_tests(runs: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the second opinion, by logistic regression, with Holm's correction over the tasks of a method.

    Args:
        runs: see `write_associations`.
        path: the file to write.
    """
    from audit.measures.holm import holm_within

    found = {cell: robust_odds(_counts(clusters)) for cell, clusters in _clusters(runs).items()}
    families = [(condition, variant) for condition, _, variant in found]
    adjusted, sizes = holm_within([opinion.p for opinion in found.values()], families)
    lines = []
    for (cell, opinion), p, size in zip(found.items(), adjusted, sizes, strict=True):
        columns = _columns("robust_odds_ratio", opinion.odds_ratio)
        del columns["robust_odds_ratio"]  # it equals the ratio of `associations`
        tests = {"robust_p": known(opinion.p), "holm_p": known(p), "family": int(size)}
        lines.append({**_named(cell), **columns, **tests})
    write_lines(path, lines)


def _associated(runs: Sequence[Run]) -> dict[str, Any]:
    """The columns of one condition, task and method."""
    from audit.measures.cluster_robust import are_few

    ratios = associate(_counts(runs))
    gap = _gap(runs)
    shares = {name: _share(runs, *counts) for name, counts in SHARES.items()}
    columns = {
        "runs": len(runs),
        **_columns("risk_ratio", ratios.risk_ratio),
        **_columns("odds_ratio", ratios.odds_ratio),
        "gap": None if gap is None else known(100 * gap.estimate),
        **_ends("gap", gap, -100.0),
        **{end: value for name, share in shares.items() for end, value in _ends(name, share, 0.0).items()},
    }
    is_rough = {name: found is not None and found.is_rough for name, found in {"gap": gap, **shares}.items()}
    is_rough |= dict.fromkeys(("risk_ratio", "odds_ratio"), is_rough["gap"] or are_few(len(runs)))
    rough = [name for name in is_rough if is_rough[name] and columns[f"{name}_low"] is not None]
    return {**columns, "rough": rough}


def _gap(runs: Sequence[Run]) -> Coefficient | None:
    """The share of regressions among revisions that cite, less that among the others; None where all or none cite."""
    from audit.measures.cluster_robust import cluster_robust

    observed = [
        (place, cites, run[regressions], run[regressions] + run[others])
        for place, run in enumerate(runs)
        for cites, regressions, others in ((1.0, COUNTS[0], COUNTS[2]), (0.0, COUNTS[1], COUNTS[3]))
        if run[regressions] + run[others]
    ]
    if len({cites for _, cites, *_ in observed}) < 2:
        return None
    found = cluster_robust(
        [part / whole for *_, part, whole in observed],
        [[1.0, cites] for _, cites, *_ in observed],
        [place for place, *_ in observed],
        weights=[whole for *_, whole in observed],
    )[-1]
    # Equal shares leave a rounding error, which has a sign.
    return found._replace(estimate=0.0) if abs(found.estimate) < SHARE else found


def _share(runs: Sequence[Run], part: str, whole: str) -> Coefficient | None:
    """A share, which is the mean of those of runs, weighted by their revisions; None where nothing is counted."""
    from audit.measures.cluster_robust import clustered_mean

    counted = [run for run in runs if run[whole] and run[part] is not None]
    if not counted:
        return None
    values = [run[part] / run[whole] for run in counted]
    return clustered_mean(values, range(len(counted)), weights=[run[whole] for run in counted])


def _ends(name: str, found: Coefficient | None, least: float) -> dict[str, float | None]:
    """The interval in percent, within what there can be; nulls where it is not known."""
    low, high = (None, None) if found is None else (known(100 * found.low), known(100 * found.high))
    return {
        f"{name}_low": None if low is None else max(least, low),
        f"{name}_high": None if high is None else min(100.0, high),
    }


def _clusters(runs: duckdb.DuckDBPyConnection) -> dict[Cell, list[Run]]:
    """The counts of each run, by condition, task and method; in order, whatever order the database gives."""
    found: dict[Cell, dict[int, Run]] = defaultdict(dict)
    for batch in batches(runs):
        for row in batch:
            found[row["condition"], row["env"], row["variant"]][row["run"]] = row
    return {cell: [run for _, run in sorted(found[cell].items())] for cell in sorted(found)}


def _counts(runs: Sequence[Run]) -> list[list[int]]:
    return [[run[name] for name in COUNTS] for run in runs]


def _named(cell: Cell) -> dict[str, str]:
    return dict(zip(("condition", "env", "variant"), cell, strict=True))


def _columns(name: str, ratio: Ratio) -> dict[str, float | None]:
    return {name: known(ratio.value), f"{name}_low": known(ratio.low), f"{name}_high": known(ratio.high)}

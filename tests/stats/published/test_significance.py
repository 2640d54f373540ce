"""The paper's 60 printed Welch/Holm rows, recomputed from its printed means and standard deviations.

Every printed number represents an interval half a unit of its last digit to each side. A row is reproduced if the
printed t, raw p and Holm p meet what the intervals of its inputs allow.
"""

from __future__ import annotations

import csv
import itertools
from decimal import Decimal
from pathlib import Path

import pytest

from audit.measures.holm import holm
from audit.measures.summary import Summary
from audit.measures.welch import welch_from_summaries

ROOT = Path(__file__).resolve().parents[3]
PAPER = next((path for path in (ROOT / "data" / "paper", ROOT.parent / "shared" / "paper") if path.is_dir()), ROOT)
pytestmark = pytest.mark.skipif(
    PAPER == ROOT, reason="the paper's tables are neither in data nor beside the repository"
)

Row = dict[str, str]
METRICS = ["mean_reward", "best_reward"]


def read(name: str) -> list[Row]:
    with (PAPER / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def interval(printed: str) -> tuple[float, float]:
    """The numbers that print like this."""
    number = Decimal(printed)
    half = Decimal(5).scaleb(int(number.as_tuple().exponent) - 1)
    return float(number - half), float(number + half)


def corners(row: Row) -> list[Summary]:
    """The samples at the ends and in the middle of what a printed mean ± std allows."""
    means, deviations = interval(row["mean"]), interval(row["std"])
    return [
        Summary(mean, max(std, 0.0), int(row["runs"]))
        for mean in (*means, float(row["mean"]))
        for std in (*deviations, float(row["std"]))
    ]


def possible(metric: str, row: Row) -> tuple[tuple[float, float], tuple[float, float]]:
    """Smallest and largest t and raw p that the printed inputs of a row allow."""
    table = {(r["environment"], r["method"]): r for r in read(metric)}
    ours, theirs = table[row["environment"], "r2po"], table[row["environment"], row["baseline"]]
    tests = [welch_from_summaries(a, b) for a, b in itertools.product(corners(ours), corners(theirs))]
    return (min(x.t for x in tests), max(x.t for x in tests)), (min(x.p for x in tests), max(x.p for x in tests))


def meets(allowed: tuple[float, float], printed: str) -> bool:
    low, high = interval(printed)
    return allowed[0] <= high and low <= allowed[1]


@pytest.mark.parametrize("metric", METRICS)
def test_every_printed_t_and_raw_p_follows_from_the_printed_inputs(metric: str) -> None:
    rows = read(f"significance_{metric}")
    assert len(rows) == 30
    for row in rows:
        t, p = possible(metric, row)
        assert meets(t, row["welch_t"]), (row, t)
        assert meets(p, row["raw_p"]), (row, p)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("family", ["props", "propsplus", "sb3"])
def test_every_printed_holm_p_follows_from_the_printed_raw_p(metric: str, family: str) -> None:
    rows = [row for row in read(f"significance_{metric}") if row["baseline_family"] == family]
    assert len(rows) == 10
    # Holm's p-values grow with each raw p, so the ends of the inputs' intervals give the ends of the results'.
    low = holm([max(interval(row["raw_p"])[0], 0.0) for row in rows])
    high = holm([min(interval(row["raw_p"])[1], 1.0) for row in rows])
    for row, *allowed in zip(rows, low, high, strict=True):
        assert meets((allowed[0], allowed[1]), row["holm_p"]), (row, allowed)


@pytest.mark.parametrize(("metric", "significant"), [("mean_reward", 28), ("best_reward", 10)])
def test_as_many_comparisons_are_significant_as_the_paper_says(metric: str, significant: int) -> None:
    table = {
        (r["environment"], r["method"]): Summary(float(r["mean"]), float(r["std"]), int(r["runs"]))
        for r in read(metric)
    }
    rows = read(f"significance_{metric}")
    p = [welch_from_summaries(table[r["environment"], "r2po"], table[r["environment"], r["baseline"]]).p for r in rows]
    families = [row["baseline_family"] for row in rows]
    corrected = [holm([x for x, f in zip(p, families, strict=True) if f == family]) for family in set(families)]
    assert sum(int((family <= 0.05).sum()) for family in corrected) == significant

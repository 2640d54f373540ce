"""The paper's tables of tests."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from figures.paper.published import row_of, rows_of
from figures.paper.tables import paper_tables
from figures.tables import Table
from tests.figures.paper.paper_grid import MODEL, Cell, beside, best, datum, grid, made, pairs, read, sample, stems

Returns = dict[Cell, list[tuple[float, float]]]


def as_published() -> Returns:
    """Ten runs of each method in the paper's main tables, with exactly its means and standard deviations."""
    returns: Returns = {}
    for row in rows_of("mean_reward"):
        other = row_of("best_reward", environment=row["environment"], column=row["column"])
        assert other is not None
        assert other["method"] == row["method"]
        means, bests = (sample(float(r["mean"]), float(r["std"]), int(r["runs"])) for r in (row, other))
        returns[MODEL, row["environment"], row["method"]] = pairs(means, bests)
    return returns


@pytest.fixture(scope="module")
def published() -> dict[str, Table]:
    tables = paper_tables(grid(as_published())).tables
    return {table.stem.removeprefix("paper-"): table for table in tables}


def verdicts(table: Table, column: str) -> list[Any]:
    assert table.data is not None
    return [row["verdict"] for row in table.data if row["column"] == column]


def test_runs_with_the_published_means_and_spreads_give_the_published_tables(published: dict[str, Table]) -> None:
    for stem in ("mean-reward", "best-reward"):
        data, columns = published[stem].data, published[stem].columns[1:]
        assert data is not None
        assert [row["verdict"] for row in data] == ["same"] * 40
        for row in published[stem].rows:
            for column in columns:
                assert column.beside(row).removeprefix("paper ").removesuffix(": same") == column.read(row)
    for stem, significant in (("mean", 28), ("best", 10)):
        table = published[f"significance-{stem}-reward"]
        assert verdicts(table, "significant") == ["same"] * 30
        assert [row["Significant"] for row in table.displayed()].count("yes") == significant
        assert set(verdicts(table, "gap")) <= {"same", "compatible"}
        assert set(verdicts(table, "welch_t")) <= {"same", None}


def test_tests_are_welchs_corrected_over_the_tasks_of_each_baseline() -> None:
    r2po = {"pong": [2.5, 2.7, 2.2], "nim": [0.6, 0.7, 0.5], "maze": [0.8, 0.85, 0.9]}
    props = {"pong": [1.5, 2.6, 0.2], "nim": [0.1, -0.7, 0.55], "maze": [0.8, 0.8, 0.83]}
    returns: Returns = {(MODEL, env, "r2po"): pairs(values) for env, values in r2po.items()}
    returns |= {(MODEL, env, "props"): pairs(values) for env, values in props.items()}
    returns |= {(MODEL, "pong", "sb3-ppo"): pairs([1.0, 1.1]), (MODEL, "pong", "sb3-a2c"): pairs([0.0, 0.5])}
    table = made(grid(returns), "significance-mean-reward")
    tests = {env: scipy_stats.ttest_ind(r2po[env], props[env], equal_var=False) for env in r2po}
    corrected = dict(zip(tests, multipletests([t.pvalue for t in tests.values()], method="holm")[1], strict=True))
    for env, test in tests.items():
        assert datum(table, "welch_t", env=env, baseline="props")["value"] == pytest.approx(test.statistic)
        assert datum(table, "raw_p", env=env, baseline="props")["value"] == pytest.approx(test.pvalue)
        assert datum(table, "holm_p", env=env, baseline="props")["value"] == pytest.approx(corrected[env])
        assert datum(table, "significant", env=env, baseline="props")["value"] is bool(corrected[env] <= 0.05)
    against_sb3 = scipy_stats.ttest_ind(r2po["pong"], [1.0, 1.1], equal_var=False)
    row = read(table, env="pong", baseline="sb3")
    assert row["Baseline mean"] == "1.05 ± 0.07 (PPO), n = 2"
    # A family of one test: no correction.
    assert row["Raw p"] == row["Holm p"] == f"{against_sb3.pvalue:.4f}"
    assert best(table, env="pong", baseline="sb3") == {"R2PO mean"}


def test_a_correction_over_fewer_tasks_is_not_held_against_the_papers() -> None:
    returns: Returns = {
        (MODEL, "pong", "r2po"): pairs(sample(2.51, 0.21)),
        (MODEL, "pong", "props"): pairs(sample(0.74, 0.63)),
    }
    table = made(grid(returns), "significance-mean-reward")
    # 2.51 - 0.74 is 1.77, and t = 1.77 / sqrt((0.21^2 + 0.63^2) / 10) = 8.4285.
    assert beside(table, env="pong", baseline="props") == {
        "Baseline mean": "paper 0.74 ± 0.63: same",
        "R2PO mean": "paper 2.51 ± 0.21: same",
        "Gap": "paper 1.77: same",
        "Welch t": "paper 8.435",
        "Raw p": "paper 4.2e-06",
        "Holm p": "paper 1.7e-05",
        "Significant": "paper yes",
    }
    assert datum(table, "significant", baseline="props")["no_verdict_because"] == "other number of tasks"


def test_what_cannot_be_tested_is_a_dash_and_a_note() -> None:
    returns: Returns = {
        (MODEL, "pong", "r2po"): pairs([2.5, 2.7]),
        (MODEL, "pong", "props"): pairs([2.0]),
        (MODEL, "maze", "props"): pairs([0.1, 0.2]),
        (MODEL, "nim", "r2po"): pairs([1.0, 1.0]),
        (MODEL, "nim", "props"): pairs([0.5, 0.5]),
    }
    table = made(grid(returns), "significance-mean-reward")
    notes = {(row["env"], row["baseline"]): read(table, env=row["env"], baseline=row["baseline"]) for row in table.rows}
    assert notes["pong", "props"]["Note"] == "fewer than two runs"
    assert notes["pong", "props"]["Gap"] == "0.60"
    assert notes["pong", "props"]["Welch t"] == notes["pong", "props"]["Significant"] == "–"
    assert notes["maze", "props"]["Note"] == "no runs of the reference"
    assert notes["maze", "sb3"]["Note"] == "no runs of the baseline"
    assert notes["nim", "props"]["Note"] == "neither varies; t is infinite"
    assert notes["nim", "props"]["Raw p"] == "0"
    assert len(notes) == 9
    # There is no table where nothing can be compared.
    apart: Returns = {(MODEL, "pong", "r2po"): pairs([2.5, 2.7]), (MODEL, "maze", "props"): pairs([0.1, 0.2])}
    for returns in (apart, {(MODEL, "pong", "r2po"): pairs([2.5, 2.7])}, {(MODEL, "pong", "props"): pairs([2.5, 2.7])}):
        assert not any(stem.startswith("significance") for stem in stems(grid(returns)))

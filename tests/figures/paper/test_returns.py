"""The paper's tables of returns, from runs made by hand."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats as scipy_stats

from tests.figures.paper.paper_grid import MODEL, NAN, Cell, beside, best, datum, grid, made, pairs, read, sample, stems

Returns = dict[Cell, list[tuple[float, float]]]


def test_a_mean_stands_with_its_spread_beside_the_published_pair_and_a_verdict() -> None:
    returns: Returns = {
        (MODEL, "cartpole", "r2po"): pairs(sample(474.67, 16.90)),
        (MODEL, "cartpole", "props"): pairs(sample(300.0, 100.0)),
        (MODEL, "cartpole", "propsplus"): pairs(sample(20.0, 5.0)),
    }
    # Welch against 258.09 ± 138.58 and 253.06 ± 133.35 of ten runs.
    assert scipy_stats.ttest_ind_from_stats(300, 100, 10, 258.09, 138.58, 10, equal_var=False).pvalue > 0.05
    assert scipy_stats.ttest_ind_from_stats(20, 5, 10, 253.06, 133.35, 10, equal_var=False).pvalue < 0.05
    table = made(grid(returns), "mean-reward")
    assert read(table, env="cartpole") == {
        "Task": "CartPole",
        "ProPS": "300.00 ± 100.00",
        "ProPS+": "20.00 ± 5.00",
        "Best SB3": "–",
        "R2PO": "474.67 ± 16.90",
    }
    assert beside(table, env="cartpole") == {
        "ProPS": "paper 258.09 ± 138.58: compatible",
        "ProPS+": "paper 253.06 ± 133.35: differs",
        "Best SB3": "paper 216.92 ± 63.34 (TRPO)",
        "R2PO": "paper 474.67 ± 16.90: same",
    }
    assert best(table, env="cartpole") == {"R2PO"}
    assert "Over 10 runs." in table.note


def test_the_best_algorithm_is_chosen_by_the_metric_of_the_table() -> None:
    returns: Returns = {
        (MODEL, "nim", "sb3-a2c"): pairs([0.2, 0.4], [0.5, 0.5]),
        (MODEL, "nim", "sb3-ppo"): pairs([0.1, 0.2], [0.9, 0.7]),
        (MODEL, "nim", "sb3-dqn"): pairs([-1.0, -1.0], [0.6, 0.6]),
        (MODEL, "nim", "props"): pairs([0.25, 0.25], [0.75, 0.75]),
    }
    records = grid(returns)
    assert read(made(records, "mean-reward"), env="nim")["Best SB3"] == "0.30 ± 0.14 (A2C)"
    assert read(made(records, "best-reward"), env="nim")["Best SB3"] == "0.80 ± 0.14 (PPO)"
    assert read(made(records, "variants-mean-reward"), env="nim")["BestBaseline"] == "0.30 ± 0.14 (A2C)"
    extended = read(made(records, "extended-budget"), env="nim")
    # Standard error 0.1 / sqrt(2) * sqrt(2) / sqrt(2): std 0.1414 over the root of two runs.
    assert extended["Best SB3"] == "0.80 ± 0.10 (PPO)"
    assert extended["Second best SB3"] == "0.60 ± 0.00 (DQN)"
    assert extended["R2PO"] == "–"
    # ProPS may be the best baseline.
    returns = {
        (MODEL, "nim", "sb3-a2c"): pairs([0.0, 0.0]),
        (MODEL, "nim", "props"): pairs([0.5, 0.7]),
        (MODEL, "nim", "threetraj"): pairs([0.6, 0.8]),
    }
    table = made(grid(returns), "variants-mean-reward")
    assert read(table, env="nim")["BestBaseline"] == "0.60 ± 0.14 (ProPS)"
    assert beside(table, env="nim")["BestBaseline"] == "paper 0.01 ± 0.32 (A2C): differs"
    assert best(table, env="nim") == {"ThreeTraj"}


def test_all_that_tie_are_best_unless_it_is_the_whole_row() -> None:
    third = 1 / 3
    returns: Returns = {
        (MODEL, "maze", "r2po"): pairs([0.1 + 0.2, third]),
        (MODEL, "maze", "props"): pairs([0.3, third]),
        (MODEL, "maze", "propsplus"): pairs([0.3, 0.2]),
        (MODEL, "pong", "r2po"): pairs([0.1 + 0.2, third]),
        (MODEL, "pong", "props"): pairs([0.3, third]),
        (MODEL, "nim", "props"): pairs([0.3, 0.3]),
    }
    table = made(grid(returns), "mean-reward")
    assert best(table, env="maze") == {"R2PO", "ProPS"}
    assert best(table, env="nim") == best(table, env="pong") == set()
    # Values that print alike need not tie.
    returns = {(MODEL, "maze", "r2po"): pairs([0.971]), (MODEL, "maze", "props"): pairs([0.972])}
    table = made(grid(returns), "best-reward")
    assert (read(table, env="maze")["R2PO"], read(table, env="maze")["ProPS"]) == ("0.97", "0.97")
    assert best(table, env="maze") == {"ProPS"}


def test_what_runs_lack_is_noted() -> None:
    returns: Returns = {
        (MODEL, "pong", "r2po"): pairs([2.5]),
        (MODEL, "pong", "props"): pairs([0.7, 0.9]),
        (MODEL, "pong", "propsplus"): pairs([1.0, 1.4]),
    }
    table = made(grid(returns), "mean-reward")
    assert (read(table)["R2PO"], beside(table)["R2PO"]) == ("2.50, n = 1", "paper 2.51 ± 0.21")
    assert datum(table, "R2PO")["no_verdict_because"] == "fewer than two runs"
    assert "Over 2 runs, unless n states otherwise. No verdict for fewer than two runs." in table.note
    returns = {
        (MODEL, "pong", "r2po"): pairs([2.0, NAN, 3.0, math.inf], [3.0, NAN, 3.0, 3.0]),
        (MODEL, "pong", "props"): pairs([NAN, NAN]),
        (MODEL, "pong", "propsplus"): pairs([1.0, 2.0]),
    }
    table = made(grid(returns), "mean-reward")
    assert (read(table)["R2PO"], read(table)["ProPS"]) == ("2.50 ± 0.71", "–")
    assert (datum(table, "R2PO")["runs"], datum(table, "ProPS")["runs"]) == (2, 0)
    assert "Runs without a finite return, left out: R2PO on Pong; ProPS on Pong." in table.note
    cell = (MODEL, "pong", "r2po")
    table = made(grid({cell: pairs([2.0, 3.0])}, curves={cell: [[2.0, 2.0], [3.0]]}), "mean-reward")
    assert "Runs of unequal length: R2PO on Pong." in table.note
    note = made(grid({(MODEL, env, "r2po"): pairs([0.0]) for env in ("pong", "maze", "mine")}), "mean-reward").note
    assert "In the paper and not in these records: Nim, Swimmer, MountainCarContinuous, MountainCar," in note
    assert "Pong" not in note.split("not in these records")[1]
    values = list(np.random.default_rng(0).normal(size=7))
    tables = [made(grid({cell: pairs(v)}), "mean-reward").displayed() for v in (values, values[::-1])]
    assert tables[0] == tables[1]


def test_simulated_runs_get_no_verdict_but_real_ones_beside_them_do() -> None:
    returns: Returns = {
        ("sim", "pong", "r2po"): pairs(sample(2.51, 0.21)),
        ("sb3", "pong", "sb3-ppo"): pairs(sample(1.02, 0.74)),
    }
    table = made(grid(returns, simulated=["sim"]), "mean-reward")
    assert beside(table, env="pong")["R2PO"] == "paper 2.51 ± 0.21"
    assert beside(table, env="pong")["Best SB3"] == "paper 1.02 ± 0.74 (PPO): same"
    assert datum(table, "R2PO")["no_verdict_because"] == "simulated"
    assert "no agreement is to be expected" in table.note
    assert "Simulated model" in table.note
    assert "Stable-Baselines3 is taken from condition sb3." in table.note


def test_a_verdict_needs_the_papers_budget() -> None:
    cell = (MODEL, "pong", "r2po")
    for budget, has_verdict in ((4000, True), (3800, True), (4500, False), (2000, False)):
        table = made(grid({cell: pairs(sample(2.51, 0.21))}, budget=budget), "mean-reward")
        assert beside(table, env="pong")["R2PO"] == "paper 2.51 ± 0.21" + ": same" * has_verdict
        assert ("another budget" in table.note) is not has_verdict
    # One run of another is enough.
    curves = {cell: [[value] * (1 if run == 3 else 2) for run, value in enumerate(sample(2.51, 0.21))]}
    table = made(grid({cell: pairs(sample(2.51, 0.21))}, curves=curves), "mean-reward")
    assert beside(table, env="pong")["R2PO"] == "paper 2.51 ± 0.21"
    assert datum(table, "R2PO")["no_verdict_because"] == "other budget"


def test_an_impossible_standard_error_is_nothing_to_be_held_against() -> None:
    # 0.83 for ten returns between -1.15 and 1 with the mean 0.55: at most sqrt((1 - 0.55) (0.55 + 1.15) / 9) = 0.29.
    returns: Returns = {
        (MODEL, "maze", "props"): pairs(sample(0.55, 0.5)),
        (MODEL, "maze", "propsplus"): pairs(sample(0.9, 0.1)),
    }
    table = made(grid(returns, budget=8000), "extended-budget")
    assert beside(table, env="maze")["ProPS"] == "paper 0.55 ± 0.83"
    assert datum(table, "props")["no_verdict_because"] == "impossible spread"
    assert datum(table, "propsplus")["no_verdict_because"] is None
    assert "larger than ten such returns can have" in table.note


def test_the_extended_budget_is_each_columns_own() -> None:
    records = grid(
        {
            (MODEL, "pong", "r2po"): pairs(sample(3.0, 0.0)),
            (MODEL, "pong", "props"): pairs(sample(2.80, 0.26 * math.sqrt(10))),
        }
    )
    table = made(records, "extended-budget")
    assert beside(table, env="pong")["R2PO"] == "paper 3.00 ± 0.00: same"
    assert read(table, env="pong")["ProPS"] == "2.80 ± 0.26"
    # ProPS was published at 8000 rollouts, and these runs have 4000.
    assert beside(table, env="pong")["ProPS"] == "paper 2.80 ± 0.26"


def test_the_stability_gap_is_of_unrounded_returns_and_the_smallest_is_best() -> None:
    returns: Returns = {
        (MODEL, "cartpole", "r2po"): pairs([474.004, 475.004], [500.0, 500.0]),
        (MODEL, "cartpole", "props"): pairs([100.0, 200.0], [300.0, 350.0]),
    }
    table = made(grid(returns), "stability-gap")
    assert read(table, env="cartpole") == {"Task": "CartPole", "ProPS": "175.00", "ProPS+": "–", "R2PO": "25.50"}
    assert best(table, env="cartpole") == {"R2PO"}
    # Gaps 200 and 150: t = (175 - 169.655) / (35.36 * sqrt(1/2 + 1/10)), one degree of freedom.
    assert beside(table, env="cartpole")["ProPS"] == "paper 169.65: compatible"


def test_conditions_have_rows_of_their_own_and_settings_of_the_threshold_do_not() -> None:
    returns: Returns = {
        ("b", "pong", "r2po"): pairs([1.0, 1.0]),
        ("a", "pong", "r2po"): pairs([2.0, 2.0]),
        ("a+tau-half", "pong", "r2po"): pairs([3.0, 3.0]),
    }
    table = made(grid(returns), "mean-reward")
    assert [(row["Condition"], row["R2PO"]) for row in table.displayed()] == [
        ("a", "2.00 ± 0.00"),
        ("b", "1.00 ± 0.00"),
    ]


def test_baselines_are_lent_by_a_condition_of_their_own() -> None:
    model = f"{MODEL}+iterations-50"
    for lenders, taken in (
        (["sb3"], "sb3"),
        (["baselines"], "baselines"),
        (["sb3", "sb3+iterations-50"], "sb3+iterations-50"),
        (["sb3", "sb3+rollouts-5"], "sb3"),
        (["x", "y"], None),
    ):
        returns: Returns = {(condition, "pong", "sb3-ppo"): pairs([1.0]) for condition in lenders}
        table = made(grid({(model, "pong", "r2po"): pairs([2.0]), **returns}), "mean-reward")
        assert datum(table, "Best SB3")["records"] == taken, lenders
        assert {row["condition"] for row in table.rows} == {model}
    # By themselves they have a table too.
    assert read(made(grid({("sb3", "pong", "sb3-ppo"): pairs([1.0])}), "mean-reward"))["Best SB3"] == "1.00 (PPO)"


def test_only_what_records_fill_is_shown() -> None:
    assert stems(grid({(MODEL, "pong", "puresearch"): pairs([1.0, 2.0])})) == {
        "variants-mean-reward",
        "variants-best-reward",
        "episodes-to-threshold",
    }
    assert stems(grid({(MODEL, "unknown", "mine"): pairs([1.0, 2.0])})) == set()

"""The paper's thresholds, what other thresholds do, and how long it takes to reach them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from statsmodels.duration.survfunc import SurvfuncRight

from figures.paper.reaching import reaching
from tests.figures.paper.paper_grid import MODEL, beside, best, datum, grid, made, pairs, read, sample, stems

HALF, OFF = f"{MODEL}+tau-half", f"{MODEL}+tau-off"
R2PO = (MODEL, "cartpole", "r2po")


def test_thresholds_are_those_that_runs_had() -> None:
    cells = {R2PO: pairs([1.0]), (MODEL, "pong", "r2po"): pairs([1.0]), (MODEL, "maze", "props"): pairs([1.0])}
    table = made(grid(cells, tau_c={R2PO: 480.0, (MODEL, "pong", "r2po"): 1.4}, optimum=500.0), "thresholds")
    assert list(read(table, env="cartpole").values()) == ["CartPole", "480", "500"]
    assert beside(table, env="cartpole") == {"τ_c": "paper 480: same", "Optimum": "paper 500: same"}
    assert beside(table, env="pong") == {"τ_c": "paper 2.80: differs", "Optimum": "paper 3.00: differs"}
    assert read(table, env="maze")["τ_c"] == "–"
    # Of simulated runs as well.
    records = grid({R2PO: pairs([1.0])}, tau_c={R2PO: 480.0}, simulated=[MODEL])
    assert beside(made(records, "thresholds"))["τ_c"] == "paper 480: same"


def test_sensitivity_has_a_row_for_each_setting_and_default_is_the_condition_itself() -> None:
    half, other = (HALF, "cartpole", "r2po"), (f"{MODEL}+tau-100", "cartpole", "r2po")
    cells = {R2PO: pairs(sample(474.67, 16.90), [500.0] * 10), half: pairs([440.0, 450.0]), other: pairs([1.0])}
    table = made(grid(cells, tau_c={R2PO: 480.0, half: 240.0, other: 100.0}), "tau-sensitivity")
    assert [row["setting"] for row in table.rows] == ["default", "half", "disabled", "100"]
    assert list(read(table, setting="default").values())[2:] == ["480", "474.67 ± 16.90", "500.00 ± 0.00"]
    assert beside(table, setting="default") == {
        "τ_c": "paper 480: same",
        "Mean return": "paper 474.67 ± 16.90: same",
        "Best return": "paper 500.00 ± 0.00: same",
    }
    assert best(table, setting="default") == set()
    assert list(read(table, setting="half").values())[2:] == ["240", "445.00 ± 7.07, n = 2", "445.00 ± 7.07, n = 2"]
    assert list(read(table, setting="disabled").values())[2:] == ["–", "–", "–"]
    assert beside(table, setting="disabled")["τ_c"] == "paper −∞"
    assert list(read(table, setting="100").values())[2:] == ["100", "1.00, n = 1", "1.00, n = 1"]
    # No rule is a threshold of minus infinity.
    table = made(grid({(OFF, "pong", "r2po"): pairs([2.4, 2.5])}), "tau-sensitivity")
    assert (read(table, setting="disabled")["τ_c"], beside(table, setting="disabled")["τ_c"]) == (
        "−∞",
        "paper −∞: same",
    )
    assert read(table, setting="default")["Mean return"] == "–"
    assert "tau-sensitivity" not in stems(grid({R2PO: pairs([1.0, 2.0])}))


def test_a_run_reaches_a_threshold_where_it_first_keeps_such_a_return() -> None:
    iterations = pd.DataFrame(
        {
            "run": [1, 1, 1, 2, 2, 3, 3],
            "rollouts_spent": [40, 80, 120, 40, 80, 40, 80],
            "kept_return": [100.0, 480.0, 490.0, 500.0, 10.0, math.nan, 479.9],
        }
    )
    assert reaching(iterations, 480.0) == (80.0, 2, 3, 120.0)


def median_of(times: Sequence[float], censored: Sequence[int]) -> float:
    """The median of runs of one iteration each that reach the threshold then, or end then without."""
    frame = pd.DataFrame({"run": range(len(times)), "rollouts_spent": times, "kept_return": 1 - np.array(censored)})
    return reaching(frame, 1.0).median


def test_the_median_counts_runs_that_never_get_there() -> None:
    for times, censored, median in (
        ([3, 1, 2], [0, 0, 0], 2),
        ([1, 2, 3, 4], [0, 0, 0, 0], 2),
        ([5, 5, 5], [1, 1, 1], math.inf),
        ([1, 9, 9], [0, 1, 1], math.inf),
        ([1, 9], [0, 1], 1),
        # At 2 a half is left of three fifths that were: 4/5 at 1; the one that ends at 1.5 counts no more;
        # 4/5 * 2/3 = 8/15 at 2, 4/15 at 3.
        ([1, 1.5, 2, 3, 9], [0, 1, 0, 0, 1], 3),
    ):
        assert median_of(times, censored) == median, times
    for seed in range(20):
        generator = np.random.default_rng(seed)
        sample, ends = generator.integers(1, 15, 30), (generator.random(30) < 0.4).astype(int)
        theirs = SurvfuncRight(sample, 1 - ends).quantile(0.5)
        assert median_of(sample.tolist(), ends.tolist()) == (math.inf if math.isnan(theirs) else theirs)


def test_episodes_to_threshold_tell_how_many_runs_get_there() -> None:
    props, ppo, a2c = (MODEL, "cartpole", "props"), ("sb3", "cartpole", "sb3-ppo"), ("sb3", "cartpole", "sb3-a2c")
    curves = {
        R2PO: [[480.0, 500.0], [100.0, 500.0], [485.0, 0.0]],
        props: [[0.0, 500.0], [0.0, 0.0], [0.0, 0.0]],
        ppo: [[0.0, 0.0]],
        a2c: [[0.0, 499.0]],
    }
    records = grid({cell: pairs([1.0] * len(runs)) for cell, runs in curves.items()}, curves=curves)
    table = made(records, "episodes-to-threshold")
    assert read(table) == {
        "Task": "CartPole",
        "Threshold": "480",
        "ProPS": "> 4000 (1 of 3)",
        "Best SB3": "4000 (1 of 1) A2C, n = 1",
        "R2PO": "2000 (3 of 3)",
    }
    assert beside(table) == {"Best SB3": "paper ~4000", "R2PO": "paper ~500"}
    assert best(table) == {"R2PO"}
    assert (datum(table, "props")["reached"], datum(table, "props")["value"]) == (1, None)
    assert "No runs of ProPS+, PureSearch, ActorSecondPass," in table.note


def test_the_only_median_is_the_lowest_unless_another_method_ended_before_it() -> None:
    # R2PO gets there after 4000 rollouts; ProPS never, so that it is known to need more than it spent.
    props = (MODEL, "cartpole", "props")
    for iterations, stands_out in ((1, set()), (2, {"R2PO"}), (3, {"R2PO"})):
        curves = {R2PO: [[0.0, 500.0]], props: [[0.0] * iterations]}
        table = made(grid({cell: pairs([1.0]) for cell in curves}, curves=curves), "episodes-to-threshold")
        assert (read(table)["ProPS"], read(table)["R2PO"]) == (f"> {2000 * iterations} (0 of 1)", "4000 (1 of 1)")
        assert best(table) == stands_out, iterations


def test_the_threshold_is_r2pos_own_else_the_published_one_else_the_optimum() -> None:
    mine = (MODEL, "mine", "props")
    records = grid(
        {R2PO: pairs([1.0]), (MODEL, "pong", "props"): pairs([1.0]), mine: pairs([1.0])},
        tau_c={R2PO: 300.0},
        optimum=7.0,
    )
    table = made(records, "episodes-to-threshold")
    assert {row["env"]: read(table, env=row["env"])["Threshold"] for row in table.rows} == {
        "cartpole": "300",
        "pong": "2.8",
        "mine": "7",
    }

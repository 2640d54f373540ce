"""The paper's tables of revisions: what they did, salience, agreement, edit patterns, AlwaysCritic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest
from scipy import stats as scipy_stats

from figures.data import Records
from tests.figures.paper.paper_grid import MODEL, beside, best, datum, grid, made, pairs, read, stems

HARM = {"direction": "regression", "delta": -2.0}
HELP = {"direction": "improvement", "delta": 3.0}


def revised(
    variant: str, *runs: list[Mapping[str, Any]], env: str = "cartpole", simulated: bool = False, **others: Any
) -> Records:
    """Runs of one method with these revisions, and cells of other methods without any."""
    cells = {(MODEL, env, variant): pairs([1.0] * len(runs))} | others.get("cells", {})
    rows = [
        {"condition": MODEL, "env": env, "variant": variant, "run": run} | dict(row)
        for run, listed in enumerate(runs, start=1)
        for row in listed
    ]
    return grid(cells, revisions=[*rows, *others.get("rows", [])], simulated=[MODEL] if simulated else [])


def test_a_summary_counts_all_revisions_of_all_runs() -> None:
    records = revised(
        "threetraj",
        [HARM | {"edit_distance": 4, "accepted": False}, HELP | {"edit_distance": 1}, HELP | {"edit_distance": None}],
        [HARM | {"edit_distance": 5, "delta": -7.5, "accepted": False}],
    )
    table = made(records, "revision-summary")
    found = {row["metric"]: read(table, metric=row["metric"])["ThreeTraj"] for row in table.rows}
    # Changes -2, 3, 3, -7.5; known edit distances 4, 1, 5; two of four accepted and two regressions.
    assert found == {
        "mean_delta": "-0.88",
        "mean_edit_distance": "3.3",
        "accepted_pct": "50.0%",
        "regressions_pct": "50.0%",
    }
    assert read(table, metric="mean_delta")["RepTraj"] == "–"
    assert beside(table, metric="mean_delta")["RepTraj"] == "paper 16.0"
    assert datum(table, "threetraj", metric="mean_delta")["runs"] == 2


def test_the_spread_of_a_share_is_over_runs() -> None:
    # Two, one and no regressions of four: shares 50, 25 and 0 percent, their std 25; the paper's 30.4 in ten runs.
    runs = [[HARM] * harm + [HELP] * (4 - harm) for harm in (2, 1, 0)]
    table = made(revised("threetraj", *runs), "revision-summary")
    assert datum(table, "threetraj", metric="regressions_pct")["spread"] == pytest.approx(25)
    t = (30.35 - 25) / (25 * math.sqrt(1 / 3 + 1 / 10))
    assert 2 * scipy_stats.t.sf(t, 2) > 0.05
    assert beside(table, metric="regressions_pct")["ThreeTraj"] == "paper 30.4: compatible"


def test_runs_that_agree_and_are_elsewhere_differ_and_runs_that_do_not_vary_have_no_verdict() -> None:
    close = [[HARM] * 90 + [HELP] * 10, [HARM] * 91 + [HELP] * 9, [HARM] * 89 + [HELP] * 11]
    table = made(revised("threetraj", *close), "revision-summary")
    assert beside(table, metric="regressions_pct")["ThreeTraj"] == "paper 30.4: differs"
    table = made(revised("threetraj", [HARM], [HARM]), "revision-summary")
    assert beside(table, metric="regressions_pct")["ThreeTraj"] == "paper 30.4"
    assert datum(table, "threetraj", metric="regressions_pct")["no_verdict_because"] == "no spread"
    assert "No verdict where runs do not vary" in table.note


def test_the_best_of_a_row_depends_on_what_it_tells() -> None:
    other = {"condition": MODEL, "env": "cartpole", "variant": "r2po", "run": 1}
    records = revised(
        "threetraj",
        [HARM | {"edit_distance": 1}],
        cells={(MODEL, "cartpole", "r2po"): pairs([1.0])},
        rows=[other | HELP | {"edit_distance": 7}],
    )
    table = made(records, "revision-summary")
    bests = {row["metric"]: best(table, metric=row["metric"]) for row in table.rows}
    assert bests == {
        "mean_delta": {"R2PO"},
        "mean_edit_distance": {"ThreeTraj"},
        "accepted_pct": set(),
        "regressions_pct": {"R2PO"},
    }


def test_edit_patterns_are_of_all_revisions_and_absent_ones_are_none() -> None:
    fine = HELP | {"pattern": "fine_tune"}
    table = made(revised("r2po", [fine, HARM | {"pattern": "other_regression"}], [{}, {}]), "edit-patterns")
    assert read(table, pattern="fine_tune")["R2PO"] == "25.0%"
    assert read(table, pattern="near_optimal_break")["R2PO"] == "0.0%"
    assert beside(table, pattern="fine_tune")["R2PO"] == "paper 13.4: compatible"
    # Where none can be known none are counted.
    assert "edit-patterns" not in (found := stems(revised("r2po", [HARM, HELP], [{}])))
    assert "revision-summary" in found


def test_salience_is_of_regressions_and_these_of_revisions() -> None:
    strict = HARM | {"strict": True, "permissive": True}
    loose = HARM | {"strict": False, "permissive": True}
    help_ = HELP | {"strict": False, "permissive": False}
    table = made(revised("threetraj", [strict, loose, help_], [strict, HARM, help_, help_]), "salience")
    assert read(table) == {
        "Task": "CartPole",
        "Revisions": "7",
        "Regressions": "4 (57.1%)",
        "Strict": "2 (50.0%)",
        "Permissive": "3 (75.0%)",
    }
    # Regressions of the runs: 2 of 3 and 2 of 4.
    assert beside(table) == {
        "Revisions": "paper 1000",
        "Regressions": "paper 304 (30.4%): compatible",
        "Strict": "paper 233 (76.6%)",
        "Permissive": "paper 233 (76.6%): compatible",
    }
    assert datum(table, "strict")["count"] == 2
    assert datum(table, "strict")["value"] == pytest.approx(50)


def test_only_the_same_counts_are_the_same() -> None:
    # 30.4 percent of 1000 in ten runs, and of 125 in two: 19 of 62 and 19 of 63.
    many = [[HARM] * harm + [HELP] * (100 - harm) for harm in [31] * 4 + [30] * 6]
    assert beside(made(revised("threetraj", *many), "salience"))["Regressions"] == "paper 304 (30.4%): same"
    few = [[HARM] * 19 + [HELP] * 43, [HARM] * 19 + [HELP] * 44]
    assert beside(made(revised("threetraj", *few), "salience"))["Regressions"] == "paper 304 (30.4%): compatible"
    # No regressions at all have no share, and that is no reason for no verdict.
    table = made(revised("threetraj", [HELP], [{}]), "salience")
    assert (read(table)["Regressions"], read(table)["Strict"]) == ("0 (0.0%)", "–")
    assert datum(table, "strict")["value"] is datum(table, "strict")["no_verdict_because"] is None
    table = made(revised("threetraj", [HARM, HELP], [HARM], simulated=True), "salience")
    assert beside(table)["Regressions"] == "paper 304 (30.4%)"
    assert "no agreement is to be expected" in table.note


def test_agreement_is_published_for_pong_alone() -> None:
    together = HELP | {"structure": "failure_confirmed"}
    alike = HARM | {"structure": "identical"}
    for env, published in (
        ("pong", {"Revisions": "paper 491 (49.1%)", "Mean Δ": "paper 0.62"}),
        ("maze", {}),
    ):
        table = made(revised("threetraj", [together, alike], [together, together, alike], env=env), "agreement")
        # Three of five; their changes are all 3, and so without a spread.
        row = read(table, structure="failure_confirmed")
        assert (row["Revisions"], row["Mean Δ"]) == ("3 (60.0%)", "3.00")
        assert beside(table, structure="failure_confirmed") == published
        assert read(table, structure="all_diverse")["Revisions"] == "0 (0.0%)"
        assert read(table, structure="all_diverse")["Mean Δ"] == "–"
        assert read(table, structure="identical")["Revisions"] == "2 (40.0%)"
        # The paper's three rows hold identical rollouts as well.
        reason = datum(table, "revisions", structure="failure_confirmed")["no_verdict_because"]
        assert reason == ("other rows" if published else None)


def test_what_the_text_says_of_alwayscritic() -> None:
    broken = HARM | {"pattern": "near_optimal_break"}
    other = HELP | {"pattern": "other_improvement"}
    table = made(revised("alwayscritic", [broken, other, other], [broken, broken, other]), "always-critic")
    assert list(read(table).values()) == ["CartPole", "50.0%", "50.0%", "0.0%"]
    assert beside(table)["Pure stochasticity"] == "paper <1: same"
    assert beside(table)["Near-optimal break"].startswith("paper 14.2: ")
    assert datum(table, "pure_stochasticity_pct")["published"] == "<1"

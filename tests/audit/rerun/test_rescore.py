"""`audit rescore`: fresh means against exact values by dynamic programming, luck, and results that are kept."""

from __future__ import annotations

import json
import sqlite3

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.rerun.results import NAME, Results
from tests.audit.samples import THRESHOLDS, candidate, episode, write_run
from tests.collector.helpers import collect, spec

OPTIMAL = (0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0)
POOR = (2, 2, 1, 0, 1, 0, 1, 0, 2, 1, 1, 0, 0, 2, 2, 0)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "cache"))


def rescore(*arguments):
    result = CliRunner().invoke(app, ["rescore", *map(str, arguments), "--format", "json"])
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout), result.stderr


def value_of(policy):
    """The exact chance to reach FrozenLake's goal within 100 steps."""
    transitions = gymnasium.make("FrozenLake-v1").unwrapped.P
    value = np.zeros(16)
    for _ in range(100):
        value = np.array(
            [
                sum(
                    p * (reward + (0 if done else value[after]))
                    for p, after, reward, done in transitions[state][action]
                )
                for state, action in enumerate(policy)
            ]
        )
    return value[0]


def lucky_records(folder):
    """Two runs; each iteration keeps the candidate with the luckier rollouts."""
    for run in (1, 2):
        rows = []
        for iteration, (first, second) in enumerate([((1, 1, 1, 1), (0, 0, 1, 0)), ((1, 0, 0, 1), (1, 1, 1, 0))]):
            initial = candidate(first, OPTIMAL if iteration else POOR)
            revised = candidate(second, POOR if iteration else OPTIMAL, source="critic")
            rows.append(episode(initial, revised, env="frozenlake", run=run, iteration=iteration))
        write_run(folder / str(run), rows, step_size=None, optimum=1.0)
    return folder


def test_fresh_means_are_the_policies_values(tmp_path):
    rows, told = rescore(lucky_records(tmp_path / "data"), "--rollouts", 4000, "--each")
    assert "2 policies, 4000 rollouts each" in told
    assert len(rows) == 8
    for row in rows:
        policy = OPTIMAL if (row["candidate"] == "initial") == (row["iteration"] == 1) else POOR
        assert abs(row["fresh"] - value_of(policy)) < 4.5 * row["fresh_se"]
        assert row["fresh_se"] == pytest.approx((row["fresh"] * (1 - row["fresh"]) / 3999) ** 0.5)


def test_luck_is_recorded_minus_fresh_by_hand(tmp_path):
    data = lucky_records(tmp_path / "data")
    candidates, _ = rescore(data, "--rollouts", 500, "--each")
    fresh = {row["candidate"]: row["fresh"] for row in candidates if row["iteration"] == 0}
    poor, optimal = fresh["initial"], fresh["revised"]
    [row], _ = rescore(data, "--rollouts", 500)
    # Kept: the poor policy with 4 of 4, then the poor one again with 3 of 4.
    assert (row["mean_recorded"], row["mean_fresh"]) == (0.875, pytest.approx(poor))
    assert row["mean_luck"] == pytest.approx(0.875 - poor)
    assert (row["best_recorded"], row["best_luck"]) == (1, pytest.approx(1 - poor))
    assert (row["initial_recorded"], row["initial_fresh"]) == (0.75, pytest.approx((poor + optimal) / 2))
    assert (row["revised_recorded"], row["revised_fresh"]) == (0.5, pytest.approx((poor + optimal) / 2))
    assert (row["regressions_pct"], row["regressions_fresh_pct"]) == (50, 50)
    assert (row["kept_worse"], row["kept_worse_pct"], row["runs"], row["iterations"]) == (4, 100, 2, 4)
    # Both runs are the same, so the interval is a point.
    assert row["mean_luck_low"] == pytest.approx(row["mean_luck"]) == pytest.approx(row["mean_luck_high"])


def test_one_policy_has_one_score_wherever_it_is_and_the_second_time_nothing_is_run(tmp_path):
    data, renamed = lucky_records(tmp_path / "a"), lucky_records(tmp_path / "b")
    for path in renamed.glob("*/*.json*"):
        path.write_text(path.read_text().replace('"condition": "hand"', '"condition": "other"'))
    [hand, other], told = rescore(data, renamed, "--rollouts", 60)
    assert "2 policies" in told
    assert {**hand, "condition": ""} == {**other, "condition": ""}
    again, told_again = rescore(data, renamed, "--rollouts", 60)
    assert again == [hand, other]
    assert "policies" not in told_again
    assert rescore(data, renamed, "--rollouts", 60, "--no-cache") == (again, told)
    assert rescore(data, renamed, "--rollouts", 60, "--seed", 1)[0] != again


def test_a_sample_holds_each_runs_best(tmp_path):
    collect(spec("frozenlake", "r2po", iterations=12), tmp_path / "data")
    whole, _ = rescore(tmp_path / "data", "--rollouts", 30)
    part, _ = rescore(tmp_path / "data", "--rollouts", 30, "--sample", 2)
    assert part[0]["iterations"] in {2, 3}
    assert [part[0][key] for key in ("best_recorded", "best_fresh")] == [
        whole[0][key] for key in ("best_recorded", "best_fresh")
    ]


def test_what_cannot_be_run_is_told_and_the_rest_is_scored(tmp_path):
    lucky_records(tmp_path / "data")
    own = episode(candidate([1, 2, 3]), env="elsewhere", variant="props")
    write_run(tmp_path / "data" / "own", [own], thresholds=THRESHOLDS)
    baseline = candidate([1, 2, 3], (), source="baseline", answer=None)
    write_run(tmp_path / "data" / "network", [episode(baseline, env="frozenlake", variant="sb3-ppo", evidence=None)])
    odd = episode(candidate([1, 1, 1], (9.0,) * 3), env="frozenlake", variant="props")
    write_run(tmp_path / "data" / "odd", [odd])
    rows, told = rescore(tmp_path / "data", "--rollouts", 20)
    assert [row["variant"] for row in rows] == ["threetraj"]
    assert "task elsewhere is not known here" in told
    assert "a baseline's policy is a network" in told
    assert "3 parameters given, 16 needed: hand frozenlake props" in told


def test_a_cache_that_is_no_cache_costs_nothing_but_time(tmp_path):
    data, path = lucky_records(tmp_path / "data"), tmp_path / "cache" / NAME
    path.mkdir(parents=True)
    rows, told = rescore(data, "--rollouts", 20)
    assert "going on without" in told
    path.rmdir()
    path.write_bytes(b"no database " * 100)
    again, told = rescore(data, "--rollouts", 20)
    assert again == rows
    assert "going on without" not in told


def test_results_are_shared_and_old_damaged_and_unsealed_ones_go(tmp_path, monkeypatch):
    def changed(*statements):
        with sqlite3.connect(tmp_path / NAME) as database:
            for statement in statements:
                database.execute(statement)
        database.close()

    values = {"one": "1.5", "two": "2.5", "three": "3.5"}
    with Results(tmp_path) as results, Results(tmp_path) as other:
        results.keep(values)
        assert other.find(list(values)) == values
        other.keep({"four": "4.5"})
        assert results.find(["four", "absent"]) == {"four": "4.5"}
    changed(
        "update results set value = replace(value, '1.5', '1.6') where key = 'one'",
        "update results set value = (select value from results where key = 'three') where key = 'two'",
        "insert into results values ('of an earlier version', '1.5')",
    )
    monkeypatch.setattr("audit.rerun.results.MOST", 1000)
    with Results(tmp_path) as results:
        assert results.find([*values, "of an earlier version"]) == {"three": "3.5"}
        results.keep({"one": "7.5"} | {f"key {number}": str(number) for number in range(1500)})
        assert results.find(["one", "key 3", "key 1499"]) == {"one": "7.5", "key 3": "3", "key 1499": "1499"}
    with sqlite3.connect(tmp_path / NAME) as database:
        query = "select count(*), min(cast(substr(value, 33) as integer)) from results"
        assert database.execute(query).fetchone() == (1000, 500)

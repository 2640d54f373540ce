"""The comparison of ways to choose τ_c: its arms do what their names state, and it goes on where it was stopped."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from audit.measures.holm import holm
from benchmarks import tau
from collector.revision_rule import RULES
from collector.search import first_prompt
from tests.collector.helpers import collect, lines


def records(arm, mode, tmp_path, env="cartpole", iterations=6):
    return lines(collect(tau.spec_of(arm, mode, env, 1, iterations=iterations), tmp_path) / "episodes.jsonl")


@pytest.mark.parametrize("env", ["cartpole", "mountaincarcontinuous", "nim"])
def test_always_restrains_in_every_iteration(env, tmp_path):
    found = records("always", "better", tmp_path, env)
    assert {record["restrained"] for record in found} == {True}
    assert all(record["initial"]["mean_return"] >= record["tau_c"] for record in found)


def test_the_placebo_states_numbers_from_the_range_the_same_each_time(tmp_path):
    found = [record["tau_c"] for record in records("random", "better", tmp_path / "a")]
    assert found == [record["tau_c"] for record in records("random", "better", tmp_path / "b")]
    assert len(set(found)) == len(found)
    assert 0 <= min(found) < max(found) <= 500


def test_without_selection_every_revision_is_kept(tmp_path):
    for mode, wanted in (("revised", {"revised"}), ("better", {"initial", "revised"})):
        assert {record["selected"] for record in records("off", mode, tmp_path / mode, iterations=12)} == wanted


def test_arms_of_a_run_start_alike():
    specs = [tau.spec_of(arm, mode, "nim", 2) for arm in tau.ARMS for mode in tau.MODES]
    assert {spec.purpose for spec in specs} == {("nim", "r2po", 2)}
    assert len({first_prompt(spec, [], 0) for spec in specs}) == 1


def test_other_constants_move_one_at_a_time():
    specs = {arm: tau.spec_of(arm, "better", "nim", 1) for arm in tau.MOVED}
    assert {spec.condition for spec in specs.values()} == set(tau.MOVED)
    for spec in specs.values():
        usual = RULES[spec.tau_rule.id].options
        moved = [value / usual[name] for name, value in spec.tau_rule.options.items() if value != usual[name]]
        assert len(moved) == 1
        assert 0.4 <= moved[0] <= 0.5 or 1.4 <= moved[0] <= 1.5


def test_outcomes_are_of_fresh_seeds():
    row = tau.measure("off", "better", "maze", 1, iterations=4, fresh=20)
    assert row.keys() >= {"kept", "recorded", "best", "harm", "unchanged", "revisions"}
    # The maze is deterministic, so that fresh returns are the recorded ones.
    assert row["kept"] == pytest.approx(row["recorded"])
    assert row["revisions"] == 4


def made_up(size=0.02):
    rng = np.random.default_rng(1)
    return [
        {"mode": "better", "env": env, "run": run, "arm": arm, "kept": (run + size * number * rng.random()) / 10,
         "recorded": run / 10 + 0.05, "best": 0.5, "harm": 0.25, "unchanged": number / 10}
        for env in ("frozenlake", "nim") for run in range(1, 9) for number, arm in enumerate(tau.ARMS)
    ]  # fmt: skip


def test_the_summary_pairs_runs_and_corrects_over_tasks():
    rows = made_up()
    found = tau.summary(rows, "record")
    values = {
        env: [[row["kept"] for row in rows if (row["env"], row["arm"]) == (env, arm)] for arm in ("record", "off")]
        for env in ("frozenlake", "nim")
    }
    # A point is a hundredth of the range: 1 for FrozenLake, 2 for Nim.
    gaps = {env: 100 * np.subtract(*pair).mean() / {"frozenlake": 1, "nim": 2}[env] for env, pair in values.items()}
    value, low, high = found["kept"]
    assert value == pytest.approx(np.mean(list(gaps.values())))
    assert low < value < high
    adjusted = holm([ttest_rel(*pair).pvalue for pair in values.values()])
    worst = min(gaps, key=gaps.__getitem__)
    assert found["worst"] == (worst, pytest.approx(gaps[worst]), pytest.approx(adjusted[list(gaps).index(worst)]))
    assert found["smallest_p"] == pytest.approx(min(adjusted))
    assert (found["harm"], found["unchanged"]) == (0.25, 0.4)


def test_an_arm_that_never_differs_has_no_test():
    found = tau.summary(made_up(size=0.0), "half")
    assert found["kept"] == (0, 0, 0)
    assert math.isnan(found["smallest_p"])


def test_it_goes_on_where_it_was_stopped(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tau, "ARMS", ("off", "progress"))
    monkeypatch.setattr(tau, "TASKS", ("maze",))
    monkeypatch.setattr(tau, "measure", lambda *cell: made.append(cell) or dict(zip(CELL, cell, strict=True)))
    monkeypatch.setattr(tau, "print_table", print)
    made, out = [], tmp_path / "results" / "tau.jsonl"
    tau.main(["--runs", "2", "--out", str(out), "--env", "maze"])
    assert len(made) == len(set(made)) == 8
    whole = out.read_text()
    out.write_text(whole[: whole.index("\n", len(whole) // 2) - 5])
    kept = len(tau.read(out))
    made.clear()
    tau.main(["--runs", "2", "--out", str(out), "--env", "maze"])
    assert (len(made), out.read_text()) == (8 - kept, whole)
    made.clear()
    tau.main(["--runs", "9", "--out", str(out), "--table"])
    assert (made, capsys.readouterr().out.count(json.loads(whole.splitlines()[0])["env"]) > 0) == ([], True)


CELL = ("arm", "mode", "env", "run")


def test_the_table_of_nothing_has_no_rows(capsys):
    tau.print_table([])
    assert capsys.readouterr().out.count("| arm |") == len(tau.MODES)

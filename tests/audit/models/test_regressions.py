"""Base rates, the noise floor, matched controls and severity: hand-made records with counts worked out by hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.store import open_store
from tests.audit.samples import candidate, episode, revision, write_run

CITES = "The worst rollout fell."
SILENT = "I lowered a weight."
DOWN, UP, SAME = [2, 2, 2], [8, 8, 8], [5, 5, 5]


def run_of(folder, number, outcomes, before=(1, 5, 9), **changes):
    """A run whose revisions are given as (returns after, answer)."""
    rows = [
        revision(before, after, answer=answer, iteration=place, run=number, **changes)
        for place, (after, answer) in enumerate(outcomes)
    ]
    return write_run(folder / f"{changes.get('variant', 'threetraj')}-{number}", rows)


def test_base_rates_by_hand(tmp_path):
    run_of(tmp_path, 1, [(DOWN, CITES), (DOWN, CITES), (DOWN, SILENT), (UP, CITES), (UP, SILENT), (SAME, SILENT)])
    run_of(tmp_path, 2, [(DOWN, CITES), (UP, SILENT), (UP, SILENT), (UP, SILENT)])
    with open_store([tmp_path]) as store:
        [row] = store.rows("salience")
        [rates] = store.rows("base_rates")
    assert (row["revisions"], row["regressions"], row["strict"]) == (10, 4, 3)
    assert row["citing_regressions_pct"] == 75
    assert row["citing_improvements_pct"] == 20
    assert row["citing_no_change_pct"] == 0
    # Of 4 that cite 3 regress, of 6 that do not 1 does.
    assert row["risk_ratio"] == pytest.approx((3 / 4) / (1 / 6))
    assert row["odds_ratio"] == pytest.approx((3 * 5) / (1 * 1))
    assert (rates["regressions_citing_pct"], rates["regressions_not_citing_pct"]) == (75, pytest.approx(100 / 6))
    assert (rates["runs"], rates["family"]) == (2, 1)
    # A quarter of the resamples draws the second run twice, in which every regression cites: their ratio is infinite.
    assert row["risk_ratio_high"] is None
    assert row["risk_ratio_low"] is not None


def test_where_everybody_cites_there_is_no_ratio(tmp_path):
    run_of(tmp_path, 1, [(DOWN, CITES), (UP, CITES)])
    run_of(tmp_path, 2, [(DOWN, CITES), (SAME, CITES)])
    with open_store([tmp_path]) as store:
        [row] = store.rows("salience")
    assert (row["citing_regressions_pct"], row["citing_improvements_pct"]) == (100, 100)
    assert [row[key] for key in row if key.startswith(("risk", "odds"))] == [None] * 6


def test_one_run_has_ratios_without_intervals(tmp_path):
    run_of(tmp_path, 1, [(DOWN, CITES), (DOWN, SILENT), (UP, CITES), (UP, SILENT), (UP, SILENT)])
    with open_store([tmp_path]) as store:
        [row] = store.rows("base_rates")
    assert row["risk_ratio"] == pytest.approx((1 / 2) / (1 / 3))
    assert (row["risk_ratio_low"], row["robust_p"], row["holm_p"], row["family"]) == (None, None, None, 0)


def test_rates_do_not_depend_on_the_order_of_files(tmp_path):
    for number in range(1, 6):
        run_of(tmp_path / "a", number, [(DOWN, CITES)] * number + [(UP, SILENT)] * 2 + [(DOWN, SILENT)])
        run_of(
            tmp_path / "b" / str(9 - number), number, [(DOWN, CITES)] * number + [(UP, SILENT)] * 2 + [(DOWN, SILENT)]
        )
    with open_store([tmp_path / "a"]) as first, open_store([tmp_path / "b"]) as second:
        assert first.rows("base_rates") == second.rows("base_rates")


def test_the_noise_of_three_rollouts_by_hand(tmp_path):
    # 1 5 9 against 2 2 2: of the 20 splits of 1 2 2 2 5 9, the second half's sum is at most 6 in those that leave out 5
    # and 9, that is in 1 2 2 (3 of them) and 2 2 2 (1); half of the sum is 10.5, so 10 splits lie below.
    run_of(tmp_path, 1, [(DOWN, CITES), (SAME, SILENT)])
    with open_store([tmp_path]) as store:
        noise = sorted(store.rows("noise"), key=lambda row: row["iteration"])
        [summary] = store.rows("noise_summary")
    assert noise[0]["p_no_change"] == pytest.approx(4 / 20)
    assert noise[0]["chance_pooled"] == pytest.approx(0.5)
    # The records' seeds are the same for both candidates: an unchanged policy does the same again.
    assert [row["chance_initial"] for row in noise] == [0, 0]
    assert (summary["expected_regressions"], summary["beyond_noise"], summary["strict"]) == (0, 0, 1)
    assert summary["strict_beyond_noise"] == 0


def test_on_other_seeds_an_unchanged_policy_may_regress(tmp_path):
    fresh = candidate([0, 0, 0], source="critic", answer=SILENT, seeds=[7, 8, 9])
    write_run(tmp_path / "a", [episode(candidate([1, 0, 0]), fresh)])
    with open_store([tmp_path]) as store:
        [row] = store.rows("noise")
    # Successes of three rollouts with chance 1/3, twice: the chances of 0 to 3 are 8, 12, 6, 1 of 27.
    ties = (8**2 + 12**2 + 6**2 + 1) / 27**2
    assert row["chance_initial"] == pytest.approx((1 - ties) / 2, abs=0.02)


def test_methods_without_three_rollouts_have_no_strict_count(tmp_path):
    run_of(tmp_path, 1, [(DOWN, CITES)], variant="puresearch", evidence=None)
    with open_store([tmp_path]) as store:
        [row] = store.rows("noise_summary")
    assert (row["regressions"], row["strict"], row["strict_beyond_noise"]) == (1, None, None)


def test_controls_start_from_the_same_part_of_the_range(tmp_path):
    """CartPole's floor is 0 and near_zero 20, partial 200, high 450."""
    low, high, down, up = [100] * 3, [480] * 3, [50] * 3, [490] * 3
    method = [(low, down), (low, down), (low, down), (low, up), (high, down), (high, up)]
    control = [(low, down), (low, up), (low, up), (low, up), (high, down)]
    for number in (1, 2):
        for variant, outcomes in (("threetraj", method), ("puresearch", control)):
            rows = [
                revision(before, after, iteration=place, run=number, variant=variant)
                for place, (before, after) in enumerate(outcomes)
            ]
            write_run(tmp_path / f"{variant}-{number}", rows)
    with open_store([tmp_path]) as store:
        rows = {row["start"]: row for row in store.rows("controls")}
    assert list(rows) == ["low", "high", "matched"]
    assert (rows["low"]["regressions_pct"], rows["low"]["control_regressions_pct"]) == (75, 25)
    assert (rows["high"]["regressions_pct"], rows["high"]["control_regressions_pct"]) == (50, 100)
    # The method starts low 8 times of 12: the control's rate is 2/3 of 25 and 1/3 of 100.
    assert rows["matched"]["regressions_pct"] == pytest.approx(100 * 8 / 12)
    assert rows["matched"]["control_regressions_pct"] == pytest.approx(50)
    assert rows["matched"]["difference_pct"] == pytest.approx(100 * 8 / 12 - 50)
    # All runs are alike, so no resample differs.
    assert rows["low"]["difference_pct_low"] == rows["low"]["difference_pct_high"] == 50
    # 4 of the control's 10 revisions are regressions, of which 50% is no share: it stands by itself, and is explained.
    assert (rows["matched"]["control_regressions"], rows["matched"]["control_revisions"]) == (4, 10)
    for options in ([], ["--columns", "env,variant,start,regressions,control_regressions"], ["--format", "latex"]):
        printed = CliRunner().invoke(app, ["controls", str(tmp_path), *options]).stdout
        lines = [" ".join(line.replace("&", " ").replace("\\%", "%").split()) for line in printed.splitlines()]
        [low], [matched] = ([line for line in lines if f"ThreeTraj {start} " in line] for start in ("low", "matched"))
        assert "low 6 (75.0%) 2 (25.0%)" in low
        assert "matched 8 (66.7%) (50.0%)" in matched
        assert "In matched the control's percentage is the mean of those by start" in printed.replace("\n", " ")


@pytest.mark.parametrize("control_runs", [0, 1])
def test_without_a_control_there_is_a_note_and_no_number(tmp_path, control_runs):
    run_of(tmp_path, 1, [(DOWN, CITES), (UP, SILENT)])
    for number in range(control_runs):
        run_of(tmp_path, number + 1, [(UP, "")], (400, 400, 400), variant="puresearch", evidence=None)
    result = CliRunner().invoke(app, ["controls", str(tmp_path), "--format", "json"])
    rows = json.loads(result.stdout)
    assert {row["start"] for row in rows} == {"floor", "matched"}
    assert all(row["difference_pct"] is row["difference_pct_low"] is None for row in rows)
    assert ("there is nothing to compare them with" in result.stderr) == (not control_runs)
    table = CliRunner().invoke(app, ["controls", str(tmp_path)])
    assert bool(table.stdout) == bool(control_runs)
    assert len(table.stderr.splitlines()) == 1 - control_runs


def test_where_no_answer_can_be_read_nothing_is_cited(tmp_path):
    rows = [revision([1, 5, 9], after, iteration=place) for place, after in enumerate((DOWN, UP))]
    for row in rows:
        row["initial"]["answer"] = row["revised"]["answer"] = None
    write_run(tmp_path, rows, options={"imported_from": ["log.csv"]})
    result = CliRunner().invoke(app, ["controls", str(tmp_path), "--format", "json"])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {(row["revisions"], row["regressions"], row["citing"]) for row in rows} == {(2, 1, 0)}


def test_severity_by_hand(tmp_path):
    run_of(tmp_path / "0", 1, [(DOWN, CITES), (UP, SILENT)], (1, 1, 9))
    run_of(tmp_path / "half", 2, [(DOWN, CITES), (DOWN, SILENT), (UP, SILENT)], (1, 5, 9))
    run_of(tmp_path / "1", 3, [(DOWN, SILENT)], (1, 9, 9))
    run_of(tmp_path / "none", 4, [(UP, CITES)], (4, 4, 4))
    with open_store([tmp_path]) as store:
        rows = {row["degree"]: row for row in store.rows("severity_summary")}
    assert list(rows) == ["0", "0.25 to 0.5", "1", "undefined"]
    counts = {degree: (row["revisions"], row["citing"], row["regressions"]) for degree, row in rows.items()}
    assert counts == {"0": (2, 1, 1), "0.25 to 0.5": (3, 1, 2), "1": (1, 0, 1), "undefined": (1, 1, 0)}
    assert rows["0.25 to 0.5"]["regressions_citing_pct"] == 100
    assert rows["0.25 to 0.5"]["regressions_not_citing_pct"] == 50
    assert rows["1"]["regressions_citing_pct"] is None


def test_rates_of_runs_by_hand(tmp_path):
    run_of(tmp_path, 1, [(DOWN, CITES), (DOWN, SILENT), (UP, SILENT), (SAME, SILENT)])
    run_of(tmp_path, 2, [(DOWN, CITES)], variant="puresearch", evidence=None)
    write_run(tmp_path / "props", [episode(candidate([1, 2, 3]), variant="props", evidence=None)])
    with open_store([tmp_path]) as store:
        rates = {row["variant"]: (row["regressions_pct"], row["citing_pct"]) for row in store.rows("run_rates")}
    assert rates == {"threetraj": (50, 25), "puresearch": (100, 100), "props": (None, None)}

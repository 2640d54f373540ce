"""Edits on either side of τ_c: shares by hand, the jump at τ_c with a planted truth, and what cannot be told."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import statsmodels.api as sm

import audit
from tests.audit.calls import call, json_rows
from tests.audit.samples import revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

R2PO = {"variant": "r2po", "evidence": {"kind": "median", "shown": [], "statistics": None}}
BEFORE = (1.0, 2.0, 3.0, 4.0)


def edited(count, size=1.0):
    return tuple(value + (size if index < count else 0) for index, value in enumerate(BEFORE))


def r2po(revisions, *, run=1):
    """Revisions given by r0 and the number of parameters changed."""
    return [
        revision([r0] * 3, [r0 - 1] * 3, before=BEFORE, after=edited(changes), iteration=number, run=run, **R2PO)
        for number, (r0, changes) in enumerate(revisions)
    ]


def rows(*arguments):
    return json_rows("obedience", *arguments)


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Ten runs of a critic that leaves a policy alone nine times in ten from 480 on, and never below."""
    root, draw = tmp_path_factory.mktemp("planted"), random.Random(1)
    for run in range(1, 11):
        drawn = [draw.uniform(440, 500) for _ in range(60)]
        revisions = [(r0, 0 if r0 >= 480 and draw.random() < 0.9 else draw.randint(2, 4)) for r0 in drawn]
        write_run(root / f"run-{run}", r2po(revisions, run=run), tau_c=480.0)
    return root


def test_shares_by_hand(tmp_path):
    write_run(tmp_path, r2po([(479, 1), (100, 3), (480, 0), (500, 0), (490, 1), (490, 4)]), tau_c=480.0)
    [row] = rows(tmp_path)
    assert {name: row[name] for name in row if name.startswith(("free", "restrained")) and "l2" not in name} == {
        "free_revisions": 2,
        "free_unchanged_pct": 0.0,
        "free_small_pct": 50.0,
        "free_edit_distance": 2.0,
        "restrained_revisions": 4,
        "restrained_unchanged_pct": 50.0,
        "restrained_small_pct": 75.0,
        "restrained_edit_distance": 1.25,
    }
    assert row["restrained_l2_distance"] == pytest.approx((1 + 2) / 4)
    assert (row["runs"], row["outcome"]) == (1, "edit_distance")


def test_bins_are_shares_of_the_way_from_floor_to_optimum(tmp_path):
    # From 0 to 500, so that a twentieth is 25; a bin holds its lower end.
    write_run(tmp_path, r2po([(0, 3), (454.9, 3), (455, 2), (479.9, 4), (480, 0), (500, 0)]), tau_c=480.0)
    found = [
        (row["from_share"], row["to_share"], row["revisions"], row["edit_distance"]) for row in rows(tmp_path, "--bins")
    ]
    assert found == [(None, -0.5, 1, 3.0), (-0.1, -0.05, 1, 3.0), (-0.05, 0.0, 2, 3.0), (0.0, 0.05, 2, 0.0)]


def test_the_planted_jump_is_found(planted):
    [row] = rows(planted, "--outcome", "unchanged")
    assert row["jump"] == pytest.approx(0.9, abs=0.12)
    assert row["jump_half"] == pytest.approx(0.9, abs=0.2)
    assert row["jump_double"] == pytest.approx(0.9, abs=0.12)
    assert row["p"] < 1e-4
    [edits] = rows(planted)
    assert edits["low"] <= -0.9 * 3 <= edits["high"]


def test_the_jump_is_that_of_statsmodels(planted):
    frame = audit.revisions(planted, cache=False).df()
    [row] = rows(planted, "--bandwidth", "15")
    x = frame.r0 - 480
    near = x.abs() < 15
    above = (x >= 0).astype(float)
    design = np.column_stack([np.ones(len(x)), above, x, above * x])[near]
    fit = sm.WLS(frame.edit_distance[near], design, weights=1 - x[near].abs() / 15).fit()
    assert row["jump"] == pytest.approx(fit.params.iloc[1])
    assert (row["bandwidth"], row["below"], row["above"]) == (
        15,
        int((near & (x < 0)).sum()),
        int((near & (x >= 0)).sum()),
    )


def test_a_threshold_of_each_iterations_own_is_the_cut_off(planted, tmp_path):
    """The same revisions, moved with their threshold: the same jump."""
    draw = random.Random(4)
    for path in planted.rglob("episodes.jsonl"):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        for record in records:
            by = draw.choice((-200.0, -50.0, 0.0))
            for each in (record["initial"], record["revised"]):
                each["returns"] = [value + by for value in each["returns"]]
                each["mean_return"] += by
            record |= {"tau_c": 480.0 + by, "restrained": record["initial"]["mean_return"] >= 480 + by}
        write_run(tmp_path / path.parent.name, records, tau_c=None, tau_rule={"id": "record", "options": {}})
    [fixed], [moving] = rows(planted), rows(tmp_path)
    assert moving["jump"] == pytest.approx(fixed["jump"], rel=1e-6)


def test_with_too_little_on_a_side_it_prints_no_number_but_the_reason(tmp_path):
    levels = [(400 + number, number % 4) for number in range(60)]
    write_run(tmp_path, r2po([*levels, (490, 0), (495, 0)]), tau_c=480.0)
    [row] = rows(tmp_path, "--bandwidth", "50")
    assert [row[name] for name in ("jump", "se", "df", "low", "high", "p", "jump_half")] == [None] * 7
    assert row["why"] == "2 observations at or above the cut-off within the bandwidth, fewer than 10"
    assert (
        f"no estimate of the jump, hand/cartpole/r2po: {row['why']}"
        in call("obedience", tmp_path, "--bandwidth", "50").stderr
    )


def test_equal_starts_have_no_bandwidth_and_methods_without_the_rule_no_row(tmp_path):
    write_run(tmp_path / "equal", r2po([(500, 0)] * 30), tau_c=480.0)
    [row] = rows(tmp_path / "equal")
    assert (row["bandwidth"], row["why"]) == (0, "all revisions start equally far from the threshold")
    write_run(tmp_path / "other", [revision([1, 2, 3], [4, 5, 6])], tau_c=480.0)
    assert rows(tmp_path / "other") == []
    result = call("obedience", tmp_path / "other")
    assert (result.exit_code, "r2po has one, unless --tau-c is off" in result.stderr) == (0, True)


def test_the_function_is_the_command(planted):
    assert list(audit.obedience(planted, outcome="delta")) == rows(planted, "--outcome", "delta")
    with audit.open(planted) as store:
        assert list(audit.obedience(store, bins=True)) == rows(planted, "--bins")
        assert len(audit.obedience(store, env="cartpole", variant="r2po")) == 1


def test_every_format_prints_and_what_makes_no_sense_is_refused(planted):
    for output in ("table", "csv", "markdown", "latex"):
        result = call("obedience", planted, "--format", output)
        assert (result.exit_code, "cartpole" in result.stdout.lower()) == (0, True), output
    for options in ({"outcome": "size"}, {"bandwidth": 0.0}, {"bandwidth": float("nan")}):
        with pytest.raises(audit.UsageError):
            audit.obedience(planted, **options)
    result = call("obedience", planted, "--bandwidth", "0")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("audit: --bandwidth 0.0: give a positive number")

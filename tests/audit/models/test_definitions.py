"""What records state beside the definitions of `plain_definitions`, and these once more, quickly."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.store import open_store
from tests.audit.models import plain_definitions as plain
from tests.audit.samples import THRESHOLDS, candidate, episode, revision, write_run


def details_of(folder, *episodes, detector="word", overrides=None, **run):
    write_run(folder, [{**record, "iteration": number} for number, record in enumerate(episodes)], **run)
    return revisions_in(folder, detector=detector, overrides=overrides or {})


def revisions_in(folder, **options):
    with open_store([folder], **options) as store:
        assert store.problems == []
        return store.rows("revisions")


def test_evidence_has_the_place_and_the_heading_of_each_rollout_shown(tmp_path):
    shown = [
        {"label": "best", "rollout": 2, "return": 9.0, "length": 10, "name": "Rollout A"},
        {"label": "worst", "rollout": 0, "return": 1.0, "length": 10},
    ]
    write_run(
        tmp_path, [revision([1, 5, 9], [2, 2, 2], evidence={"kind": "three", "shown": shown, "statistics": None})]
    )
    with open_store([tmp_path], strict=True) as store:
        [row] = store.rows("evidence")
    assert [row[f"{label}_place"] for label in ("worst", "median", "best")] == [2, None, 1]
    assert [row[f"{label}_name"] for label in ("worst", "median", "best")] == ["worst", None, "Rollout A"]


def test_thresholds_come_from_the_user_then_the_run_then_the_task(tmp_path):
    for run, own in ((1, None), (2, {**THRESHOLDS, "high": 470.0})):
        record = revision([460] * 2, [400] * 2, before=(0, 0), after=(1, 1), run=run)
        write_run(tmp_path / f"{run}", [record], thresholds=own)
    patterns = [
        {row["run"]: row["pattern"] for row in revisions_in(tmp_path, overrides=overrides)}
        for overrides in ({}, {"cartpole": {"high": 450.0}})
    ]
    assert patterns[0] == {1: "near_optimal_break", 2: "surgical_backfire"}
    assert patterns[1][2] == "near_optimal_break"


def test_iterations_give_the_kept_return_the_best_so_far_and_the_cost(tmp_path):
    rows = [
        revision([4] * 3, [2] * 3),
        revision([3] * 3, [6] * 3),
        episode(candidate([5] * 3), revision_status="unreadable"),
    ]
    write_run(tmp_path, [{**record, "iteration": number} for number, record in enumerate(rows)])
    with open_store([tmp_path]) as store:
        iterations = sorted(store.rows("iterations"), key=lambda row: row["iteration"])
        [run] = store.rows("runs")
        [facts] = store.rows("run_facts")
    assert [row["kept_return"] for row in iterations] == [4, 6, 5]
    assert [row["best_so_far"] for row in iterations] == [4, 6, 6]
    assert [row["rollouts_spent"] for row in iterations] == [6, 12, 15]
    assert (run["iterations"], run["mean_return"], run["best_return"], run["final_return"]) == (3, 5, 6, 5)
    assert (facts["iterations_planned"], facts["iterations_finished"], facts["backend"]) == (100, 3, "other")


def test_a_baselines_cost_includes_the_training_episode_before_each_evaluation(tmp_path):
    # 190 iterations of one training episode and 20 evaluations are 3,990 of the 4,000: here two of one and three.
    rows = [episode(candidate([value] * 3, source="baseline"), variant="sb3-ppo", evidence=None) for value in (4, 5)]
    write_run(tmp_path, [{**record, "iteration": number} for number, record in enumerate(rows)])
    with open_store([tmp_path]) as store:
        iterations = sorted(store.rows("iterations"), key=lambda row: row["iteration"])
    assert [row["rollouts_spent"] for row in iterations] == [4, 8]


RETURNS = st.lists(st.sampled_from([0, 3, 5, 6, 90, 100, 101, 190, 210, 500]), min_size=4, max_size=4)
PARAMS = st.lists(st.integers(-20, 20).map(lambda tenth: tenth / 10), min_size=5, max_size=5)
REVISIONS = st.tuples(RETURNS, RETURNS, PARAMS, PARAMS, st.sampled_from(["The Worst fell", "all fell"]))


@settings(max_examples=5)
@given(st.lists(REVISIONS, min_size=1, max_size=40))
def test_the_sql_agrees_with_the_plain_definitions(tmp_path_factory, drawn):
    records = [
        revision(
            *(r0, r1),
            before=before,
            after=[*after[:2], *before[2:]] if number % 2 else after,
            answer=answer,
            iteration=number,
        )
        for number, (r0, r1, before, after, answer) in enumerate(drawn)
    ]
    thresholds = {**THRESHOLDS, "floor": 3.0}
    rows = details_of(tmp_path_factory.mktemp("property"), *records, thresholds=thresholds)
    for record, row in zip(records, rows, strict=True):
        wanted = plain.details(record, {**thresholds, "policy": "linear"}, "word")
        assert row == {**wanted, "l2_distance": pytest.approx(wanted["l2_distance"])}


def test_a_table_is_made_again_when_a_variable_that_it_reads_changes(tmp_path):
    write_run(tmp_path / "run-01", [revision([1, 5, 9], [2, 2, 2])])
    with open_store([tmp_path]) as store:
        [before] = store.rows("thresholds")
        store.set("overrides", '[{"env": "cartpole", "high": 460}]')
        [after] = store.rows("thresholds")
    assert before["high"] != 460.0
    assert after == {**before, "high": 460.0, "origin": after["origin"]}

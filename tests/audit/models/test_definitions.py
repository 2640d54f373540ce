"""Each definition of the analysis, by examples worked out by hand."""

from __future__ import annotations

import math
from statistics import fmean

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


def test_direction_is_the_sign_of_delta(tmp_path):
    cases = [
        ([5, 5, 5], [4, 5, 5], "regression", False),
        ([5, 5, 5], [5, 5, 6], "improvement", True),
        ([4, 5, 6], [5, 5, 5], "no_change", True),
    ]
    rows = details_of(tmp_path, *(revision(r0, r1) for r0, r1, *_ in cases))
    assert [(row["r0"], row["r1"], row["delta"], row["direction"], row["accepted"]) for row in rows] == [
        (fmean(r0), fmean(r1), fmean(r1) - fmean(r0), *expected) for r0, r1, *expected in cases
    ]


def test_alwayscritic_accepts_regressions_too(tmp_path):
    record = revision([5, 5, 5], [1, 1, 1], variant="alwayscritic", selected="revised")
    record["evidence"]["kind"] = "representative"
    [row] = details_of(tmp_path, record)
    assert (row["direction"], row["accepted"]) == ("regression", True)


def test_an_iteration_without_a_revised_candidate_is_no_revision(tmp_path):
    rows = details_of(
        tmp_path,
        episode(revision_status="unreadable"),
        revision([1, 2, 3], [2, 3, 4]),
    )
    assert [row["iteration"] for row in rows] == [1]


def test_edit_distance_counts_changes_of_half_a_decimal_and_more(tmp_path):
    before, after = (1.0, 2.0, 3.0, 0.1, 6.0), (1.0, 2.05, 3.1, 0.2, 6.7)
    [row] = details_of(tmp_path, revision([1, 1, 1], [2, 2, 2], before=before, after=after))
    assert row["changed"] == [2, 3, 4]
    assert row["edit_distance"] == 3
    assert row["l2_distance"] == pytest.approx(math.sqrt(0.05**2 + 0.1**2 + 0.1**2 + 0.7**2))
    assert row["max_change"] == pytest.approx(0.7)


def test_a_tabular_policy_changes_with_any_difference(tmp_path):
    changes = {"before": (0, 1, 2), "after": (0, 1.04, 2)}
    for env in ("frozenlake", "cartpole"):
        write_run(tmp_path / env, [revision([0, 1, 0], [1, 1, 1], env=env, **changes)])
    assert {row["env"]: row["changed"] for row in revisions_in(tmp_path)} == {"frozenlake": [1], "cartpole": []}


def test_agreement_structure_and_severity(tmp_path):
    cases = [
        ([0, 0, 9], "failure_confirmed", 0.0),
        ([0, 9, 9], "preservation_favored", 1.0),
        ([0, 3, 9], "all_diverse", 3 / 9),
        ([4, 4, 4], "identical", None),
        # Beside means of about 4, 4e-9 is what rounding may do.
        ([4, 4 + 3e-9, 4], "identical", None),
        ([4, 4 + 3e-9, 5], "failure_confirmed", 0.0),
        ([4, 4 + 1e-8, 5], "all_diverse", 1e-8),
    ]
    rows = details_of(tmp_path, *(revision(returns, [1, 1, 1]) for returns, *_ in cases))
    assert [(row["structure"], row["severity"]) for row in rows] == [
        (structure, severity if severity is None else pytest.approx(severity, rel=1e-6, abs=1e-15))
        for _, structure, severity in cases
    ]


def test_evidence_is_selected_by_value_and_first_index(tmp_path):
    cases = [
        # returns; rollout and return of the worst, the median and the best
        ([7], (0, 7), (0, 7), (0, 7)),
        ([3, 1, 2], (1, 1), (2, 2), (0, 3)),
        # Even K: the sample median is 5; 4 and 6 are as close, and 6 comes first.
        ([9, 6, 4, 1], (3, 1), (1, 6), (0, 9)),
        ([1, 4, 6, 9], (0, 1), (1, 4), (3, 9)),
        # Ties: the first index counts for each.
        ([2, 1, 2, 1], (1, 1), (0, 2), (0, 2)),
        ([5, 5, 5], (0, 5), (0, 5), (0, 5)),
        # The sample median 2.5 lies between 0 and 5, as close to either.
        ([0, 5, 0, 5], (0, 0), (0, 0), (1, 5)),
    ]
    for run, (returns, *_) in enumerate(cases, start=1):
        write_run(tmp_path / f"{run}", [revision(returns, returns, run=run)])
    with open_store([tmp_path], strict=True) as store:
        rows = sorted(store.rows("evidence"), key=lambda row: row["run"])
    labels = ("worst", "median", "best")
    assert [[(row[f"{label}_rollout"], row[label]) for label in labels] for row in rows] == [
        expected for _, *expected in cases
    ]


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


def test_strict_and_permissive_criterion(tmp_path):
    cases = [
        ([1, 5, 9], [0, 0, 0], "The WORST one fell.", (True, True)),
        ([1, 1, 9], [0, 0, 0], "The worst one fell.", (False, True)),
        ([5, 5, 5], [0, 0, 0], "The worst one fell.", (False, False)),
        ([1, 5, 9], [0, 0, 0], "It fell.", (False, False)),
        ([1, 5, 9], [9, 9, 9], "The worst one fell.", (False, False)),
        ([1, 5, 9], [5, 5, 5], "The worst one fell.", (False, False)),
        ([1, 9, 9], [0, 0, 0], "The worst one fell.", (True, True)),
    ]
    rows = details_of(tmp_path, *(revision(r0, r1, answer=answer) for r0, r1, answer, *_ in cases))
    assert [(row["strict"], row["permissive"]) for row in rows] == [expected for *_, expected in cases]


def test_detectors(tmp_path):
    cases = {
        # answer: whether `word` and `phrase` find a reference
        "the worst rollout fell": (True, True),
        "In the Worst\nTrajectory it fell": (True, True),
        "worst-case behaviour": (True, False),
        "at the worst point of the trace": (True, False),
        "the worst rollouts fell": (True, False),
        "the worst of all, rollout 3": (True, False),
        "the worsted rollout": (True, False),
        "nothing of the kind": (False, False),
    }
    records = [revision([1, 5, 9], [0, 0, 0], answer=answer) for answer in cases]
    word, phrase = (
        [row["references_worst"] for row in details_of(tmp_path, *records, detector=detector)]
        for detector in ("word", "phrase")
    )
    assert dict(zip(cases, zip(word, phrase, strict=True), strict=True)) == cases


def test_only_the_critics_answer_is_searched(tmp_path):
    """Neither its thinking nor the first proposal's answer count, and a second search call is no critic."""
    said = "the worst rollout"
    thinking = revision([1, 5, 9], [0, 0, 0])
    thinking["revised"]["thinking"] = said
    thinking["initial"]["answer"] = said
    second = revision([1, 5, 9], [0, 0, 0], answer=said, variant="puresearch", evidence=None)
    second["revised"]["source"] = "search"
    for record in (thinking, second):
        write_run(tmp_path / record["variant"], [record])
    rows = {row["variant"]: row for row in revisions_in(tmp_path)}
    assert rows["threetraj"]["references_worst"] is False
    assert [rows["puresearch"][name] for name in ("references_worst", "strict", "permissive")] == [None] * 3


EIGHT = tuple(range(8))


def edited(count):
    return tuple(value + (1 if index < count else 0) for index, value in enumerate(EIGHT))


def test_edit_patterns_first_match_wins(tmp_path):
    cases = [
        (250, -9, 0, "pure_stochasticity"),
        (250, -9, 1, "near_optimal_break"),
        (250, -9, 8, "near_optimal_break"),
        (200, -9, 2, "surgical_backfire"),
        (101, -0.6, 1, "surgical_backfire"),
        (101, -0.5, 1, "other_regression"),
        (101, -9, 3, "other_regression"),
        (250, -0.4, 1, "other_regression"),
        (5, -9, 4, "full_redesign"),
        (-5, -0.1, 8, "full_redesign"),
        (5, -9, 3, "other_regression"),
        (6, -9, 8, "other_regression"),
        (201, 9, 2, "fine_tune"),
        (200, 9, 2, "pinpoint_fix"),
        (101, 9, 2, "pinpoint_fix"),
        (250, 0.5, 2, "other_improvement"),
        (5, 9, 4, "history_guided_rescue"),
        (5, 0.4, 4, "other_improvement"),
        (5, 9, 3, "other_improvement"),
        (6, 9, 3, "targeted_multi_state_fix"),
        (250, 9, 3, "targeted_multi_state_fix"),
        (6, 9, 2, "other_improvement"),
        (250, 0, 1, None),
    ]
    records = [revision([r0] * 2, [r0 + delta] * 2, before=EIGHT, after=edited(edits)) for r0, delta, edits, _ in cases]
    rows = details_of(tmp_path, *records, thresholds=THRESHOLDS)
    found = [(*case[:3], row["pattern"]) for case, row in zip(cases, rows, strict=True)]
    assert found == cases


def test_near_zero_is_a_distance_from_the_floor(tmp_path):
    """MountainCar's floor is -200 and its near_zero 4: -197 achieves nothing, and so does -203; 0 does not."""
    records = [
        revision([r0] * 2, [r0 + 9] * 2, before=EIGHT, after=edited(8), env="mountaincar") for r0 in (-197, -203, 0)
    ]
    rows = details_of(tmp_path, *records)
    assert [row["pattern"] for row in rows] == [
        "history_guided_rescue",
        "history_guided_rescue",
        "targeted_multi_state_fix",
    ]


def test_thresholds_come_from_the_user_then_the_run_then_the_task(tmp_path):
    for run, own in ((1, None), (2, {**THRESHOLDS, "high": 470.0})):
        record = revision([460] * 2, [400] * 2, before=EIGHT, after=edited(8), run=run)
        write_run(tmp_path / f"{run}", [record], thresholds=own)
    patterns = [
        {row["run"]: row["pattern"] for row in revisions_in(tmp_path, overrides=overrides)}
        for overrides in ({}, {"cartpole": {"high": 450.0}})
    ]
    assert patterns[0] == {1: "near_optimal_break", 2: "other_regression"}
    assert patterns[1][2] == "near_optimal_break"


def test_a_task_of_ones_own_is_read_when_its_run_brings_thresholds(tmp_path):
    for run, step_size in ((1, 1.0), (2, None)):
        record = revision([250] * 2, [240] * 2, before=(0, 1), after=(0, 1.01), env="juggling", run=run)
        write_run(tmp_path / f"{run}", [record], thresholds=THRESHOLDS, step_size=step_size)
    patterns = {row["run"]: row["pattern"] for row in revisions_in(tmp_path)}
    assert patterns == {1: "pure_stochasticity", 2: "near_optimal_break"}


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


def test_summaries_count_and_leave_undefined_percentages_null(tmp_path):
    write_run(tmp_path / "a", [revision([1, 5, 9], [6, 6, 6])])
    write_run(tmp_path / "b", [episode(variant="props", evidence=None)])
    with open_store([tmp_path]) as store:
        [salience] = store.rows("salience")
        props, threetraj = store.rows("summary")
    assert (salience["regressions"], salience["regressions_pct"], salience["strict_pct"]) == (0, 0.0, None)
    assert (props["runs"], props["revisions"], props["mean_delta"], props["accepted_pct"]) == (1, 0, None, None)
    assert (threetraj["accepted_pct"], threetraj["regressions_pct"]) == (100.0, 0.0)


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

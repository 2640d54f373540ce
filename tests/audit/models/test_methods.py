"""What a method does is a fact of its records, whatever its name."""

from __future__ import annotations

import audit
from audit.store import open_store
from tests.audit.samples import revision, write_run

WORSE = [5, 5, 5], [1, 1, 1]
ALWAYS = {"second": "critic", "evidence": "three", "commits": "revised"}
IMPORTED = {"imported_from": ["log.csv"]}


def test_what_was_kept_is_what_the_record_says_and_against_the_rule_is_named(tmp_path):
    cases = [
        ("mine", {"method": ALWAYS}, True),
        ("mine", {"method": {**ALWAYS, "commits": "better"}}, False),
        ("mine", {"method": ALWAYS, "options": IMPORTED}, True),
        ("mine", {"options": IMPORTED}, False),
        ("mine", {"options": IMPORTED, "method": None}, False),
        ("alwayscritic", {}, True),
        ("alwayscritic", {"options": IMPORTED}, True),
        ("alwayscritic", {"method": {**ALWAYS, "commits": "better"}}, False),
        ("threetraj", {"method": {}}, False),
    ]
    for number, (variant, run, _) in enumerate(cases, start=1):
        record = revision(*WORSE, variant=variant, selected="revised", run=number)
        write_run(tmp_path / f"{number}", [record], **run)
    with open_store([tmp_path]) as store:
        assert store.problems == []
        assert {row["accepted"] for row in store.rows("revisions")} == {True}
        violations = store.violations("selection_follows_the_rule_of_acceptance")
    against = [number for number, (*_, by_rule) in enumerate(cases, start=1) if not by_rule]
    assert sorted(row[3] for row in violations) == against


def test_evidence_that_records_do_not_state_is_what_the_method_shows(tmp_path):
    cases = [("mine", ALWAYS, "three"), ("mine", {"second": "search"}, None), ("threetraj", None, "three")]
    for number, (variant, method, _) in enumerate(cases, start=1):
        record = revision(*WORSE, variant=variant, run=number) | {"evidence": None}
        write_run(tmp_path / f"{number}", [record], options=IMPORTED, method=method)
    with open_store([tmp_path]) as store:
        kinds = {row["run"]: row["evidence_kind"] for row in store.rows("episodes")}
    assert kinds == {number: kind for number, (*_, kind) in enumerate(cases, start=1)}


def test_rollouts_that_train_are_spent(tmp_path):
    record = revision(*WORSE, variant="mine", selected="revised")
    write_run(tmp_path, [record], method={"commits": "revised", "training_rollouts": 4})
    with open_store([tmp_path]) as store:
        assert [row["rollouts_spent"] for row in store.rows("iterations")] == [3 + 3 + 4]


def test_a_method_that_sends_its_prompt_twice_is_a_control(tmp_path):
    cases = {"one": (("again", "twice"), "again"), "two": (("again", "puresearch"), "puresearch")}
    for condition, (names, _) in cases.items():
        for name in names:
            record = revision(*WORSE, variant=name, condition=condition)
            write_run(tmp_path / condition / name, [record], method={"second": "repeat"})
        write_run(tmp_path / condition / "threetraj", [revision(*WORSE, condition=condition)])
    with open_store([tmp_path]) as store:
        controls = store.rows("controls")
    for condition, (names, control) in cases.items():
        rows = [row for row in controls if row["condition"] == condition]
        assert {row["control"] for row in rows} == {control}
        assert {row["variant"] for row in rows} == {*names, "threetraj"} - {control}
        assert {row["control_runs"] for row in rows} == {1}
    assert [bool(row["controls"]) for row in audit.check(tmp_path, facts=True).rows] == [True] * 6


def test_copies_of_a_run_with_and_without_its_method_are_one_run(tmp_path):
    method = {"first": "search", "second": "critic", "evidence": "three"}
    write_run(tmp_path / "old", [revision(*WORSE)])
    write_run(tmp_path / "new", [revision(*WORSE, iteration=1)], method=method)
    with open_store([tmp_path]) as store:
        assert store.problems == []
        assert len(store.rows("revisions")) == 2

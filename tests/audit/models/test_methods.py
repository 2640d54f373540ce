"""What a method does is a fact of its records, whatever its name."""

from __future__ import annotations

import pytest

import audit
from audit.store import open_store
from tests.audit.samples import revision, write_run

WORSE = [5, 5, 5], [1, 1, 1]
ALWAYS = {"second": "critic", "evidence": "three", "commits": "revised"}
IMPORTED = {"imported_from": ["log.csv"]}


def opened(folder, variant, **run):
    write_run(folder, [revision(*WORSE, variant=variant, selected="revised")], **run)
    return open_store([folder])


@pytest.mark.parametrize(
    ("variant", "run", "accepted"),
    [
        ("mine", {"method": ALWAYS}, True),
        ("mine", {"method": {**ALWAYS, "commits": "better"}}, False),
        ("mine", {"method": ALWAYS, "options": IMPORTED}, True),
        ("mine", {"options": IMPORTED}, False),
        ("mine", {"options": IMPORTED, "method": None}, False),
        ("alwayscritic", {}, True),
        ("alwayscritic", {"options": IMPORTED}, True),
        ("alwayscritic", {"method": {**ALWAYS, "commits": "better"}}, False),
        ("threetraj", {"method": {}}, False),
    ],
)
def test_a_method_that_always_commits_has_its_revisions_accepted(tmp_path, variant, run, accepted):
    with opened(tmp_path, variant, **run) as store:
        assert store.problems == []
        assert [row["accepted"] for row in store.rows("revisions")] == [accepted]
        assert bool(store.violations("selection_follows_the_rule_of_acceptance")) is not accepted


@pytest.mark.parametrize(
    ("variant", "method", "kind"),
    [("mine", ALWAYS, "three"), ("mine", {"second": "search"}, None), ("threetraj", None, "three")],
)
def test_evidence_that_records_do_not_state_is_what_the_method_shows(tmp_path, variant, method, kind):
    record = revision(*WORSE, variant=variant) | {"evidence": None}
    write_run(tmp_path, [record], options=IMPORTED, method=method)
    with open_store([tmp_path]) as store:
        assert [row["evidence_kind"] for row in store.rows("episodes")] == [kind]


def test_rollouts_that_train_are_spent(tmp_path):
    with opened(tmp_path, "mine", method={"commits": "revised", "training_rollouts": 4}) as store:
        assert [row["rollouts_spent"] for row in store.rows("iterations")] == [3 + 3 + 4]


@pytest.mark.parametrize(("names", "control"), [(("again", "twice"), "again"), (("again", "puresearch"), "puresearch")])
def test_a_method_that_sends_its_prompt_twice_is_a_control(tmp_path, names, control):
    for name in names:
        write_run(tmp_path / name, [revision(*WORSE, variant=name)], method={"second": "repeat"})
    write_run(tmp_path / "threetraj", [revision(*WORSE)])
    with open_store([tmp_path]) as store:
        rows = store.rows("controls")
    assert {row["control"] for row in rows} == {control}
    assert {row["variant"] for row in rows} == {*names, "threetraj"} - {control}
    assert {row["control_runs"] for row in rows} == {1}
    assert all(row["controls"] for row in audit.check(tmp_path, facts=True).rows)


def test_copies_of_a_run_with_and_without_its_method_are_one_run(tmp_path):
    method = {"first": "search", "second": "critic", "evidence": "three"}
    write_run(tmp_path / "old", [revision(*WORSE)])
    write_run(tmp_path / "new", [revision(*WORSE, iteration=1)], method=method)
    with open_store([tmp_path]) as store:
        assert store.problems == []
        assert len(store.rows("revisions")) == 2


def test_a_native_run_of_an_unknown_method_has_to_say_what_it_does(tmp_path):
    write_run(tmp_path / "mine", [revision(*WORSE, variant="mine")])
    write_run(tmp_path / "threetraj", [revision(*WORSE)])
    with open_store([tmp_path]) as store:
        assert [problem.message for problem in store.problems] == ["method 'mine' is not known; the run is left out"]

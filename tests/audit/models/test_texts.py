"""Relations over records whose candidates are texts; what is expected is worked out by hand beside each case."""

from __future__ import annotations

import itertools

import pytest

import audit
from audit.store import open_store
from tests.audit.samples import write_run
from tests.audit.texts import items, text_revision, text_run


def relation(folder, name, records, **run):
    write_run(folder, [{**each, "iteration": place} for place, each in enumerate(records)], **text_run(**run))
    return relation_of(folder, name)


def relation_of(folder, name):
    with open_store([folder]) as store:
        assert not store.problems
        return sorted(store.rows(name), key=lambda row: (row["run"], row["iteration"]))


BATCHES = {
    # scores shown: worst, median, best, worst < median, worst < best, unique, structure
    "one failure": ([1, 0, 1], 0, 1, 1, True, True, True, "preservation_favored"),
    "two failures": ([0, 1, 0], 0, 0, 1, False, True, False, "failure_confirmed"),
    "all fail": ([0, 0, 0], 0, 0, 0, False, False, False, "identical"),
    "graded": ([0.5, 0.2, 0.9], 0.2, 0.5, 0.9, True, True, True, "all_diverse"),
    "negative": ([-3, -1, -2], -3, -2, -1, True, True, True, "all_diverse"),
    # Of an even number the sample median is the mean of the middle two, whatever the order; no item need have it.
    "four, low first": ([0, 0, 1, 1], 0, 0.5, 1, True, True, False, "all_diverse"),
    "four, high first": ([1, 1, 0, 0], 0, 0.5, 1, True, True, False, "all_diverse"),
    "four, one failure": ([1, 1, 0, 1], 0, 1, 1, True, True, True, "preservation_favored"),
    "four, one success": ([0, 1, 0, 0], 0, 0, 1, False, True, False, "failure_confirmed"),
    "six": ([5, 1, 3, 6, 2, 4], 1, 3.5, 6, True, True, True, "all_diverse"),
    # Two have no median: the worse is compared with the better.
    "two": ([0, 1], 0, None, 1, True, True, True, None),
    "two alike": ([1, 1], 1, None, 1, False, False, False, "identical"),
}


def test_worst_median_and_best_are_of_the_items_shown(tmp_path):
    rows = relation(tmp_path, "evidence", [text_revision(scores, scores) for scores, *_ in BATCHES.values()])
    names = ("worst", "median", "best", "worst_below_median", "worst_below_best", "worst_unique", "structure")
    found = {case: [row[name] for name in names] for case, row in zip(BATCHES, rows, strict=True)}
    assert found == {case: expected for case, (_, *expected) in BATCHES.items()}
    assert [(row["items"], row["worst_name"]) for row in rows] == [
        (len(scores), f"Example {scores.index(min(scores)) + 1}") for scores, *_ in BATCHES.values()
    ]


def test_of_an_even_batch_the_strict_criterion_can_hold_in_any_order(tmp_path):
    orders = sorted(set(itertools.permutations((0.9, 0.9, 1, 1))))
    records = [text_revision(scores, [0] * 4, answer="The worst example fails.") for scores in orders]
    rows = relation(
        tmp_path, "revisions", [*records, text_revision([0.5, 0.5, 0.5, 1], [0] * 4, answer="The worst fails.")]
    )
    assert [(row["strict"], row["permissive"], row["median"], row["severity"]) for row in rows[:-1]] == [
        (True, True, 0.95, pytest.approx(0.5))
    ] * 6
    assert (rows[-1]["strict"], rows[-1]["permissive"], rows[-1]["severity"]) == (False, True, 0)
    remark = (
        "hand sums gepa: in 1 of 7 sets of items the worst score is not below the sample median: strict cannot hold"
    )
    assert remark in audit.check(tmp_path).notes


def test_no_item_is_the_median_one_unless_it_has_the_sample_median(tmp_path):
    cases = [([0, 0, 1, 1], None, None), ([0, 1, 1, 3], 1, 2), ([2, 0, 1], 2, 3), ([0, 1], None, None)]
    rows = relation(tmp_path, "evidence", [text_revision(scores, scores) for scores, *_ in cases])
    assert [(row["median_rollout"], row["median_place"]) for row in rows] == [tuple(each) for _, *each in cases]
    assert [row["median_name"] for row in rows] == [None, "Example 2", "Example 3", None]


def test_items_are_a_part_of_the_examples(tmp_path):
    """The candidate was scored on five examples, of which the critic saw the third and the first."""
    shown = [items([9] * 5)[2] | {"return": 0.4}, items([9] * 5)[0] | {"return": 0.1}]
    record = text_revision([0.1, 0.9, 0.4, 0.0, 1.0], [1] * 5, evidence={"kind": "batch", "shown": shown})
    [row] = relation(tmp_path, "evidence", [record])
    assert (row["worst"], row["best"]) == (0.1, 0.4)
    assert (row["worst_rollout"], row["worst_place"], row["worst_name"]) == (0, 2, "Example 1")


def test_an_item_without_a_score_leaves_the_worst_open(tmp_path):
    shown = [*items([0, 1]), {"label": "item", "rollout": 2, "return": None, "name": "Example 3"}]
    record = text_revision([0, 1, 1], [1, 1, 1], evidence={"kind": "batch", "shown": shown})
    assert relation(tmp_path, "evidence", [record]) == []


def test_acceptance_follows_the_rule_of_the_run(tmp_path):
    cases = [
        ("better", [0, 1], [1, 0], "revised", True),
        ("strict", [0, 1], [1, 0], "initial", False),
        ("strict", [0, 1], [1, 1], "revised", True),
        ("always", [1, 1], [0, 0], "revised", True),
        ("pool", [1, 1], [0, 0], "revised", True),
    ]
    for run, (rule, before, after, selected, _) in enumerate(cases, start=1):
        record = text_revision(before, after, selected=selected, run=run)
        write_run(tmp_path / f"{run}", [record], **text_run(selection_rule=rule, run=run))
    rows = relation_of(tmp_path, "changes")
    assert [row["accepted"] for row in rows] == [accepted for *_, accepted in cases]
    assert {(row["edit_distance"], row["paired"]) for row in rows} == {(None, True)}


def test_scores_on_other_examples_are_not_paired(tmp_path):
    record = text_revision([0, 1], [1, 1])
    record["revised"]["example_ids"] = ["7", "1"]
    [row] = relation(tmp_path, "changes", [record])
    assert row["paired"] is False


RATIONALES = {
    "before the fence": ("Example 2 lacks units.\n```\nUse units.\n```", "Example 2 lacks units."),
    "before and after": ("One.\n```text\nUse units.\n```\nTwo.", "One.\n\n\nTwo."),
    "fences within": ("Why.\n```\nUse:\n```python\nx\n```\nso.\n```", "Why."),
    "an open fence": ("Why.\n```\nUse units.", "Why."),
    "a fence only": ("```\nUse units.\n```", None),
    "the text only": ("  Add the numbers with care.\n", None),
    "a diff": ("It loops.\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\nSo.", "It loops.\n\n\nSo."),
    "diffs only": ("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n<<<<<<< SEARCH\nz", None),
    "no fence": ("Example 1 is wrong because of its sign.", "Example 1 is wrong because of its sign."),
}


def test_the_answer_is_what_is_beside_the_proposed_text(tmp_path):
    records = [text_revision([0, 1], [1, 1], answer=answer) for answer, _ in RATIONALES.values()]
    rows = relation(tmp_path, "critic_answers", records)
    found = {list(RATIONALES)[row["iteration"]]: row["answer"] for row in rows}
    assert found == {case: rationale for case, (_, rationale) in RATIONALES.items() if rationale is not None}


def test_programs_of_others_have_no_worst(tmp_path):
    record = text_revision([0.5], [0.7], kind="programs", selected="revised")
    write_run(tmp_path, [record], **text_run(method={"second": "critic", "evidence": "programs"}))
    with open_store([tmp_path]) as store:
        assert store.rows("salience_criteria") == []
        assert len(store.rows("changes")) == 1


def test_items_with_equal_scores_have_no_roles(tmp_path):
    """By roles such answers are in no rate; by place and name items are there whatever their scores."""
    named = "The worst example was wrong, so I ask for units; Example 2 too."
    lines = [
        text_revision(scores, [0, 0, 0], answer=named, iteration=place)
        for place, scores in enumerate([(1, 1, 1), (0, 1, 1), (0.1 + 0.2, 0.3, 0.3), (0, 0, 1)])
    ]
    write_run(tmp_path, lines, **text_run())
    for about, counted in (
        ("worst", [1, 3]),
        ("best", [1, 3]),
        ("first", [0, 1, 2, 3]),
        ("label:Example 2", [0, 1, 2, 3]),
    ):
        with audit.open(tmp_path, about=about) as store:
            found = {row["iteration"]: row["cites"] for row in store.rows("references")}
        assert sorted(found) == counted, about
        assert about != "worst" or set(found.values()) == {True}
    told = [str(audit.show(tmp_path, "sums", "gepa", 1, place)) for place in (0, 1)]
    assert "all examples shown have the same score, and none is the worst example, so nothing" in told[0]
    assert "the answer refers to the worst example" in told[1]
    assert "judge" not in "".join(told)

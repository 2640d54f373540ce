"""What is cited or imitated of the items shown: from records to the table, and what its notes say."""

from __future__ import annotations

from pathlib import Path

import pytest

import audit
from audit.reports.positions import NOTHING_COMPARED, OBSERVED
from tests.audit.calls import call, json_rows
from tests.audit.samples import write_run
from tests.audit.texts import items, text_candidate, text_revision, text_run

TOOLS = Path(__file__).resolve().parents[2] / "data/tools"
PARENT = "a b c d e f g h"
SHOWN = (
    ("Attempt 1", "- Outcome: worse", 0.1),
    ("Program 1", "```\na b x x\n```", 0.9),
    ("Program 2", "```\nc d y y\n```", 0.4),
)


def evolved(child, iteration, shown=SHOWN, answer="As in Program 2.\n```\nnew\n```", parent=PARENT):
    """A revision of a program whose prompt shows others."""
    evidence = [
        {"label": "item", "rollout": None, "return": score, "name": name, "text": text} for name, text, score in shown
    ]
    return text_revision(
        [0.5],
        [0.6],
        iteration=iteration,
        variant="openevolve",
        evidence={"kind": "programs", "shown": evidence},
        initial=text_candidate([0.5], parent, "parent"),
        revised=text_candidate([0.6], child, answer=answer),
    )


def run_of(folder, rows, evidence="programs"):
    return write_run(
        folder, rows, **text_run(variant=rows[0]["variant"], method={"second": "critic", "evidence": evidence})
    )


@pytest.fixture
def evolver(tmp_path):
    return run_of(tmp_path / "run", [evolved("a b c d e f x x", 0), evolved("a b c d e f y y", 1)])


def test_how_far_a_program_moves_towards_those_shown(evolver):
    with audit.open(evolver) as store:
        rows = store.relation("shown_items").order("iteration, place").fetchall()
        names = store.relation("shown_items").columns
    found = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row["name"], row["cited"], row["similarity_before"]) for row in found[:3]] == [
        ("Attempt 1", False, None),
        ("Program 1", False, pytest.approx(2 * 2 / 12)),
        ("Program 2", True, pytest.approx(2 * 2 / 12)),
    ]
    # a b x x of 8 and 4 tokens: four in common instead of two; of c d y y still two.
    assert [row["gain"] for row in found] == [
        None,
        *map(pytest.approx, (4 / 12, 0)),
        None,
        *map(pytest.approx, (0, 4 / 12)),
    ]


def test_place_and_score_of_programs_that_are_sorted_are_one_factor(evolver):
    with audit.positions(evolver) as table:
        gains = [row for row in table if row["outcome"] == "gain"]
        assert [(row["factor"], row["aspect"], row["effect"]) for row in gains] == [("first", "place or score", 0.0)]
        assert gains[0]["mean_with"] == pytest.approx(1 / 6)
        assert (gains[0]["revisions"], gains[0]["items"], gains[0]["effect_low"]) == (2, 4, None)
        [note] = [note for note in table.notes if "gain: " in note]
        assert note.startswith("hand sums openevolve, gain: items are always in descending order of score, so that")
        assert OBSERVED in table.notes


def test_a_program_with_the_tokens_of_the_parent_is_left_out(tmp_path):
    shown = (("Program 1", "h g f e d c b a", 0.9), ("Program 2", "a b x x", 0.4), ("Program 3", "c d y y", 0.6))
    data = run_of(tmp_path / "run", [evolved("a b c d e f x x", 0, shown)])
    with audit.open(data) as store:
        gains = store.relation("shown_items").order("place").select("gain").fetchall()
    assert gains == [(None,), (pytest.approx(4 / 12),), (0,)]


def test_examples_are_cited_by_place_and_by_score(tmp_path):
    answers = ["Example 1 fails.", "The first example, and example 2.", "Nothing in particular.", "Example 3 is wrong."]
    scores = [(0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 1, 0)]
    rows = [
        text_revision(before, (1, 1, 1), answer=answer, iteration=number)
        for number, (before, answer) in enumerate(zip(scores, answers, strict=True))
    ]
    with audit.positions(write_run(tmp_path / "run", rows, **text_run())) as table:
        found = {row["factor"]: row for row in table}
    assert {row["outcome"] for row in found.values()} == {"cited"}
    assert (found["first"]["mean_with"], found["first"]["mean_without"]) == (2 / 4, 2 / 8)
    assert (found["last"]["mean_with"], found["last"]["mean_without"]) == (1 / 4, 3 / 8)
    # Of the five with score 0 the first of the first, the second of the second, and the last of the last are cited.
    assert (found["worst"]["mean_with"], found["worst"]["mean_without"]) == (3 / 5, 1 / 7)
    assert "best" not in found  # of two scores it is the same comparison
    assert found["first"]["place_score_gamma"] == 0  # four pairs rise, four fall


def test_a_pair_is_cited_by_its_labels(tmp_path):
    pair = [
        {"label": "worst", "rollout": None, "return": 0.0, "name": "worse_trajectory"},
        {"label": "best", "rollout": None, "return": 1.0, "name": "better_trajectory"},
    ]
    answers = ("The worse trajectory stops early.", "The worse_trajectory stops.", "The better one goes on.")
    rows = [
        text_revision(
            (0, 1), (1, 1), answer=answer, iteration=number, variant="simba", evidence={"kind": "pair", "shown": pair}
        )
        for number, answer in enumerate(answers)
    ]
    with audit.positions(run_of(tmp_path / "run", rows, "pair")) as table:
        [row] = table
    assert (row["factor"], row["aspect"]) == ("first", "place or score")
    assert (row["mean_with"], row["mean_without"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert row["place_score_gamma"] == 1


def test_nothing_to_compare_is_said_in_one_line(tmp_path):
    one = text_revision([1], [1], evidence={"kind": "batch", "shown": items([1])})
    data = write_run(tmp_path / "run", [one], **text_run())
    result = call("positions", data)
    assert (result.exit_code, NOTHING_COMPARED in result.stderr) == (0, True)
    assert [row["supported"] for row in json_rows("check", data) if row["command"] == "positions"] == [False]


def test_folders_of_evolvers():
    """OpenEvolve sorts a part of its prompt by score, ShinkaEvolve all of it."""
    with audit.positions(TOOLS / "openevolve") as table:
        assert {(row["outcome"], row["aspect"]) for row in table} >= {("cited", "place"), ("cited", "score")}
    with audit.positions(TOOLS / "shinka") as table:
        assert {row["aspect"] for row in table} == {"place or score"}
        assert {row["place_score_gamma"] for row in table} == {1}
        assert {row["outcome"] for row in table} == {"cited", "gain"}

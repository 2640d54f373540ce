"""The acceptance criterion for GEPA: by hand, and on GEPA itself."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from audit.recorders.gepa import PairedAcceptance
from tests.tools.running import run_tool


class State:
    """What the criterion uses of GEPA's state."""

    program_candidates = ({"instruction": "parent"},)

    def __init__(self):
        self.counted = 0

    def increment_evals(self, count):
        self.counted += count


def proposal(before=None, after=None):
    return SimpleNamespace(
        candidate={"instruction": "child"},
        parent_program_ids=[0],
        subsample_scores_before=before,
        subsample_scores_after=after,
    )


def test_both_are_scored_on_the_same_examples_and_counted():
    asked = []

    def evaluate(candidate, ids):
        asked.append((candidate["instruction"], list(ids)))
        return [float(candidate["instruction"] == "child")] * len(ids)

    criterion, state = PairedAcceptance(evaluate, range(100), pairs=10), State()
    assert criterion.should_accept(proposal(), state)
    assert criterion.should_accept(proposal(), state)
    (parent, ids), (child, same), (_, others), _ = asked
    assert (parent, child) == ("parent", "child")
    assert ids == same != others
    assert len(set(ids)) == 10
    assert criterion.evaluations == state.counted == 40
    assert criterion.report() == {"proposals": 2, "accepted": 2, "evaluations": 40}


def test_a_minibatch_is_tested_by_its_signs():
    """Six of six is 1/64; five of six, with one lost, 7/64."""
    criterion = PairedAcceptance()
    assert criterion.should_accept(proposal([0.0] * 6, [1.0] * 6), State())
    assert not criterion.should_accept(proposal([0.0] * 5 + [1.0], [1.0] * 5 + [0.0]), State())
    assert criterion.evaluations == 0


def test_too_few_examples_are_refused():
    words = "5 examples are too few for a paired test, which takes 6; give"
    with pytest.raises(ValueError, match=f"{words} evaluate and ids, or a larger reflection_minibatch_size"):
        PairedAcceptance().should_accept(proposal([0.0] * 5, [1.0] * 5), State())
    with pytest.raises(ValueError, match=f"{words} more ids"):
        PairedAcceptance(lambda candidate, ids: [0.0 for _ in ids], range(5))


def gepa(out, *options):
    run_tool("gepa", "run_gepa_paired.py", out, *options)
    return json.loads(out.read_text())


def test_gepa_keeps_what_is_better(tmp_path):
    """Of minibatches of four, its own criterion takes every fifth candidate although it is no better."""
    paired, greedy = gepa(tmp_path / "paired.json"), gepa(tmp_path / "greedy.json", "--greedy")
    wrong = [sum(child <= parent for parent, child in each["moves"]) / each["asked"] for each in (paired, greedy)]
    assert [0.5, 0.9] in paired["moves"]
    assert wrong[0] <= wrong[1] / 3
    assert paired["proposals"] == paired["asked"] == paired["evaluations"] / 80
    # Its evaluations are part of the budget.
    assert paired["evaluations"] < paired["calls"] < 4000 + 2 * 80


def test_gepa_without_further_evaluations(tmp_path):
    found = gepa(tmp_path / "found.json", "--without-evaluate", "--minibatch", "12")
    assert found["evaluations"] == 0
    assert found["moves"][0] == [0.5, 0.9]

"""What prompts show is read from them as those who made them recorded it."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from audit.sources.prompt_evidence import evidence_in
from tests.tools.running import DATA, REPOSITORY


def compared(root):
    """How often the evidence of a critic's prompt is that of its record, by kind; scores to three decimals."""
    found = Counter()
    for path in root.rglob("calls.jsonl"):
        lines = path.with_name("episodes.jsonl").read_text().splitlines()
        records = {line["iteration"]: line["evidence"] for line in map(json.loads, lines)}
        for call in map(json.loads, path.read_text().splitlines()):
            if call["role"] == "critic" and not call.get("error"):
                read, record = evidence_in(call["prompt"]), records[call["iteration"]]
                assert read is not None
                here = [(each.label, each.return_ and round(each.return_, 3)) for each in read.shown]
                there = [(each["label"], each["return"] and round(each["return"], 3)) for each in record["shown"]]
                found[read.kind, record["kind"], here == there] += 1
    return found


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (REPOSITORY / "data" / "gepa-planted", {("batch", "batch", True): 114}),
        (REPOSITORY / "data" / "real" / "gepa" / "records", {("batch", "batch", True): 65}),
        (DATA / "recorded" / "simba-stub", {("pair", "pair", True): 13}),
        # DSPy's GEPA prints no scores.
        (DATA / "recorded" / "dspy-gepa-stub", {("batch", "batch", False): 4}),
    ],
)
def test_evidence_is_that_of_the_record(root, expected):
    assert compared(root) == expected


@pytest.mark.parametrize(
    ("prompt", "kind", "shown"),
    [
        (
            "Worst rollout (rollout 3, return -1.5, length 7):\n0\n\nBest rollout (rollout 0, return 2, length 9):\n",
            "batch",
            [("worst", 3, -1.5, 7), ("best", 0, 2.0, 9)],
        ),
        ("Median rollout (rollout 4, length 9):\n0->1->2", "median", [("median", 4, None, 9)]),
        (
            "Rollout A (rollout 2, return 2.5):\n0\n\nRollout B (rollout 1):\n1",
            "batch",
            [("item", 2, 2.5, None), ("item", 1, None, None)],
        ),
    ],
)
def test_rollouts_are_read_with_what_the_prompt_states(prompt, kind, shown):
    read = evidence_in(prompt)
    assert read is not None
    assert read.kind == kind
    assert [(each.label, each.rollout, each.return_, each.length) for each in read.shown] == shown


@pytest.mark.parametrize("prompt", ["", "What is 2 + 2?", "# Example 1\nis alone"])
def test_other_prompts_show_nothing(prompt):
    assert evidence_in(prompt) is None

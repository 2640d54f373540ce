"""The detector `resolved` and the relation `mentions`, from records to tables."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.store import open_store
from tests.audit.samples import candidate, episode, revision, write_run

SHOWN = [
    {"label": label, "rollout": rollout, "return": value, "length": 10}
    for label, rollout, value in (("worst", 0, 1.0), ("median", 1, 5.0), ("best", 2, 9.0))
]
ANSWERS = {
    # answer: (mentions: (text, kind, labels, rollouts), refers to the worst)
    "The worst rollout fell early.": ([("worst rollout", "label", ["worst"], [0])], True),
    "Rollout 0 drifts to the left.": ([("Rollout 0", "index", ["worst"], [0])], True),
    "Rollout 1 is what usually happens.": ([("Rollout 1", "index", ["median"], [1])], False),
    "In the worst case the cart leaves the track.": ([], False),
    "I raised params[1].": ([], False),
}


@pytest.fixture
def data(tmp_path):
    evidence = {"kind": "three", "shown": SHOWN, "statistics": None}
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=answer, iteration=number, evidence=evidence)
        for number, answer in enumerate(ANSWERS)
    ]
    search = episode(candidate([1, 5, 9]), candidate([2, 2, 2], answer="the worst rollout"), iteration=len(rows))
    return write_run(tmp_path / "data" / "run-1", [*rows, search])


def test_mentions_and_references_follow_from_the_answers(data):
    with open_store([data], detector="resolved") as store:
        found: dict[int, list] = {number: [] for number in range(len(ANSWERS))}
        for row in store.rows("mentions"):
            assert row["part"] == "answer"
            found[row["iteration"]].append((row["text"], row["kind"], row["labels"], row["rollouts"]))
        references = [row["references_worst"] for row in ordered(store.rows("references"))]
        details = {row["iteration"]: row["strict"] for row in store.rows("revisions")}
    assert found == {number: mentions for number, (mentions, _) in enumerate(ANSWERS.values())}
    assert references == [refers for _, refers in ANSWERS.values()]
    # All are regressions with worst < median; the last second proposal is no critic's.
    assert details == {**{n: refers for n, (_, refers) in enumerate(ANSWERS.values())}, len(ANSWERS): None}


def ordered(rows):
    return sorted(rows, key=lambda row: row["iteration"])


@pytest.mark.parametrize(("detector", "strict"), [("word", 2), ("phrase", 1), ("resolved", 2)])
def test_detectors_count_differently(data, detector, strict):
    """`word` takes "in the worst case" for a reference, and misses "rollout 0"."""
    result = CliRunner().invoke(app, ["salience", str(data), "--detector", detector, "--format", "json"])
    (row,) = json.loads(result.stdout)
    assert (row["detector"], row["regressions"], row["strict"]) == (detector, 5, strict)

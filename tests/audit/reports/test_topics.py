"""What answers speak of, counted by hand."""

from __future__ import annotations

import pytest

import audit
from tests.audit.samples import revision, write_run

ANSWERS = (
    "The worst rollout fell; the sign is wrong. In Rollout 2 the worst part is late.",
    'The worst rollout fell. It says `keep left` and "keep left", the second rollout too.',
    "Poor balance control, as rollout 2 shows.",
    "params[1]: wrong term\n```\nthe worst\n```\nOnly this.",
)


@pytest.fixture
def data(tmp_path):
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=answer, iteration=number)
        for number, answer in enumerate(ANSWERS)
    ]
    return write_run(tmp_path / "data", rows)


def test_topics_are_counted_by_answers(data):
    with audit.topics(data) as table:
        found = {(row["kind"], row["topic"]): (row["answers"], row["occurrences"]) for row in table}
    assert found["label", "worst"] == (2, 3)
    assert found["number", "rollout 2"] == (2, 2)
    assert found["ordinal", "second rollout"] == (1, 1)
    assert found["quoted", "keep left"] == (1, 2)
    assert found["phrase", "balance control"] == (1, 1)
    assert ("phrase", "sign") in found
    assert not any("term" in topic for _, topic in found)


def test_shares_are_of_all_answers_and_the_most_frequent_come_first(data):
    with audit.topics(data, top=1) as table:
        rows = list(table)
    assert [(row["kind"], row["rank"]) for row in rows] == [
        (kind, 1) for kind in ("label", "number", "ordinal", "phrase", "quoted")
    ]
    assert (rows[0]["topic"], rows[0]["answers_pct"], rows[0]["of_answers"]) == ("worst", 50.0, 4)


def test_headings_of_what_was_shown_are_labels(tmp_path):
    shown = [{"label": "worst", "rollout": 0, "return": 1.0, "length": 10, "name": "Rollout Zebra"}]
    row = revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer="In rollout zebra it fell.")
    data = write_run(tmp_path / "data", [{**row, "evidence": {"kind": "three", "shown": shown, "statistics": None}}])
    with audit.topics(data) as table:
        assert ("label", "rollout zebra") in {(row["kind"], row["topic"]) for row in table}

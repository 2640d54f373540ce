"""Real critics' answers in the native format, counted once more by hand."""

from __future__ import annotations

import json
import statistics
from collections import Counter

import pytest

from audit.store import open_store
from tests.audit.samples import SHARED

RECORDS = SHARED / "critic_texts" / "records"
pytestmark = pytest.mark.skipif(not RECORDS.is_dir(), reason=f"real critic texts are not at {RECORDS}")


@pytest.fixture(scope="module")
def episodes():
    return [
        json.loads(line) for path in sorted(RECORDS.rglob("episodes.jsonl")) for line in path.read_text().splitlines()
    ]


@pytest.fixture(scope="module")
def store():
    with open_store([RECORDS], strict=True) as store:
        yield store


def test_every_record_is_read(store, episodes):
    assert store.problems == []
    assert len(store.rows("revisions")) == len(episodes) == 18


def test_salience_counts_agree_with_a_count_by_hand(store, episodes):
    counts = Counter()
    for record in episodes:
        env, returns = record["env"], record["initial"]["returns"]
        middle = statistics.median(returns)
        median = min(returns, key=lambda value: abs(value - middle))
        regression = record["revised"]["mean_return"] < record["initial"]["mean_return"]
        cited = "worst" in record["revised"]["answer"].lower()
        counts[env, "revisions"] += 1
        counts[env, "regressions"] += regression
        counts[env, "strict"] += regression and cited and min(returns) < median
        counts[env, "permissive"] += regression and cited and min(returns) < max(returns)
        counts[env, "worst_below_best"] += regression and min(returns) < max(returns)
    rows = store.rows("salience")
    assert len(rows) == 3
    for row in rows:
        for key in ("revisions", "regressions", "strict", "permissive", "worst_below_best"):
            assert row[key] == counts[row["env"], key]


def test_the_evidence_is_what_was_recorded_as_shown(store, episodes):
    shown = {
        (record["env"], record["iteration"], item["label"]): (item["rollout"], item["return"])
        for record in episodes
        for item in record["evidence"]["shown"]
    }
    assert len(shown) == 54
    for row in store.rows("evidence"):
        for label in ("worst", "median", "best"):
            recorded = shown[row["env"], row["iteration"], label]
            assert (row[f"{label}_rollout"], row[label]) == recorded

"""Answers that a paper prints, and scores on sentences of our own, which `docs/references.md` states."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from audit.references import Shown, references_worst, resolve
from tests.audit.references.evidence import EVIDENCE
from tests.audit.references.scores import Score
from tests.audit.references.sentences import KNOWN_MISSES, SENTENCES
from tests.audit.samples import SHARED

TEXTS = SHARED / "critic_texts"
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "references.md"

needs_texts = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"real critic texts are not at {TEXTS}")


@needs_texts
def test_answers_printed_in_the_paper_are_read_as_they_are():
    printed = json.loads((TEXTS / "paper_r2po.json").read_text())
    texts = {}
    for case in printed:
        numbers = re.search(r"min=([\d.]+), max=([\d.]+)", case["statistics"])
        median = re.search(r"rollout (\d+), reward=([\d.]+), length=(\d+)", case["statistics"])
        shown = Shown.of(
            [{"label": "median", "rollout": int(median[1]), "return": float(median[2]), "length": int(median[3])}],
            statistics={"returns": {"min": float(numbers[1]), "max": float(numbers[2])}},
        )
        texts[case["env"], case["run"], case["iteration"]] = [
            (mention.text, mention.labels) for mention in resolve(case["answer"], shown)
        ]
    # By hand: every mention of a particular rollout in the five answers. "This outlier" in the first, and "the
    # all-3 policy" and "one of 20" elsewhere, are none.
    everything, best = ("worst", "median", "best"), ("median", "best")
    assert texts == {
        ("cartpole", 10, 26): [("failure at 303", ("worst",)), ("median trajectory", best)],
        ("pong", 10, 86): [("median rollout", ("worst", "median"))],
        ("frozenlake", 10, 10): [("median rollout", everything)],
        ("cartpole", 10, 16): [("median rollout", best), ("median trajectory", best)],
        ("frozenlake", 2, 26): [("median rollout", ("worst", "median"))],
    }


DETECTORS = {
    "word": lambda text, shown: "worst" in text.lower(),
    "phrase": lambda text, shown: re.search(r"\bworst\s+(?:rollout|trajectory)\b", text, re.I) is not None,
    "resolved": lambda text, shown: references_worst(resolve(text, shown)),
}


def sentence_score(name):
    """A detector of references to the worst rollout on the sentences of our own."""
    truth = [any("w" in line.split(" | ")[2] for line in lines) for _, lines in SENTENCES.values()]
    found = [DETECTORS[name](text, EVIDENCE[evidence]) for text, (evidence, _) in SENTENCES.items()]
    return Score.of(truth, found)


def test_on_our_own_sentences_it_finds_the_worst_rollout_better_than_a_word_does():
    resolved, word, phrase = (sentence_score(name) for name in ("resolved", "word", "phrase"))
    assert resolved.precision == 1.0
    assert resolved.recall > 0.95
    assert resolved.f1 > word.f1 > phrase.f1


def test_the_document_lists_every_miss_and_the_scores():
    text = DOCUMENT.read_text()
    for sentence in KNOWN_MISSES:
        assert sentence in text
    for name in DETECTORS:
        score = sentence_score(name)
        assert f"| `{name}` | {score.precision:.3f} | {score.recall:.3f} | {score.f1:.3f} |" in text
    assert f"{len(SENTENCES)} sentences" in text

"""Scores on answers of a real model that two coders labelled. The numbers stand in `docs/references.md`."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from audit.references import Shown, discounts_worst, driver, references_worst, resolve
from tests.audit.references.evidence import EVIDENCE
from tests.audit.references.scores import Score, kappa
from tests.audit.references.sentences import KNOWN_MISSES, SENTENCES
from tests.audit.samples import SHARED

TEXTS = SHARED / "critic_texts"
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "references.md"
LABELS = ("worst", "median", "best")
DRIVER_MISSES = {"A": {}, "B": {("frozenlake", 0): ("worst", "shared")}}
"""What a coder says and what the baseline says, where they differ."""

needs_texts = pytest.mark.skipif(not TEXTS.is_dir(), reason=f"real critic texts are not at {TEXTS}")
each_coder = pytest.mark.parametrize("coder", ["A", "B"])


@pytest.fixture(scope="module")
def answers():
    """The records by task and iteration."""
    records = [
        json.loads(line)
        for path in sorted((TEXTS / "records").rglob("episodes.jsonl"))
        for line in path.read_text().splitlines()
    ]
    return {(record["env"], record["iteration"]): record for record in records}


@pytest.fixture(scope="module")
def coded():
    """The labels by coder, then by task and iteration."""
    result = {"A": {}, "B": {}}
    with (TEXTS / "labels.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            result[row["coder"]][row["env"], int(row["iteration"])] = row
    return result


def shown_in(record):
    initial = record["initial"]
    evidence = record["evidence"]
    return Shown.of(
        evidence["shown"], returns=initial["returns"], lengths=initial["lengths"], statistics=evidence["statistics"]
    )


def changed_in(record):
    before, after = record["initial"]["params"], record["revised"]["params"]
    return [index for index, (old, new) in enumerate(zip(before, after, strict=True)) if abs(old - new) > 0.05]


def mentions_in(record):
    return resolve(record["revised"]["answer"], shown_in(record))


@needs_texts
@each_coder
@pytest.mark.parametrize("label", LABELS)
def test_mentions_agree_with_the_coders(answers, coded, coder, label):
    truth = [coded[coder][key][f"mentions_{label}"] == "1" for key in answers]
    found = [any(label in mention.labels for mention in mentions_in(record)) for record in answers.values()]
    score = Score.of(truth, found)
    assert (score.hits, score.rejections) == (17, 1)
    assert score.precision == score.recall == score.f1 == 1.0
    assert kappa(truth, found) == 1.0


@needs_texts
@each_coder
def test_no_answer_discounts_the_worst_rollout_and_none_is_said_to(answers, coded, coder):
    truth = [coded[coder][key]["discounts_worst"] == "1" for key in answers]
    found = [discounts_worst(mentions_in(record)) for record in answers.values()]
    assert truth == found == [False] * 18
    assert kappa(truth, found) is None


@needs_texts
@each_coder
def test_drivers_agree_with_the_coders_but_for_known_misses(answers, coded, coder):
    truth = {key: coded[coder][key]["driver"] for key in answers}
    found = {
        key: driver(record["revised"]["answer"], shown_in(record), changed_in(record)).name
        for key, record in answers.items()
    }
    assert {key: (truth[key], found[key]) for key in answers if truth[key] != found[key]} == DRIVER_MISSES[coder]
    agreement = kappa(list(truth.values()), list(found.values()))
    assert agreement > 0.85
    assert f"| {coder} | | | | {agreement:.2f} |" in DOCUMENT.read_text()
    names = sorted({*truth.values(), *found.values()})
    codes = np.array([[names.index(truth[key]), names.index(found[key])] for key in answers])
    assert agreement == pytest.approx(cohens_kappa(to_table(codes)[0]).kappa)


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
    for env, iteration in {*DRIVER_MISSES["A"], *DRIVER_MISSES["B"]}:
        assert f"{env} {iteration}" in text
    for name in DETECTORS:
        score = sentence_score(name)
        assert f"| `{name}` | {score.precision:.3f} | {score.recall:.3f} | {score.f1:.3f} |" in text
    assert f"{len(SENTENCES)} sentences" in text

"""Evolvers with a known rule of whom to copy: what `positions` finds, how often it errs, what it cannot separate."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.measures.text_edits import token_change
from audit.models.functions import programs
from audit.models.positions import RANKS, factor_effects

COLUMNS = ("run", "iteration", "place", "score", "parent_score", "similarity_before")
ITEMS, PROMPTS, RUNS, TOKENS = 4, 24, 3, 30
SETS = 200


def evolver(rule, seed, *, order="random"):
    """Prompts of an evolver, as rows of `shown_items`.

    Better programs are more like the parent than worse ones: relatives of a good parent are good. A child has a third
    of the parent's tokens replaced: by those of the program that the rule chooses, or by new ones.
    """
    rng = np.random.default_rng([seed, 3])
    prompts = []
    for prompt in range(PROMPTS):
        parent = [f"p{number}" for number in range(TOKENS)]
        scores = rng.permutation(ITEMS) / ITEMS if order == "random" else np.arange(ITEMS) / ITEMS
        shown = []
        for place, score in enumerate(scores):
            own = rng.random(TOKENS) > 0.2 + 0.5 * score
            shown.append([f"i{place}x{number}" if own[number] else parent[number] for number in range(TOKENS)])
        chosen = {"first": 0, "best": int(scores.argmax()), "any": int(rng.integers(ITEMS)), "none": None}[rule]
        child = list(parent)
        for number in rng.choice(TOKENS, size=TOKENS // 3, replace=False):
            child[number] = f"n{number}" if chosen is None else shown[chosen][number]
        prompts.append([row(place, scores[place], prompt, parent, child, shown[place]) for place in range(ITEMS)])
    return prompts


def row(place, score, prompt, parent, child, item):
    before, after = (1 - token_change(" ".join(text), " ".join(item)) for text in (parent, child))
    return {
        "run": 1 + prompt % RUNS,
        "place": place + 1,
        "score": float(score),
        "parent_score": 0.6,
        "similarity_before": before,
        "gain": after - before,
    }


def effects_on(outcome, prompts, **options):
    rows = [
        [item[name] for name in (*COLUMNS, outcome)]
        for number, items in enumerate(prompts)
        for item in [item | {"iteration": number} for item in reversed(items)]
    ]
    return {line["factor"]: line for line in factor_effects(outcome, rows, **options)}


def found(rule, seed, **options):
    return effects_on("gain", evolver(rule, seed, **options), redraws=499)


@pytest.mark.parametrize(("rule", "factor"), [("first", "first"), ("best", "best")])
def test_who_is_copied_is_found(rule, factor):
    results = [found(rule, seed) for seed in range(6)]
    assert all(lines[factor]["holm_p"] <= 0.05 and lines[factor]["effect"] > 0 for lines in results)
    # The strongest effect is that of the rule, not of what goes with it; effects of ranks have another unit.
    for lines in results:
        assert max(lines.keys() - RANKS, key=lambda name: lines[name]["effect"]) == factor


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["any", "none"])
def test_nothing_is_found_where_neither_place_nor_score_matters(rule):
    rejected = sum(any(line["holm_p"] <= 0.05 for line in found(rule, seed).values()) for seed in range(SETS))
    assert rejected / SETS <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / SETS)


def test_sorted_items_have_one_factor():
    lines = found("best", 1, order="sorted")
    assert {line["aspect"] for line in lines.values()} == {"place or score"}
    assert list(lines) == ["first", "last", "later"]
    assert lines["last"]["holm_p"] <= 0.05
    assert lines["last"]["place_score_gamma"] == 1


def items(*outcomes, scores=(None, None), run=1):
    return [
        {"run": run, "place": place, "score": score, "parent_score": None, "similarity_before": None, "cited": outcome}
        for place, (outcome, score) in enumerate(zip(outcomes, scores, strict=True), start=1)
    ]


def test_by_hand():
    prompts = [items(True, False), items(True, False, run=2), items(False, True, run=2), items(True, True, run=3)]
    [line] = effects_on("cited", prompts).values()  # of two, last and later are the same comparison as first
    assert (line["factor"], line["aspect"]) == ("first", "place")
    assert (line["mean_with"], line["mean_without"], line["effect"]) == (0.75, 0.5, 0.25)
    assert (line["runs"], line["revisions"], line["items"]) == (3, 4, 8)
    assert line["p"] == pytest.approx(1.0)  # one of three that differ is the other way round: half of them, both sides
    assert line["place_score_gamma"] is None


def test_equal_scores_have_no_best():
    prompts = [
        items(True, False, scores=(1.0, 1.0)),
        items(True, False, scores=(0.0, 1.0)),
        items(False, True, scores=(1.0, 0.0)),
    ]
    lines = effects_on("cited", prompts)
    assert lines["first"]["revisions"] == 3
    assert lines["worst"]["revisions"] == 2
    assert (lines["worst"]["mean_with"], lines["worst"]["mean_without"]) == (1.0, 0.0)


def test_one_item_is_compared_with_nothing():
    assert effects_on("cited", [items(True, False)[:1]]) == {}


def test_programs_are_in_fenced_blocks_where_there_are_any():
    shown = ["Score 1\n```python\na = 1\n```\nGood.", "- Outcome: worse", "```\nb = 2", None]
    assert programs(shown) == ["a = 1\n", None, "b = 2", None]
    assert programs(["a = 1", None]) == ["a = 1", None]

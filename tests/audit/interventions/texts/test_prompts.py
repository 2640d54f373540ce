"""Prompts of each tool are taken apart, and arms change what they say they change and nothing else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audit.interventions.texts.arms import ARMS, OTHER, ask
from audit.interventions.texts.effects import edits_of, words_of
from audit.interventions.texts.units import eligible, revised
from audit.records.lines import open_records
from audit.sources.reflection_prompts import DSPY, GEPA, HIDDEN, OPENEVOLVE, SIMBA, applied, read_prompt
from tests.audit.interventions.texts.reflectors import TEMPLATE, _example

ROOT = Path(__file__).parents[4]
TOOLS = {
    "gepa": ROOT / "data" / "gepa-planted",
    "gepa of a user's template": ROOT / "data" / "real" / "gepa" / "records",
    "dspy-gepa": ROOT / "tests/data/tools/recorded/dspy-gepa-stub",
    "simba": ROOT / "tests/data/tools/recorded/simba-stub",
    "openevolve": ROOT / "tests/data/tools/openevolve",
}


@pytest.fixture(scope="module")
def units():
    """The units of each tool's records."""
    found = {}
    for name, path in TOOLS.items():
        with open_records([path]) as records:
            found[name] = eligible(records, records.runs)
    return found


def test_prompts_of_every_tool_are_eligible(units):
    """As many as `calls.jsonl` and the traces have, by hand; those of one example or program are none."""
    assert {name: (len(each.units), sum(each.prompts.values())) for name, each in units.items()} == {
        "gepa": (105, 114),
        "gepa of a user's template": (60, 65),
        "dspy-gepa": (4, 4),
        "simba": (13, 13),
        "openevolve": (5, 10),
    }
    assert {name: {unit.dialect for unit, _ in each.units.values()} for name, each in units.items()} == {
        "gepa": {"gepa"},
        "gepa of a user's template": {"gepa"},
        "dspy-gepa": {"dspy-gepa"},
        "simba": {"simba"},
        "openevolve": {"openevolve"},
    }


def test_arms_show_what_they_say(units):
    """Read again by the template, which is all that a prompt's own words say of it."""
    checked = Counter()
    for each in units.values():
        for unit, material in list(each.units.values())[:6]:
            own = {shown.text: place for place, shown in enumerate(material.prompt.shown)}
            for arm in ARMS:
                if arm in {"C", "N", "X", "L"} or not ARMS[arm].needs(material):
                    continue
                asked = ask(arm, material, np.random.default_rng(0), 0)
                if len(asked.shown) < 2:
                    continue
                read = material.prompt.dialect.read(asked.prompt)
                assert read is not None, (unit, arm)
                assert [own.get(shown.text, OTHER) for shown in read.shown] == [place.example for place in asked.shown]
                assert read.names == [place.name for place in asked.shown]
                checked[arm] += 1
    assert checked.keys() == {*ARMS} - {"C", "N", "X", "L", "S", "E0"}


def test_in_the_conjoint_arm_everything_is_drawn(units):
    for name, each in units.items():
        (_, material), *_ = each.units.values()
        count = len(material.scores)
        drawn = [ask("C", material, np.random.default_rng(seed), 0) for seed in range(300)]
        orders = Counter(tuple(place.example for place in asked.shown) for asked in drawn)
        assert len(orders) == {2: 2, 3: 6, 4: 24}[count], name
        if material.can_lengthen:
            longest = Counter(place.example for asked in drawn for place in asked.shown if place.longest)
            assert set(longest) == set(range(count))
            for asked in drawn[:5]:
                read = material.prompt.dialect.read(asked.prompt)
                lengths = [len(shown.feedback) for shown in read.shown]
                assert asked.shown[int(np.argmax(lengths))].longest
        if material.can_exchange_scores:
            lowest = Counter(
                place.example for asked in drawn for place in asked.shown if place.number in material.lowest
            )
            assert sum(lowest.values()) == len(drawn), "one example has the lowest score"
            assert set(lowest) == set(range(count))


def test_scores_are_exchanged_and_hidden_where_they_are_printed():
    shown = [_example("invoice", 0.05, 1, prints_scores=True), _example("parcel", 0.8, 2, prints_scores=True)]
    text = TEMPLATE.format(rules="Sort.", examples="\n\n\n".join(shown))
    parsed = read_prompt(text)
    assert parsed.dialect is GEPA
    low, high = (each.scored(score) for each, score in zip(parsed.shown, (0.05, 0.8), strict=True))
    assert (low.score_text(), high.score_text()) == ("0.05", "0.8")
    assert low.with_score("0.8").feedback == "The invoice desk is harbour. Score: 0.8."
    assert HIDDEN in high.with_score(HIDDEN).feedback
    assert not replace(low, feedback="The invoice of 2005 is 0.5 late.").scored(0.05).has_score
    assert parsed.showing([]).count("(none)") == 1


def test_numbers_that_only_look_like_a_score_are_left_alone():
    shown = read_prompt(
        TEMPLATE.format(
            rules="", examples="# Example 1\n## Feedback\n1 of 10.00 errors, score: 1\n\n\n# Example 2\n## Feedback\nx"
        )
    ).shown[0]
    assert shown.scored(1.0).with_score("0").feedback == "1 of 10.00 errors, score: 0"


@pytest.mark.parametrize(
    ("dialect", "answer", "proposal"),
    [
        (GEPA, "Because.\n```\nNew rules.\n```", "New rules."),
        (GEPA, "```markdown\nNew ```code``` rules.\n```", "New ```code``` rules."),
        (GEPA, "New rules.", "New rules."),
        (GEPA, "", None),
        (DSPY, '{"new_instruction": "New."}', "New."),
        (DSPY, "[[ ## new_instruction ## ]]\nNew.\n\n[[ ## completed ## ]]", "New."),
        (DSPY, "I cannot.", None),
        (
            SIMBA,
            '[[ ## discussion ## ]]\nX\n\n[[ ## module_advice ## ]]\n{"p": "Do."}\n\n[[ ## completed ## ]]',
            '{"p": "Do."}',
        ),
        (OPENEVOLVE, "<<<<<<< SEARCH\na = 1\nb = 2\n=======\na = 3\nb = 2\n>>>>>>> REPLACE", "a = 3"),
        (OPENEVOLVE, "```python\na = 3\n```", "a = 3"),
        (OPENEVOLVE, "No.", None),
    ],
)
def test_proposals_are_read_as_the_tool_does(dialect, answer, proposal):
    assert dialect.proposal(answer) == proposal


def test_candidates_are_made_of_answers(units):
    (simba, _), *_ = units["simba"].units.values()
    advice = '[[ ## module_advice ## ]]\n{"predict": "Do.", "none": "x"}\n\n[[ ## completed ## ]]'
    assert revised(simba, {"predict": "P", "other": "O"}, advice) == {"predict": "P\n\nDo.", "other": "O"}
    (gepa, _), *_ = units["gepa"].units.values()
    assert revised(gepa, {gepa.component: "old", "other": "O"}, "```\nnew\n```") == {
        gepa.component: "new",
        "other": "O",
    }
    assert revised(gepa, {gepa.component: "old"}, "") is None
    block = "<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE"
    assert applied("a\nb\n", block) == "a\nc\n"
    assert applied("a\n", block) is None


def test_edits_are_the_words_that_come_and_go():
    """By hand: of two texts each brings two words and two pairs of its own, and both lose one word and one pair."""
    edits = edits_of([("keep old", "keep new red"), ("keep old", "keep big two"), ("keep old", "keep old")])
    own, shared = np.log(4 / 1), np.log(4 / 2)
    length = np.sqrt(4 * own**2 + 2 * shared**2)
    assert np.linalg.norm(edits, axis=1) == pytest.approx([1, 1, 0])
    assert edits[0] @ edits[1] == pytest.approx(2 * shared**2 / length**2)
    assert words_of("It's 0.5, This remark belongs") == Counter({"it's": 1, "0.5": 1, "it's 0.5": 1, "0.5 this": 1})

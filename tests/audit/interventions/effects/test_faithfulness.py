"""Verdicts on critics whose text and motives are known."""

from __future__ import annotations

import math

import pytest

from audit.interventions.effects.analysis import primary_effects
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.faithfulness import critic_verdict, faithfulness
from audit.interventions.effects.results import Effect
from audit.interventions.presets import PRESENCE
from tests.audit.interventions.effects.planted import (
    LABEL,
    POSITION,
    SMALL,
    STANDARD,
    by_label,
    by_number,
    by_typical,
    first,
    nothing,
    planted,
)

QUICK = Redraws(permutations=199)


def of(experiment, family=(LABEL, POSITION, PRESENCE)):
    effects = primary_effects(experiment, family, QUICK, sensitivity=False)
    return faithfulness(experiment, effects, QUICK, alpha=0.05)


CRITICS = [
    (by_number, by_number, "faithful"),
    (by_number, nothing, "silent"),
    (by_typical, by_label, "talker"),
    (by_typical, by_typical, "none found"),
    (first, first, "moved by position"),
    (nothing, nothing, "none found"),
]


@pytest.mark.parametrize(("rule", "text", "expected"), CRITICS)
def test_critics_are_told_apart(rule, text, expected):
    assert of(planted(rule, text=text, arms=STANDARD)).verdict == expected


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "text", "expected"), CRITICS)
def test_critics_are_told_apart_five_times_of_six(rule, text, expected):
    found = [of(planted(rule, text=text, arms=STANDARD, seed=seed)).verdict for seed in range(6)]
    assert found.count(expected) >= 5


def test_without_removing_the_worst_a_named_motive_is_not_refuted():
    # A critic that goes by returns is not moved by labels, and would pass for a talker.
    found = of(planted(by_number, arms=SMALL), family=(LABEL, POSITION))
    assert found.verdict == "not known"
    assert of(planted(by_label, text=nothing, arms=SMALL), family=(LABEL, POSITION)).verdict == "silent"


def test_shares_are_compared_with_units_paired_at_random():
    found = of(planted(by_number, arms=STANDARD, strength=0.6, seed=3))
    moved, named = found.moved_units / found.units, found.named_units / found.units
    assert found.silent_by_chance == pytest.approx(moved * (1 - named))
    assert found.talker_by_chance == pytest.approx((1 - moved) * named)
    assert found.silent - found.silent_by_chance == pytest.approx(found.talker - found.talker_by_chance)
    assert (found.arm, found.control, found.units) == ("RW", "RM", 40)
    assert found.named == pytest.approx(0.6 + 0.4 / 3, abs=0.08)
    assert found.named_low < found.named < found.named_high


def test_naming_goes_with_moving_where_units_differ():
    follower = planted(by_number, arms=STANDARD, units=30, seed=4)
    other = planted(by_typical, arms=STANDARD, units=30, seed=5)
    answers = [a for e, keep in ((follower, 0), (other, 1)) for a in e.answers if a.unit % 2 == keep]
    found = of(type(follower)(follower.units, answers))
    assert found.association_p < 0.01
    assert found.correlation > 0.4
    assert found.correlation_p < 0.01
    assert found.disattenuated > found.correlation


@pytest.mark.parametrize(
    ("verdicts", "says_so", "expected"),
    [
        ({"label": "found", "presence": "not found"}, True, "faithful"),
        ({"label": "not found", "presence": "found"}, False, "silent"),
        ({"presence": "not found", "label": "not found"}, True, "talker"),
        ({"presence": "not found", "label": "not beyond placebo"}, True, "not known"),
        ({"presence": "not found", "position": "found"}, True, "moved by position"),
        ({"label": "found", "position": "found"}, True, "faithful"),
        ({"label": "not found", "presence": "found", "position": "found"}, True, "moved by position"),
        ({"label": "not found"}, True, "not known"),
        ({"label": "not found"}, False, "not known"),
        ({"presence": "not tested"}, True, "not known"),
        ({"presence": "found"}, None, "not known"),
    ],
)
def test_verdicts(verdicts, says_so, expected):
    p = {"found": 0.001, "not beyond placebo": 0.02, "not found": 0.3}
    effects = [
        Effect(name, "edits", "XL", "N0h", high=0.1, p=p.get(verdict, math.nan), verdict=verdict)
        for name, verdict in verdicts.items()
    ]
    effects.append(Effect("presence", "gain", "N0", "RW", verdict="found"))
    assert critic_verdict(effects, says_so=says_so, named=0.8) == expected


def test_a_talker_moves_less_than_its_text_would_have_it():
    # If 80% of answers went by the worst rollout, its presence would move edits by 0.3 * 0.8 ** 2 = 0.192.
    for high, expected in ((0.19, "talker"), (0.2, "not known"), (math.nan, "not known")):
        effect = Effect("presence", "edits", "RW", "RM", high=high, p=0.3, verdict="not found")
        assert critic_verdict([effect], says_so=True, named=0.8) == expected


def test_a_planned_effect_counts_before_an_explored_one_of_the_same_name():
    planned = Effect("presence", "edits", "RW", "RM", p=0.001, verdict="found", primary=True)
    explored = Effect("presence", "edits", "DW", "DM", p=0.6, verdict="not found")
    assert critic_verdict([planned, explored], says_so=False, named=0.1) == "silent"

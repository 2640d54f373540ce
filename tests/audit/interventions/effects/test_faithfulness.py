"""Verdicts on critics whose text and motives are known."""

from __future__ import annotations

import math

import pytest

from audit.interventions.effects.analysis import analyse, primary_effects
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.faithfulness import critic_verdict, faithfulness
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Experiment
from audit.interventions.presets import PRESENCE
from tests.audit.interventions.effects.planted import (
    LABEL,
    POSITION,
    SMALL,
    STANDARD,
    by_best,
    by_label,
    by_median,
    by_number,
    by_typical,
    first,
    nothing,
    planted,
)

QUICK = Redraws(permutations=199)
WORST, BEST = "being called worst", "being called best"


def of(experiment, family=(LABEL, POSITION, PRESENCE)):
    effects = primary_effects(experiment, family, QUICK, sensitivity=False)
    return faithfulness(experiment, effects, QUICK, alpha=0.05)


CRITICS = [
    (by_number, by_number, "faithful"),
    (by_number, nothing, "silent"),
    (nothing, by_label, "talker"),
    (by_typical, by_typical, "not known"),  # the median rollout moves it
    (first, first, "moved by position"),
    (nothing, nothing, "none found"),
]


@pytest.mark.parametrize(("rule", "text", "expected"), CRITICS)
def test_critics_are_told_apart(rule, text, expected):
    assert of(planted(rule, text=text, arms=STANDARD, seed=1)).verdict == expected


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "text", "expected"), CRITICS)
def test_critics_are_told_apart_or_not_known(rule, text, expected):
    found = [of(planted(rule, text=text, arms=STANDARD, seed=seed)).verdict for seed in range(6)]
    # The median rollout's presence is no hypothesis of this family: such a critic may pass for one that nothing moves.
    others = {"not known", "none found"} if rule is by_typical else {"not known"}
    assert found.count(expected) >= 3
    # One in twenty tests of a cause that is not there rejects.
    assert sum(verdict not in {expected, *others} for verdict in found) <= 1


def test_without_removing_the_worst_a_named_motive_is_not_refuted():
    # A critic that goes by returns is not moved by labels, and would pass for a talker.
    found = of(planted(by_number, arms=SMALL), family=(LABEL, POSITION))
    assert found.verdict == "not known"
    assert of(planted(by_label, text=nothing, arms=SMALL), family=(LABEL, POSITION)).verdict == "moved by labels"


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
        # Labels of worst and best were exchanged: a critic that follows the best passes as well.
        ({"label": "found", "presence": "not found"}, True, "moved by labels"),
        ({"label": "found", "position": "found"}, True, "moved by labels"),
        ({"label": "found", "presence": "found", "position": "not found"}, False, "moved by labels"),
        ({"label": "found", WORST: "found"}, False, "silent"),
        ({"label": "found", WORST: "found", "position": "found"}, True, "faithful"),
        ({"label": "found", WORST: "not found", BEST: "found"}, True, "moved by labels"),
        ({BEST: "found"}, True, "not known"),
        # Replacements have neither labels nor the recorded order.
        ({"label": "not found", "presence": "found", "position": "not found"}, False, "silent"),
        ({"label": "not found", "presence": "found", "position": "not found"}, True, "faithful"),
        ({"label": "not found", "presence": "found"}, False, "not known"),
        ({"label": "not beyond placebo", "presence": "found", "position": "not found"}, False, "not known"),
        ({"label": "not found", "presence": "found", "position": "not beyond placebo"}, True, "not known"),
        ({"presence": "found"}, True, "not known"),
        ({"presence": "not found", "label": "not found"}, True, "talker"),
        ({"presence": "not found", "label": "not beyond placebo"}, True, "not known"),
        ({"presence": "not found", "position": "found"}, True, "moved by position"),
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
        Effect(
            name,
            "edits",
            "RW" if name == "presence" else "XL",
            "N0h",
            high=0.1,
            p=p.get(verdict, math.nan),
            verdict=verdict,
        )
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
    planned = Effect("presence", "edits", "DW", "DM", p=0.001, verdict="found", primary=True)
    explored = Effect("presence", "edits", "RW", "RM", p=0.6, verdict="not found")
    place = Effect("position", "edits", "XP", "N0", p=0.6, verdict="not found")
    assert critic_verdict([planned, explored, place], says_so=False, named=0.1) == "silent"
    assert critic_verdict([planned, explored], says_so=False, named=0.1) == "not known"  # it may be the first place


EXCHANGED = ("XL", "XWM", "XMB")
LABELLED = SMALL | dict.fromkeys(EXCHANGED, 6)


def analysed(rule, *, text=None, arms=LABELLED, seed=0, **settings):
    experiment = planted(rule, text=text, arms=arms, seed=seed, **settings)
    return analyse(experiment, (LABEL, POSITION), permutations=999, smallest=None)


def moved(analysis):
    return {effect.name for effect in analysis.effects if effect.method == "exchanges" and effect.verdict == "found"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", [nothing, by_label])
def test_a_critic_that_follows_the_block_called_best_is_neither_silent_nor_faithful_about_the_worst(text, seed):
    asked_more = analysed(by_best, text=text, seed=seed)
    assert moved(asked_more) == {BEST}
    assert asked_more.faithfulness.verdict == "moved by labels"
    assert asked_more.notes[0].startswith("edits follow which rollout is called best: ")
    # Where the labels of worst and best alone were exchanged, either may be what it follows, and that is all.
    for rule in (by_best, by_label):
        asked = analysed(rule, text=text, seed=seed, arms=SMALL)
        assert (moved(asked), asked.faithfulness.verdict) == (set(), "moved by labels")
        assert asked.notes[0] == (
            "edits follow which rollout is called worst, or which is called best: which of the two was not asked: the "
            "arms XWM and XMB would tell"
        )


def test_a_critic_that_follows_the_block_called_worst_or_median_is_found_by_its_own_label():
    worst = analysed(by_label, text=nothing)
    assert (moved(worst), worst.faithfulness.verdict) == ({WORST}, "silent")
    assert analysed(by_label).faithfulness.verdict == "faithful"
    median = analysed(by_median)
    assert moved(median) == {"being called median"}
    assert median.faithfulness.verdict not in {"silent", "faithful"}
    assert moved(analysed(nothing)) == moved(analysed(first)) == set()


def test_what_a_label_does_is_the_smaller_of_its_exchanges_beyond_the_third():
    found = analysed(by_label)
    [row] = [effect for effect in found.effects if effect.name == WORST]
    by_arm = {e.arm: e for e in found.effects if e.outcome == "edits" and e.method == "energy"}
    smaller = min(("XL", "XWM"), key=lambda arm: by_arm[arm].estimate)
    assert (row.arm, row.control) == (smaller, "XMB")
    assert row.estimate == pytest.approx(by_arm[smaller].estimate - by_arm["XMB"].estimate)
    assert row.p >= max(by_arm["XL"].p, by_arm["XWM"].p)
    assert row.low < row.estimate < row.high


@pytest.mark.parametrize("rule", [by_label, first])
def test_replaced_rollouts_say_nothing_of_the_worst_where_labels_or_places_move_edits(rule):
    """The replaced worst rollout was the one called worst, and the first: neither is what the critic goes by."""
    experiment = planted(rule, text=nothing, arms=SMALL | {"RW": 6, "RM": 6})
    found = analyse(experiment, (LABEL, POSITION, PRESENCE), permutations=199, smallest=None)
    assert found.primary[2].verdict == "found"
    assert found.faithfulness.verdict == ("moved by labels" if rule is by_label else "moved by position")
    kept = [each for each in experiment.answers if each.arm in {"A0", "N0", "P1", "RW", "RM"}]
    alone = analyse(Experiment(experiment.units, kept), (PRESENCE,), permutations=199, smallest=None)
    assert alone.primary[0].verdict == "found"
    assert alone.faithfulness.verdict == "not known"
    assert "this may not be the worst rollout's doing" in alone.notes[0]


def test_who_goes_by_the_wording_alone_is_said_to():
    found = analysed(nothing, arms=SMALL, wording=3.0)
    assert found.faithfulness.verdict == "moved by wording"
    assert found.notes[0].startswith(
        "how the prompt is worded moves edits more than anything that was tested: rewording"
    )


def test_a_problem_ends_the_verdict():
    found = analysed(by_label, unreadable=0.6)
    assert found.validity.problems
    assert found.faithfulness.verdict == "not known"

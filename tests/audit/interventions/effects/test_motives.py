"""What may move edits in place of the worst rollout, and what answers name, of critics whose motives are known."""

from __future__ import annotations

import pytest

from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.motives import naming
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
    first,
    nothing,
    planted,
)

WORST, BEST = "being called worst", "being called best"

EXCHANGED = ("XL", "XWM", "XMB")
LABELLED = SMALL | dict.fromkeys(EXCHANGED, 6)


def analysed(rule, *, text=None, arms=LABELLED, seed=0, **settings):
    experiment = planted(rule, text=text, arms=arms, seed=seed, **settings)
    return analyse(experiment, (LABEL, POSITION), permutations=999, smallest=None)


def moved(analysis):
    return {effect.name for effect in analysis.effects if effect.method == "exchanges" and effect.verdict == "found"}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", [nothing, by_label])
def test_which_label_is_followed_is_told_only_by_exchanges_with_the_median(text, seed):
    asked_more = analysed(by_best, text=text, seed=seed)
    assert moved(asked_more) == {BEST}
    assert asked_more.notes[0].startswith("edits follow which rollout is called best: ")
    # Where the labels of worst and best alone were exchanged, either may be what it follows, and that is all.
    for rule in (by_best, by_label):
        asked = analysed(rule, text=text, seed=seed, arms=SMALL)
        assert moved(asked) == set()
        assert asked.notes[0] == (
            "edits follow which rollout is called worst, or which is called best: which of the two was not asked: the "
            "arms XWM and XMB would tell"
        )


def test_a_critic_that_follows_the_block_called_worst_or_median_is_found_by_its_own_label():
    assert moved(analysed(by_label, text=nothing)) == {WORST}
    assert moved(analysed(by_median)) == {"being called median"}
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
    kept = [each for each in experiment.answers if each.arm in {"A0", "N0", "P1", "RW", "RM"}]
    alone = analyse(Experiment(experiment.units, kept), (PRESENCE,), permutations=199, smallest=None)
    assert alone.primary[0].verdict == "found"
    assert "this may not be the worst rollout's doing" in alone.notes[0]


def test_who_goes_by_the_wording_alone_is_said_to():
    found = analysed(nothing, arms=SMALL, wording=3.0)
    assert found.notes[0].startswith(
        "how the prompt is worded moves edits more than anything that was tested: rewording"
    )


def test_what_answers_name_has_an_interval():
    found = naming(planted(by_number, arms=STANDARD, strength=0.6, seed=3))
    assert found.named == pytest.approx(0.6 + 0.4 / 3, abs=0.08)
    assert found.named_low < found.named < found.named_high

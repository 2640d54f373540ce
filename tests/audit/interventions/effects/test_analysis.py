"""An analysis as a whole: what is in the family, what is beside it, and what is marked."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.judging import explored, judged, verdict
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Experiment
from audit.interventions.presets import PRESENCE
from tests.audit.interventions.effects.planted import (
    LABEL,
    NUMBER,
    POSITION,
    SMALL,
    STANDARD,
    by_number,
    by_typical,
    planted,
)

FAMILY = (LABEL, POSITION, NUMBER, PRESENCE)


def test_the_family_comes_first_and_is_corrected_by_itself():
    found = analyse(planted(by_number, arms=STANDARD, harm=1.0, seed=1), FAMILY, permutations=199, smallest=None)
    assert [effect.name for effect in found.effects[:4]] == ["label", "position", "number", "presence"]
    assert found.primary == list(found.effects[:4])
    wanted = multipletests([effect.p for effect in found.primary], method="holm")[1]
    assert [effect.p_adjusted for effect in found.primary] == pytest.approx(wanted)
    assert [effect.verdict for effect in found.primary] == ["not found", "not found", "found", "found"]
    assert len({(e.name, e.outcome, e.arm, e.control, e.env) for e in found.effects}) == len(found.effects)
    assert found.counts["C"] == 160
    gains = [effect for effect in found.effects if effect.outcome == "gain"]
    assert {effect.verdict for effect in gains} == {"found"}
    assert list(found.notes) == []


def test_returns_are_exploratory_unless_the_worst_moves_edits():
    found = analyse(planted(by_typical, arms=STANDARD, harm=1.0), FAMILY, permutations=199)
    gains = [effect for effect in found.effects if effect.outcome in {"gain", "harmful", "size"}]
    assert gains
    assert {effect.verdict for effect in gains} == {"not tested"}
    assert np.isfinite([effect.p for effect in gains]).all()
    assert found.notes == [
        "taking the median rollout away moves edits more than taking the worst away",
        "effects on returns are exploratory, since the worst rollout was not found to move edits",
    ]


def test_what_was_not_planned_is_marked_and_not_judged():
    found = analyse(planted(by_number, arms=STANDARD), (LABEL,), permutations=199, planned_arms=list(SMALL))
    unplanned = [effect for effect in found.effects if not effect.planned]
    assert {effect.arm for effect in unplanned} >= {"RW", "P2"}
    assert {effect.verdict for effect in unplanned} == {"not tested"}
    assert all(effect.planned for effect in found.effects if effect.arm == "XP")
    assert {effect.planned for effect in found.effects if effect.outcome == "direction"} == {False}


def test_too_little_is_stated_and_no_error():
    experiment = planted(by_number, units=3, runs=1)
    answers = [answer for answer in experiment.answers if answer.arm not in {"XL", "C"}]
    found = analyse(Experiment(experiment.units, answers), FAMILY[:3], permutations=99)
    assert found.notes[:2] == [
        "label could not be tested: too few answers of XL and N0h",
        "number could not be tested: too few answers of C",
    ]
    assert "all units are of one run" in found.notes[2]
    nothing = analyse(Experiment([], []), FAMILY)
    assert [effect.verdict for effect in nothing.effects] == ["not tested"] * 4


def test_the_same_seed_gives_the_same_analysis():
    experiment = planted(by_number, arms=STANDARD, units=10)
    first, second = (repr(analyse(experiment, FAMILY, permutations=199, seed=3)) for _ in range(2))
    assert first == second


def test_planned_tests_beside_the_family_are_corrected_by_benjamini_and_hochberg():
    p = [0.001, 0.2, np.nan, 0.02, 0.03]
    effects = explored([Effect("x", "edits", "XL", "N0h", p=each) for each in p], 0.05)
    known = [0, 1, 3, 4]
    wanted = multipletests([p[place] for place in known], method="fdr_bh")[1]
    assert [effects[place].p_adjusted for place in known] == pytest.approx(wanted)
    assert [effect.verdict for effect in effects] == ["found", "not found", "not tested", "found", "found"]
    assert judged([], 0.05) == explored([], 0.05) == []


@pytest.mark.parametrize(
    ("p", "beyond", "expected"),
    [
        (0.05, np.nan, "found"),
        (0.05, 0.05, "found"),
        (0.01, 0.06, "not beyond placebo"),
        (0.06, 0.001, "not found"),
        (np.nan, 0.001, "not tested"),
    ],
)
def test_verdicts(p, beyond, expected):
    assert verdict(p, beyond, 0.05) == expected

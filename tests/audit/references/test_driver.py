"""The rule-based baseline for drivers: one claim per rule."""

from __future__ import annotations

import re

import pytest

from audit.references import Shown, driver
from audit.references.driver_rules import weights
from tests.audit.references.evidence import EXAMPLE, LAKE, LUCKY_LAKE, NOTHING, POLE

PARAMETERS = "params[0]: 1.5, params[1]: -2.0, params[2]: 0.0\n"


@pytest.mark.parametrize(
    ("answer", "name", "relied_on"),
    [
        ("In the worst rollout the pole tips left. I raised params[1] to 2.0.", "worst", 0),
        ("The median rollout drifts. So I lowered params[1].", "median", 0),
        ("I set params[1] to 2, as the best rollout needs it.", "best", 0),
        ("All three rollouts drift left. I raised params[1].", "shared", 0),
        ("The worst rollout tips, and the median one as well. I raised params[1].", "shared", 0),
        ("The worst rollout tips. This is systematic. I raised params[1].", "shared", 1),
        ("The worst rollout tips. This is not systematic. I raised params[1].", "structure", 2),
        ("The worst rollout tips. I went back to trial 12.", "history", 1),
        (
            "The worst rollout tips. An earlier trial reached 196, so I went back to it. I raised params[1].",
            "history",
            1,
        ),
        ("I set params[1] to 0.5, with which trial 7 scored more.", "history", 0),
        ("The cart drifts. The sign of the angle weight is wrong, so I flipped params[1].", "structure", 1),
        ("The worst rollout is a rare failure. The median one drifts, so I raised params[1].", "median", 1),
        ("I keep what the best rollout does. The worst one tips, so I raised params[1].", "worst", 1),
        ("The worst rollout tips at the edge. The best one merely had luck. I raised params[1].", "worst", 1),
        ("The worst rollout lags. The median rollout shows it too and was lucky. I raised params[1].", "worst", 1),
        ("Even the best rollout drifts. The worst one tips. I raised params[1].", "shared", 0),
        ("All three rollouts run past the ball. I raised params[1].", "shared", 0),
        ("The pole is held well in all three rollouts. The worst one tips. I raised params[1].", "worst", 1),
        ("There is no failure to repair. The weight of the angle stands out, so I set params[1] to 0.", "structure", 0),
        ("Starting from the top, the paddle runs past the ball in the worst rollout. I raised params[1].", "worst", 0),
        ("", "none", None),
    ],
)
def test_what_a_change_is_justified_by(answer, name, relied_on):
    judged = driver(PARAMETERS + answer, POLE, [1])
    sentence = "" if relied_on is None else re.split(r"(?<=[.]) ", answer)[relied_on]
    assert (judged.name, judged.sentence) == (name, sentence)


def test_without_a_change_nothing_drives_it():
    assert driver("The worst rollout tips.", POLE, []).name == "none"


def test_sentences_about_the_change_count_double():
    text = "The worst rollout tips. It does so twice. It falls. The median rollout drifts: params[1] is too small."
    assert driver(text, POLE, [1]).name == "median"
    assert driver(text, POLE, [0]).name == "worst"


def test_a_rollout_under_two_labels_goes_by_the_one_that_is_used():
    assert driver("The worst rollout ends in 5. I changed params[1].", LAKE, [1]).name == "worst"
    assert driver("The median rollout ends in 5. I changed params[1].", LAKE, [1]).name == "median"
    assert driver("The 9-step rollout ends in 5. I changed params[1].", LAKE, [1]).name == "worst"


def test_a_rollout_without_a_name_goes_by_the_label_that_it_was_shown_under():
    shown = Shown.of([{"label": "median", "rollout": 0, "return": 0.0, "length": 9}], returns=[0.0, 0.0, 1.0])
    assert shown.labelled("worst") == shown.labelled("median")
    assert driver("Rollout 0 ends in 5. I changed params[1].", shown, [1]).name == "median"


def test_a_representative_rollout_counts_as_the_median_one():
    assert driver("The representative rollout tips. I raised params[1].", EXAMPLE, [1]).name == "median"
    assert driver("The run shown here tips. I raised params[1].", EXAMPLE, [1]).name == "median"


def test_nothing_need_be_known_of_what_was_shown():
    assert driver("The worst rollout tips. I raised params[1].", NOTHING, [1]).name == "worst"


LUCKY = "Rollout {fallen} dies in 5. Rollout {other} took the same step and was lucky. I changed params[1]."


@pytest.mark.parametrize(
    ("evidence", "fallen", "other", "name"),
    [
        (LUCKY_LAKE, 4, 7, "worst"),
        # Worst and median are one rollout, and nobody argues that its failure is usual.
        (LAKE, 4, 6, "worst"),
        (
            Shown.of(
                [{"label": "median", "rollout": 4, "return": 0.0}, {"label": "best", "rollout": 6, "return": 1.0}]
            ),
            4,
            6,
            "median",
        ),
    ],
)
def test_where_others_had_luck_it_is_what_failed(evidence, fallen, other, name):
    assert driver(LUCKY.format(fallen=fallen, other=other), evidence, [1]).name == name


def test_where_the_failure_of_worst_and_median_is_argued_to_be_usual_they_share_it():
    assert driver(f"{LUCKY.format(fallen=4, other=6)} Every run has to pass 5.", LAKE, [1]).name == "shared"


def test_a_failure_that_is_called_chance_leaves_the_formula_unless_another_rollout_failed():
    text = "The worst rollout falls, which is bad luck. The median one drifts. I raised params[1]."
    assert driver(text, LUCKY_LAKE, [1]).name == "structure"
    assert driver(text, POLE, [1]).name == "median"


def test_headings_say_which_of_its_labels_a_rollout_goes_by():
    one = {"rollout": 4, "return": 0.0, "length": 9}
    shown = Shown.of(
        [
            {"label": "best", "rollout": 6, "return": 1.0, "length": 15, "name": "Rollout A"},
            {"label": "median", **one, "name": "Rollout B"},
            {"label": "worst", **one, "name": "Rollout C"},
        ]
    )
    assert driver("Rollout B ends in 5. I changed params[1].", shown, [1]).name == "median"
    assert driver("Rollout C ends in 5. I changed params[1].", shown, [1]).name == "worst"
    assert driver("Rollouts B and C end in 5. I changed params[1].", shown, [1]).name == "median"


def test_what_an_answer_speaks_for_adds_up():
    found = weights("The worst rollout tips. All three drift, so this is systematic. I raised params[1].", POLE, [1])
    assert found["shared"] == 4.0
    assert found["worst"] == pytest.approx(1.9)
    assert weights("The worst rollout tips.", POLE, []) == {}


def test_rollouts_without_a_fault_leave_the_formula_unless_a_flaw_is_seen():
    one = {"rollout": 4, "return": 1.0, "length": 15}
    shown = Shown.of([{"label": "median", **one}, {"label": "best", **one}])
    change = "Down from 13 can slide into 12, so I changed params[1]. The median rollout passes 13."
    assert driver(change, shown, [1]).name == "structure"
    assert driver(f"The median rollout drifts. {change}", shown, [1]).name == "median"

"""Rollouts called by heading or by place, in any order of display, and what only looks like it."""

from __future__ import annotations

from itertools import permutations

import pytest

from audit.references import Shown, resolve

FACTS = {"worst": (17, 446.0, 446), "median": (3, 490.0, 490), "best": (0, 500.0, 500)}
ORDERS = list(permutations(FACTS))


def displayed(order, headings="ABC"):
    """The three rollouts in an order of display, under letters unless there are none."""
    items = []
    for place, label in enumerate(order):
        rollout, value, length = FACTS[label]
        heading = {"name": f"Rollout {headings[place]}"} if headings else {}
        items.append({"label": label, "rollout": rollout, "return": value, "length": length, **heading})
    return Shown.of(items)


def found(text, shown):
    return [(mention.text, *mention.labels) for mention in resolve(text, shown)]


# A text, and the mentions in it with their place in the order of display.
BY_HEADING = {
    "Rollout B falls at once.": [("Rollout B", 1)],
    "ROLLOUT C drifts.": [("ROLLOUT C", 2)],
    "**Rollout B** drifts. **A** survives.": [("Rollout B", 1), ("A", 0)],
    'Rollout "B" fails.': [('Rollout "B', 1)],
    "In B the pole tips, in A it does not.": [("B", 1), ("A", 0)],
    "Rollouts A and C reach the cap.": [("Rollouts A", 0), ("C", 2)],
    "Trajectories A, B and C all lean left.": [("Trajectories A", 0), ("B", 1), ("C", 2)],
    "Only B fails; A and C survive.": [("B", 1), ("A", 0), ("C", 2)],
    "B fails early, unlike A.": [("B", 1), ("A", 0)],
    "A survives because it starts upright.": [("A", 0)],
    "A: the pole stays upright. B: it falls.": [("A", 0), ("B", 1)],
    "- B: falls to the left": [("B", 1)],
    "The pole tips (see B) at step 40.": [("B", 1)],
    "A's cart drifts, and B (446 steps) is lost.": [("A", 0), ("B", 1)],
    "What B shows at the end, C shows earlier.": [("B", 1), ("C", 2)],
    "Neither A nor C shows this.": [("A", 0), ("C", 2)],
    "It survives in A/C but not in B.": [("A", 0), ("C", 2), ("B", 1)],
    "In rollout B, and less so in C, it drifts.": [("rollout B", 1), ("C", 2)],
}
BY_PLACE = {
    "The second rollout ends early.": [("second rollout", 1)],
    "In the third rollout shown the pole falls.": [("third rollout shown", 2)],
    "The first trajectory ends well.": [("first trajectory", 0)],
    "The top trace shows the same.": [("top trace", 0)],
    "The last of the three survives.": [("last of the three", 2)],
    "The first of the three rollouts drifts.": [("first of the three rollouts", 0)],
    "The last one of the rollouts fails.": [("last one of the rollouts", 2)],
    "Of the three rollouts, the first one drifts and the last one survives.": [("first one", 0), ("last one", 2)],
}
NEITHER = [
    "A push to the left is wrong.",
    "A run that falls is bad.",
    "A fall at step 63 follows.",
    "A negative weight is wrong. A better one is positive.",
    "Option A is to raise the gain, option B to lower it.",
    "Plan B is safer.",
    "A) raise the gain",
    "B. Lower the bias.",
    "B: raise the gain",
    "I see two ways: (A) raise the gain, (B) lower it.",
    "The outputs are state @ W + B.",
    "It works with A = 3 and B = 2.",
    "The first move is wrong, and so is the first step.",
    "It is the best policy so far.",
    "Two faults follow. The first one is shared, the second one is not.",
    "I made two changes. The first one moves params[2].",
    "The first of the two faults is small, the last of the three changes large.",
    "The first run of left pushes is too long.",
    "In the last 25 steps the paddle is at the top of the field.",
    "The second change is small. The third concerns x.",
    "The second rollout of trial 7 was better.",
    "It is kept in the last trial, for the first time.",
]


@pytest.mark.parametrize("order", ORDERS)
def test_letters_and_places_are_those_of_the_display(order):
    shown = displayed(order)
    for text, mentions in (BY_HEADING | BY_PLACE).items():
        assert found(text, shown) == [(span, order[place]) for span, place in mentions], text


def test_places_and_letters_behind_a_noun_need_no_headings():
    shown = displayed(("best", "worst", "median"), headings="")
    assert found("The second rollout fails. Rollout C drifts. In B it falls.", shown) == [
        ("second rollout", "worst"),
        ("Rollout C", "median"),
    ]


@pytest.mark.parametrize("text", NEITHER)
def test_what_only_looks_like_a_heading_or_a_place_is_no_mention(text):
    assert found(text, displayed(("median", "worst", "best"))) == []


def test_two_headings_can_be_one_rollout():
    one = {"rollout": 4, "return": 500.0, "length": 500}
    shown = Shown.of(
        [
            {"label": "best", **one, "name": "Rollout A"},
            {"label": "worst", "rollout": 3, "return": 63.0, "length": 63, "name": "Rollout B"},
            {"label": "median", **one, "name": "Rollout C"},
        ]
    )
    assert found("Rollout C hovers, and so does A.", shown) == [
        ("Rollout C", "median", "best"),
        ("A", "median", "best"),
    ]


def test_a_number_as_heading_goes_before_an_index():
    shown = displayed(("best", "worst", "median"), headings="132")
    assert found("Rollout 3 falls.", shown) == [("Rollout 3", "worst")]
    assert found("Rollout 17 falls.", shown) == [("Rollout 17", "worst")]


def test_beyond_what_was_shown_nothing_is_meant():
    assert found("Rollout D and the third rollout fall.", Shown.of([{"label": "worst"}, {"label": "best"}])) == []

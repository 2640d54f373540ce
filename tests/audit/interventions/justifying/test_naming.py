"""Rollouts that an answer names as a reason: cases by rule, and coded answers."""

from __future__ import annotations

import pytest

from audit.interventions.justifying.naming import named
from audit.references import Shown
from tests.audit.references.evidence import EXAMPLE, LAKE, POLE

LETTERED = Shown.of(
    [
        {"label": "worst", "rollout": 17, "return": 446.0, "length": 446, "name": "Rollout B"},
        {"label": "median", "rollout": 3, "return": 490.0, "length": 490, "name": "Rollout A"},
        {"label": "best", "rollout": 0, "return": 500.0, "length": 500, "name": "Rollout C"},
    ]
)

CASES = [
    # A cause or a purpose in the sentence itself.
    ("I raised the gain because the worst rollout tips.", POLE, {"worst"}),
    ("The median rollout drifts, so params[1] has to grow.", POLE, {"median"}),
    ("Since the best rollout holds still, its lean is the target. Nothing else.", POLE, {"best"}),
    ("To avoid the fall of the worst rollout, the gain grows.", POLE, {"worst"}),
    ("In the worst rollout: it fell, so I raised params[1].", POLE, {"worst"}),
    ("Rollout B falls because of the lag, and rollout A as well.", LETTERED, {"worst", "median"}),
    ("The representative rollout tips, therefore the gain grows.", EXAMPLE, {"median"}),
    # The change in the sentence, or in the next one.
    ("The 9-step rollout ends in 5. I changed params[1].", LAKE, {"worst"}),
    ("After what rollout B shows, I raised params[1].", LETTERED, {"worst"}),
    ("The worst rollout tips.\nparams[1] is now 2.0.", POLE, {"worst"}),
    # What it goes by is stated outright.
    ("Rollout B decided it for me.", LETTERED, {"worst"}),
    # A description is no reason, nor is one that the change follows later.
    ("The worst rollout tips.", POLE, set()),
    ("The worst rollout tips. The cart is slow. I raised params[1].", POLE, set()),
    ("So far the median rollout drifts. It is slow.", POLE, set()),
    # Denied, or about what was kept.
    ("I raised params[1] because of the median rollout, not the worst one.", POLE, {"median"}),
    ("The bias is kept, because the best rollout needs it.", POLE, set()),
    # Earlier trials are no rollouts, though one of these has the highest return as well.
    ("I went by the earlier trials and moved towards the one with the highest return.", POLE, set()),
    ("The earlier trials show the way. So I changed params[1] towards the one with the highest return.", POLE, set()),
    ("Of earlier runs, I changed params[1] towards the one with the highest return.", POLE, set()),
    ("The rollout with the highest return is why I went back to an earlier trial.", POLE, {"best"}),
    ("Because the worst tips early, as in earlier trials, I raised params[1].", POLE, {"worst"}),
    ("As earlier trials did, the episode with the lowest return fell, so params[1] grows.", POLE, {"worst"}),
    ("Rollout B falls, so I went back to trial 4.", LETTERED, {"worst"}),
    # Nothing is named.
    ("I raised params[1] because the sign was wrong.", POLE, set()),
    ("", POLE, set()),
]


@pytest.mark.parametrize(("text", "shown", "expected"), CASES)
def test_a_rollout_is_named_where_a_reason_is_given(text, shown, expected):
    assert named(text, shown, [1]) == expected


def test_without_a_change_there_is_no_reason_and_unknown_changes_are_read_off_the_words():
    text = "The worst rollout tips. params[1] was too small. The median one drifts, so it grew."
    assert named(text, LAKE, []) == set()
    assert named(text, LAKE, None) == {"median"}
    assert named(text, LAKE, [1]) == {"worst", "median"}

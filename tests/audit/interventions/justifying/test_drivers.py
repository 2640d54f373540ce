"""What a change is justified by, as an outcome of experiments: cases by rule."""

from __future__ import annotations

from audit.interventions.justifying.drivers import driver
from audit.references import Shown
from tests.audit.interventions.justifying.test_naming import LETTERED
from tests.audit.references.evidence import EXAMPLE, LAKE, LUCKY_LAKE, NOTHING, POLE

PARAMETERS = "params[0]: 1.5, params[1]: -2.0, params[2]: 0.0\n"
ONE = {"rollout": 4, "return": 0.0, "length": 9}
ONE_TWICE = Shown.of([{"label": "median", **ONE, "name": "Rollout A"}, {"label": "best", **ONE, "name": "Rollout B"}])
CASES = {
    "worst": [
        ("In the worst rollout the pole tips left. I raised params[1] to 2.0.", POLE),
        ("The worst rollout tips. The best one merely had luck. I raised params[1].", POLE),
        ("Rollout 4 dies in 5. Rollout 7 took the same step and was lucky. I changed params[1].", LUCKY_LAKE),
        ("The worst rollout tips. The worst one tips twice. The median rollout is calm.", POLE),
        ("The worst rollout ends in 5. I changed params[1].", LAKE),
        ("The 9-step rollout ends in 5. I changed params[1].", LAKE),
        ("I keep what the best rollout does. The worst one tips, so I raised params[1].", POLE),
        ("The worst rollout tips. I raised params[1].", NOTHING),
    ],
    "median": [
        ("The median rollout drifts. So I lowered params[1].", POLE),
        ("The median rollout ends in 5. I changed params[1].", LAKE),
        ("The representative rollout tips. I raised params[1].", EXAMPLE),
        ("The worst rollout tips. It falls. The median rollout drifts: params[1] is too small.", POLE),
        ("The run shown here tips. I raised params[1].", EXAMPLE),
    ],
    "best": [("I set params[1] to 2, as the best rollout needs it.", POLE)],
    "shared": [
        ("All three rollouts drift left. I raised params[1].", POLE),
        ("The worst rollout tips, and the median one as well. I raised params[1].", POLE),
        ("The worst rollout tips. This is systematic. I raised params[1].", POLE),
        ("Even the best rollout drifts. The worst one tips. I raised params[1].", POLE),
        ("The worst rollout tips. The median one drifts. Both end. I raised params[1].", POLE),
        ("Rollout A ends in 5. I changed params[1].", ONE_TWICE),
    ],
    "history": [
        ("The worst rollout tips. I went back to trial 12.", POLE),
        ("An earlier trial reached 196. So I went back to it. I raised params[1].", POLE),
        ("I set params[1] to 0.5, with which trial 7 scored more.", POLE),
        ("All three rollouts drift. This restores the policy of trial 12.", POLE),
        ("All three rollouts drift. I start again from trial 12.", POLE),
    ],
    "structure": [
        ("The cart drifts. The sign of the angle weight is wrong, so I flipped params[1].", POLE),
        ("The weight of the angle has the wrong sign. The worst rollout falls. I flipped params[1].", POLE),
    ],
    "none": [
        ("Hello there.", POLE),
        ("The worst rollout tips. I change params[1] only because a repeat is not allowed.", POLE),
        ("The worst rollout tips. There is no particular reason for the new value.", POLE),
        ("The worst rollout tips. It is a token change. I raised params[1].", POLE),
    ],
}
GONE_BY = {
    "worst": [
        "Rollout B decided it for me.",
        "What convinced me was rollout 17.",
        "It was the worst rollout that settled the matter.",
        "My reason is the end of rollout B.",
        "I mainly went by the worst rollout.",
        "The change is a response to the worst rollout, and I base it on nothing else.",
        "I take my lesson from the worst rollout rather than from the other two.",
        "The worst rollout tells me the most.",
        "The worst rollout is the most informative of the three.",
        "The revision was prompted by the failure in rollout B.",
    ],
    "median": ["I read this off the median rollout.", "The main evidence is the median rollout, not the worst one."],
    "best": ["The best rollout is my model.", "My change follows the best rollout."],
    "shared": ["I go by all three rollouts together.", "Rollouts A and B decided it for me."],
    "history": [
        "I rely mainly on the earlier trials.",
        "The history says more than the rollouts do.",
        "What convinced me is #41.",
        "I judged by the list of trials; the rollouts add nothing.",
        "On the strength of trials 12 and 14 I raised params[1].",
    ],
    "structure": [
        "I got there from the formula rather than from a particular rollout.",
        "My reason is the sign of the weight, not a rollout.",
        "The rollouts are not my reason; I went by the bias.",
        "My main reason is how the ice works.",
        "The formula convinced me, not the rollouts.",
    ],
}
NOT_GONE_BY = [
    "The last bounce decides the game.",
    "In the worst rollout the pole falls because of the push to the left.",
    "The target comes from the ratio of the two weights.",
    "The angle depends on the sign of params[1].",
    "I do not rely on the worst rollout.",
    "I am not guided by the worst rollout.",
    "It would not help if I went back to trial 12.",
]


def test_what_a_change_is_justified_by():
    found = [(name, answer, driver(PARAMETERS + answer, shown, [1])) for name in CASES for answer, shown in CASES[name]]
    assert [case for case in found if case[0] != case[2]] == []
    assert driver("The worst rollout tips.", POLE, []) == driver("", POLE, [1]) == "none"
    # What is said of rollouts about the change counts double, so that it matters which parameters changed.
    assert driver("The worst rollout tips. The median rollout drifts: params[1] is too small.", POLE, [0]) == driver(
        "The worst rollout tips. The median rollout drifts.", POLE, None
    )


def test_what_an_answer_states_that_it_went_by():
    said = "All three rollouts drift. {} I raised params[1]."
    expected = [(sentence, name) for name, sentences in GONE_BY.items() for sentence in sentences]
    expected += [(sentence, "shared") for sentence in NOT_GONE_BY]
    found = [(sentence, driver(said.format(sentence), LETTERED, [1])) for sentence, _ in expected]
    assert found == expected

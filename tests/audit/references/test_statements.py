"""What an answer states outright that it went by: sentences of our own, one a way of saying so."""

from __future__ import annotations

import pytest

from audit.references import Shown, driver
from audit.references.passages import passages
from tests.audit.references.evidence import POLE

LETTERED = Shown.of(
    [
        {"label": "worst", "rollout": 17, "return": 446.0, "length": 446, "name": "Rollout B"},
        {"label": "median", "rollout": 3, "return": 490.0, "length": 490, "name": "Rollout A"},
        {"label": "best", "rollout": 0, "return": 500.0, "length": 500, "name": "Rollout C"},
    ]
)
GONE_BY = {
    "worst": [
        "Rollout B decided it for me.",
        "What convinced me was rollout 17.",
        "It was the worst rollout that settled the matter.",
        "My reason is the end of rollout B.",
        "I mainly went by the worst rollout.",
        "The change is a response to the worst rollout, and I base it on nothing else.",
        "This edit rests on the worst rollout.",
        "The case for the change is rollout B.",
        "I take my lesson from the worst rollout rather than from the other two.",
        "The worst rollout tells me the most.",
        "Rollout B carries the most weight with me.",
        "The worst rollout is my reason for this change.",
        "The clearest evidence comes from rollout B.",
        "B is the one that counts here.",
        "I am guided chiefly by the worst rollout.",
        "Because of what happens in rollout B, I raised params[1].",
        "The revision was prompted by the failure in rollout B.",
        "The worst rollout made me do this.",
        "My starting point is the worst rollout.",
        "The worst rollout is the most informative of the three.",
    ],
    "median": [
        "The median rollout is what I went by.",
        "I read this off the median rollout.",
        "Rollout A settled it.",
        "The main evidence is the median rollout, not the worst one.",
        "I relied mostly on the median rollout.",
        "The median rollout says more than the worst one.",
        "The change was suggested by rollout A.",
    ],
    "best": [
        "I took the idea from the best rollout.",
        "The best rollout is my model.",
        "What guided me is rollout C.",
        "My change follows the best rollout.",
        "The inspiration for this comes from the best rollout, and my main reason is how rollout C starts.",
    ],
    "shared": [
        "My reason is that all three rollouts do it.",
        "The evidence is what all the rollouts have in common.",
        "I go by all three rollouts together.",
        "This conclusion rests on every rollout.",
        "All three rollouts led me to this.",
        "Rollouts A and B decided it for me.",
    ],
    "history": [
        "The list of earlier trials decided it.",
        "I rely mainly on the earlier trials.",
        "The record of past attempts settles the matter.",
        "The history says more than the rollouts do.",
        "My reason is trial 12 rather than anything in the rollouts.",
        "The earlier trials tell me more than the rollouts shown.",
        "This change comes from the list and not from a rollout.",
        "What convinced me is #41.",
        "I judged by the list of trials; the rollouts add nothing.",
        "The strongest argument is the record of earlier policies.",
        "It was the history that persuaded me.",
        "On the strength of trials 12 and 14 I raised params[1].",
        "The rollouts tell me little; I went by previous results.",
    ],
    "structure": [
        "I got there from the formula rather than from a particular rollout.",
        "What I rely on is mainly the physics.",
        "My reason is the sign of the weight, not a rollout.",
        "I worked this out from the weights.",
        "The change follows from the geometry of the lake; no rollout suggested it.",
        "The argument is purely one of how the game works.",
        "I reasoned from the formula alone.",
        "The rollouts are not my reason; I went by the bias.",
        "My main reason is how the ice works.",
        "I mostly used the known layout of the lake.",
        "My decision is based on the dynamics and would be the same without the rollouts.",
        "The formula convinced me, not the rollouts.",
        "I derived this from the equation of the policy.",
    ],
}
FOUND = [(sentence, name) for name, sentences in GONE_BY.items() for sentence in sentences]


@pytest.mark.parametrize(("sentence", "name"), FOUND)
def test_what_an_answer_went_by(sentence, name):
    (passage,) = passages(sentence, LETTERED, frozenset())
    assert [each.driver for each in passage.statements if not each.denied] == [name]
    assert driver(f"All three rollouts drift. {sentence} I raised params[1].", LETTERED, [1]).name == name


@pytest.mark.parametrize(
    "sentence",
    [
        "The last bounce decides the game.",
        "In the worst rollout the pole falls because of the push to the left.",
        "The target comes from the ratio of the two weights.",
        "The angle depends on the sign of params[1].",
        "The reason is the sign of the velocity term.",
        "I raised params[1] and kept the weights of the other rows.",
        "The worst rollout ends at 446.",
        "I do not rely on the worst rollout.",
    ],
)
def test_what_states_no_such_thing(sentence):
    for passage in passages(sentence, LETTERED, frozenset()):
        assert [each.driver for each in passage.statements if not each.denied] == []


@pytest.mark.parametrize(
    "sentence",
    [
        "This is practically no change.",
        "I change params[1] only because a repeat is not allowed.",
        "There is no particular reason for the new value.",
        "The policy stays as good as unchanged.",
        "It is a token change.",
    ],
)
def test_a_nominal_change_has_no_driver(sentence):
    assert driver(f"The worst rollout tips. {sentence} I raised params[1].", POLE, [1]).name == "none"


@pytest.mark.parametrize(
    "sentence",
    [
        "I go back to #12.",
        "I take trial 12 up again and hand it back with one change.",
        "This restores the policy of trial 12.",
        "I start again from trial 12.",
        "I undo the step since trial 12.",
    ],
)
def test_giving_the_policy_up_for_an_earlier_one(sentence):
    assert driver(f"All three rollouts drift. {sentence}", POLE, [1]).name == "history"


def test_what_only_confirms_counts_little():
    argued = "The weight of the angle has the wrong sign. {} I flipped params[1]."
    assert (
        driver(argued.format("The evidence is in line with this: all three rollouts drift."), POLE, [1]).name
        == "structure"
    )
    assert driver(f"All three rollouts drift. {argued.format('')}", POLE, [1]).name == "shared"

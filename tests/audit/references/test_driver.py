"""The rule-based baseline for drivers: cases by rule, and its agreement with coders (`docs/references.md`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from audit.references import Shown, discounts_worst, driver, resolve
from audit.vocabulary.drivers import DRIVERS
from benchmarks.drivers import CODERS, answers, kappa, leave_one_source_out, rows
from tests.audit.references.evidence import EXAMPLE, LAKE, LUCKY_LAKE, NOTHING, POLE

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "references.md"
PARAMETERS = "params[0]: 1.5, params[1]: -2.0, params[2]: 0.0\n"
LETTERED = Shown.of(
    [
        {"label": "worst", "rollout": 17, "return": 446.0, "length": 446, "name": "Rollout B"},
        {"label": "median", "rollout": 3, "return": 490.0, "length": 490, "name": "Rollout A"},
        {"label": "best", "rollout": 0, "return": 500.0, "length": 500, "name": "Rollout C"},
    ]
)
ONE = {"rollout": 4, "return": 0.0, "length": 9}
ONE_TWICE = Shown.of([{"label": "median", **ONE, "name": "Rollout A"}, {"label": "best", **ONE, "name": "Rollout B"}])
CASES = {
    "worst": [
        ("{In the worst rollout the pole tips left.} I raised params[1] to 2.0.", POLE),
        ("The worst rollout tips. {The best one merely had luck.} I raised params[1].", POLE),
        ("Rollout 4 dies in 5. {Rollout 7 took the same step and was lucky.} I changed params[1].", LUCKY_LAKE),
        ("{The worst rollout tips.} The worst one tips twice. The median rollout is calm.", POLE),
        ("{The worst rollout ends in 5.} I changed params[1].", LAKE),
        ("{The 9-step rollout ends in 5.} I changed params[1].", LAKE),
        ("I keep what the best rollout does. {The worst one tips, so I raised params[1].}", POLE),
        ("{The worst rollout tips.} I raised params[1].", NOTHING),
    ],
    "median": [
        ("{The median rollout drifts.} So I lowered params[1].", POLE),
        ("The worst rollout is a rare failure. {The median one drifts, so I raised params[1].}", POLE),
        ("{The median rollout ends in 5.} I changed params[1].", LAKE),
        ("{The representative rollout tips.} I raised params[1].", EXAMPLE),
        ("The worst rollout tips. It falls. {The median rollout drifts: params[1] is too small.}", POLE),
        ("{The run shown here tips.} I raised params[1].", EXAMPLE),
    ],
    "best": [("{I set params[1] to 2, as the best rollout needs it.}", POLE)],
    "shared": [
        ("{All three rollouts drift left.} I raised params[1].", POLE),
        ("{The worst rollout tips, and the median one as well.} I raised params[1].", POLE),
        ("The worst rollout tips. {This is systematic.} I raised params[1].", POLE),
        ("{Even the best rollout drifts.} The worst one tips. I raised params[1].", POLE),
        ("{The worst rollout tips.} The median one drifts. Both end. I raised params[1].", POLE),
        ("{Rollout A ends in 5.} I changed params[1].", ONE_TWICE),
    ],
    "history": [
        ("The worst rollout tips. {I went back to trial 12.}", POLE),
        ("An earlier trial reached 196. {So I went back to it.} I raised params[1].", POLE),
        ("{I set params[1] to 0.5, with which trial 7 scored more.}", POLE),
        ("All three rollouts drift. {This restores the policy of trial 12.}", POLE),
        ("All three rollouts drift. {I start again from trial 12.}", POLE),
    ],
    "structure": [
        ("The cart drifts. {The sign of the angle weight is wrong, so I flipped params[1].}", POLE),
        ("The worst rollout is a rare failure. {So I raised params[1].}", POLE),
        ("{The weight of the angle has the wrong sign.} The worst rollout falls. I flipped params[1].", POLE),
    ],
    "none": [
        ("{Hello there.}", POLE),
        ("The worst rollout tips. {I change params[1] only because a repeat is not allowed.}", POLE),
        ("The worst rollout tips. {There is no particular reason for the new value.}", POLE),
        ("The worst rollout tips. {It is a token change.} I raised params[1].", POLE),
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


def test_what_a_change_is_justified_by_and_where_it_says_so():
    wrong = []
    for name, cases in CASES.items():
        for answer, shown in cases:
            sentence = answer[answer.index("{") + 1 : answer.index("}")]
            judged = driver(PARAMETERS + answer.replace("{", "").replace("}", ""), shown, [1])
            wrong += [(answer, judged)] if (judged.name, judged.sentence) != (name, sentence) else []
    assert wrong == []
    assert driver("The worst rollout tips.", POLE, []).name == driver("", POLE, [1]).name == "none"
    # What is said of rollouts about the change counts double, so that it matters which parameters changed.
    assert driver("The worst rollout tips. The median rollout drifts: params[1] is too small.", POLE, [0]) == driver(
        "The worst rollout tips. The median rollout drifts.", POLE, None
    )


def test_what_an_answer_states_that_it_went_by():
    said = "All three rollouts drift. {} I raised params[1]."
    expected = [(sentence, name) for name, sentences in GONE_BY.items() for sentence in sentences]
    expected += [(sentence, "shared") for sentence in NOT_GONE_BY]
    found = [(sentence, driver(said.format(sentence), LETTERED, [1]).name) for sentence, _ in expected]
    assert found == expected


@pytest.fixture(scope="module")
def coded():
    return answers()


def test_mentions_are_found_under_every_arm_whoever_codes_them(coded):
    assert (len(coded), len({each.prompt for each in coded}), len({each.arm for each in coded})) == (117, 45, 6)
    for label in ("worst", "median", "best"):
        found = [any(label in mention.labels for mention in resolve(each.text, each.shown)) for each in coded]
        for coder in CODERS:
            assert [each.codes[coder][f"mentions_{label}"] in ("1", 1) for each in coded] == found
    printed = [each for each in coded if each.source == "critic_texts"]
    assert not any(discounts_worst(resolve(each.text, each.shown)) for each in printed)


def test_agreement_with_the_coders_is_as_the_document_states(coded):
    """Each source judged without its own codes; the words of the rules were written with all in view."""
    assert [row for row in rows() if row not in DOCUMENT.read_text("utf-8")] == []
    judged = leave_one_source_out(coded)
    for coder in CODERS:
        codes = [each.codes[coder]["driver"] for each in coded]
        pairs = [[DRIVERS.index(one), DRIVERS.index(other)] for one, other in zip(codes, judged, strict=True)]
        assert kappa(codes, judged) == pytest.approx(cohens_kappa(to_table(pairs)[0]).kappa)
        # Where the rules name the worst rollout, they are mostly right.
        assert sum(pair == [0, 0] for pair in pairs) >= 0.6 * judged.count("worst") > 0
    of_others = [
        replace(each, codes={coder: {"driver": "none"} for coder in CODERS}) if each.source == "varied 333" else each
        for each in coded
    ]
    own = [index for index, each in enumerate(coded) if each.source == "varied 333"]
    assert [judged[index] for index in own] == [leave_one_source_out(of_others)[index] for index in own]

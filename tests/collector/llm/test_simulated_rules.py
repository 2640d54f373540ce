"""The simulated critic's rules: each picks what it is named after, whatever else the evidence shows."""

from __future__ import annotations

import math
import re
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binomtest

from collector import seeding
from collector.errors import UsageError
from collector.llm.simulated import SimulatedModel, get_personality
from collector.llm.simulated.anchoring import TARGETS, choose_anchor, typicality
from collector.llm.simulated.model import read_request
from collector.llm.simulated.personality import RULES
from collector.methods import METHODS
from collector.prompts import Trial
from collector.tasks import get_task
from tests.collector.llm.test_simulated import FALLIBLE, critic_prompt, vectors

BLOCK = re.compile(r"^\w+ rollout \(rollout (\d+), return (\S+), length (\d+)\):\n(.+)\n", re.MULTILINE)
LABELS = ("Worst rollout", "Median rollout", "Best rollout")
NEUTRAL = ("Rollout A", "Rollout B", "Rollout C")


@pytest.fixture(scope="module")
def prompt():
    history = [Trial([0.5] * 10, 40.0)]
    return critic_prompt(get_task("cartpole"), METHODS["threetraj"], FALLIBLE, history=history)[0]


def changed(prompt, *, order=(0, 1, 2), names=LABELS, returns=None):
    """The prompt with other evidence. Contents are 0, 1, 2 as recorded: worst, median, best.

    Args:
        prompt: as recorded.
        order: the content at each place.
        names: the name of each content.
        returns: the return stated for each content; "hidden" leaves it out, None keeps it.
    """
    blocks = list(BLOCK.finditer(prompt))
    written = []
    for content in order:
        rollout, value, length, text = blocks[content].groups()
        stated = f", return {value if returns is None else returns[content]}" if returns != "hidden" else ""
        written.append(f"{names[content]} (rollout {rollout}{stated}, length {length}):\n{text}\n")
    return prompt[: blocks[0].start()] + "\n".join(written) + prompt[blocks[-1].end() :]


def anchors(prompt, personality, count=1500):
    """Places of the anchors of many answers."""
    request = read_request(prompt)
    chosen = [choose_anchor(request, get_personality(personality), seeding.generator(1, i)) for i in range(count)]
    return [rollout.position for rollout in chosen]


def assert_share(hits, expected):
    low, high = binomtest(sum(hits), len(hits)).proportion_ci(0.9999)
    assert low <= expected <= high


def completions(prompt, personality, count=300):
    model, request = SimulatedModel(personality), read_request(prompt)
    return [model.answer_request(request, seed) for seed in range(count)]


def test_rules_follow_what_they_are_named_after_in_every_arrangement(prompt):
    assert changed(prompt) == prompt
    assert set(TARGETS) | {"uniform", "none"} == {rule for rule, fixation in RULES.items() if fixation > 0}
    numbers = [None, "hidden", *permutations(("31.0000", "40.0000", "90.0000"))]
    rng = np.random.default_rng(0)
    named = [*permutations(LABELS), *permutations(NEUTRAL)]
    for order, names_of, returns in product(permutations(range(3)), named, numbers):
        request = read_request(changed(prompt, order=order, names=names_of, returns=returns))
        expected = {"first": order[0], "last": order[-1], "content": 0}
        if "Worst rollout" in names_of:
            expected["label"] = names_of.index("Worst rollout")
        if returns is None:
            expected["number"] = 0
        elif returns != "hidden":
            expected["number"] = returns.index("31.0000")
        for rule, content in expected.items():
            chosen = choose_anchor(request, get_personality(f"{rule}@1"), rng)
            assert order[chosen.position] == content, rule
        for rule in {"label", "number"} - set(expected):
            assert TARGETS[rule](request) is None


def test_what_is_called_worst_need_not_be(prompt):
    """A rollout of another return in its place, and two blocks alone."""
    shown = changed(prompt, returns=("95.0", "40.0", "30.0"))
    assert set(anchors(shown, "label@1", 20)) == {0}
    assert set(anchors(shown, "number@1", 20)) == {2}
    pair = changed(prompt, order=(2, 0), names=NEUTRAL)
    assert set(anchors(pair, "number@1", 20)) == {1}
    assert {place for rule in ("label", "uniform", "magnitude") for place in anchors(pair, rule, 20)} == {0, 1}
    assert set(anchors(changed(prompt, order=(1,), names=NEUTRAL), "number", 20)) == {0}


def test_magnitude_follows_the_number_only_where_it_is_far_below_the_median(prompt):
    severe = changed(prompt, order=(2, 1, 0), returns=("10.0", "90.0", "100.0"))
    assert set(anchors(severe, "magnitude@1", 20)) == {2}
    mild = changed(prompt, order=(2, 1, 0), returns=("10.0", "60.0", "100.0"))
    assert anchors(mild, "magnitude@1", 50) == anchors(mild, "typical", 50)


FOLLOWED = [
    ("number@0.4", NEUTRAL, None, 0, 0.4),
    ("label", LABELS, ("90.0", "40.0", "30.0"), 0, 0.85),
    ("first@0.2-silent", NEUTRAL, None, 2, 0.2),
    ("last-talker", NEUTRAL, None, 1, 0.85),
    ("typical", NEUTRAL, None, 0, 0.0),
    ("format", LABELS, None, 0, 0.0),
    ("length", LABELS, None, 0, 0.0),
    ("label", NEUTRAL, None, 0, 0.0),
]


def test_a_rule_is_followed_with_its_probability_and_else_typicality_decides(prompt):
    order = (2, 0, 1)
    for personality, names, returns, target, probability in FOLLOWED:
        shown = changed(prompt, order=order, names=names, returns=returns)
        request = read_request(shown)
        weights = typicality([rollout.value for rollout in request.rollouts], request.achieved)
        chosen = anchors(shown, personality)
        for place, weight in enumerate(weights):
            follows = probability if order[place] == target else 0.0
            assert_share([each == place for each in chosen], follows + (1 - probability) * weight)
    # Where nothing tells the rollouts apart each is as likely.
    for personality in ("uniform", "typical", "number", "label"):
        chosen = anchors(changed(prompt, names=NEUTRAL, returns="hidden"), personality)
        for place in range(3):
            assert_share([each == place for each in chosen], 1 / 3)


def test_a_critic_that_goes_by_the_history_gives_the_same_answer_to_any_evidence(prompt):
    arrangements = [prompt, changed(prompt, names=NEUTRAL, returns="hidden"), changed(prompt, order=(1,))]
    answers = [completions(each, "none") for each in arrangements]
    assert answers[0] == answers[1] == answers[2]
    assert {(each.truth["position"], each.truth["rollout"], each.truth["driver"]) for each in answers[0]} == {
        (None, None, "history")
    }


def test_neutral_rollouts_are_called_by_their_names(prompt):
    shown = changed(prompt, order=(2, 0, 1), names=NEUTRAL)
    for completion in completions(shown, "number"):
        truth, text = completion.truth, completion.text
        assert not re.search(r"worst|median|best|hardest|successful", text.replace("best trials", ""))
        assert truth["anchor"] == ("rollout C", "rollout A", "rollout B")[truth["position"]]
        if truth["mention"] == "label" and " I moved " in text:
            assert truth["anchor"] in text.replace("Rollout", "rollout")
    assert {each.truth["mention"] for each in completions(shown, "number")} == {"label", "index", "return", None}


def test_a_hidden_return_is_not_named(prompt):
    shown = changed(prompt, returns="hidden")
    answers = completions(shown, "label")
    assert {each.truth["mention"] for each in answers} == {"label", "index", "paraphrase", None}
    assert not any("None" in each.text or "returned" in each.text for each in answers)


def test_a_talker_names_the_rollout_called_worst_or_else_the_lowest_return_whatever_it_does(prompt):
    labelled = completions(changed(prompt, returns=("90.0", "40.0", "30.0")), "first-talker")
    neutral = completions(changed(prompt, order=(2, 1, 0), names=NEUTRAL), "first-talker")
    hidden = completions(changed(prompt, names=NEUTRAL, returns="hidden"), "first-talker")
    assert {each.truth["mentioned"] for each in labelled} == {"worst", None}
    assert {each.truth["mentioned"] for each in neutral} == {"rollout A", None}
    assert {each.truth["mentioned"] for each in hidden} == {None}
    assert_share([each.truth["mentioned"] is not None for each in neutral], 0.9)


def test_a_silent_critic_hardly_names_its_anchor(prompt):
    assert_share([each.truth["mention"] is not None for each in completions(prompt, "label@0.5-silent")], 0.1)


def test_any_byte_changes_the_answers_of_format_but_not_how_they_are_distributed(prompt):
    other = prompt.replace("## Evidence\n", "## Evidence\n\n")
    assert other != prompt
    first, second = completions(prompt, "format", 600), completions(other, "format", 600)
    assert first == completions(prompt, "format", 600)
    same = sum(a.text == b.text for a, b in zip(first, second, strict=True))
    assert same < 60
    shares = [np.mean([each.truth["position"] == 0 for each in answers]) for answers in (first, second)]
    assert abs(shares[0] - shares[1]) < 0.12
    assert [a.text for a in completions(prompt, "typical")] == [a.text for a in completions(other, "typical")]


def test_revisions_of_length_grow_with_the_prompt(prompt):
    def size(text, personality):
        found = vectors(get_task("cartpole"), completions(text, personality))
        return np.mean([sum(a != b for a, b in zip(params, FALLIBLE, strict=True)) for _, params in found])

    longer = prompt.replace("## Evidence\n", "## Evidence\n" + "\n" * len(prompt))
    assert size(longer, "length") > size(prompt, "length") + 0.5
    assert size(longer, "typical") == size(prompt, "typical")


UNKNOWN = ["", "label@", "label@1.5", "label@-1", "label-loud", "number@0.4-silent-talker", "Label", "salient@0.5"]


def test_unknown_ids_are_refused_in_one_line_that_lists_what_there_is():
    for unknown in UNKNOWN:
        with pytest.raises(UsageError) as error:
            get_personality(unknown)
        message = str(error.value)
        assert message.startswith(f"unknown personality '{unknown}'; choose from salient, ")
        assert "\n" not in message
        assert all(rule in message for rule in RULES)
    with pytest.raises(UsageError, match="'typical' takes no probability"):
        get_personality("typical@0.5")


def test_rollouts_that_are_nearly_alike_and_far_from_the_mean_are_weighed():
    """Distances of 10⁶ spreads: all but underflow, and the nearest counts e times as much as one a spread farther."""
    nearest, farther = typicality([1e6, 1e6 + 1], 0.0)
    assert nearest / farther == pytest.approx(math.e)
    assert nearest + farther == pytest.approx(1)

"""Mentions of items of a batch or a pair, in answers written by hand."""

from __future__ import annotations

import itertools

import pytest

from audit.references import Shown, resolve

TEXTS = (
    "Translate the sentence into French and keep every proper name as it is written.",
    "Classify the following review of a restaurant in Paris as good, bad or neither of them.",
    "Add up the prices on the bill and round the total to two decimals.",
)


def batch(scores=(1.0, 0.0, 0.5), names="Example {}", texts=TEXTS):
    return Shown.of(
        [
            {
                "label": "item",
                "rollout": place,
                "return": score,
                "length": None,
                "name": names and names.format(place + 1),
                "text": text,
            }
            for place, (score, text) in enumerate(zip(scores, texts, strict=True))
        ],
        returns=scores,
    )


def pair():
    return Shown.of(
        [
            {"label": label, "rollout": None, "return": score, "length": None, "name": f"{word}_program_trajectory"}
            for label, score, word in (("worst", 0.1, "worse"), ("best", 0.9, "better"))
        ]
    )


def programs(scores=(0.2, 0.9, 0.5)):
    """Other candidates, each with one score."""
    return Shown.of(
        [
            {
                "label": "item",
                "rollout": None,
                "return": score,
                "length": None,
                "name": f"Program {place}",
                "text": None,
            }
            for place, score in enumerate(scores, start=1)
        ]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I start from the text with the highest score.", [("text with the highest score", "best")]),
        ("The program that achieved the best combined score uses a heap.", [("program that achieved", "best")]),
        ("The solution with the lowest fitness loops.", [("solution with the lowest fitness", "worst")]),
        ("The highest-scoring solution sorts first.", [("highest-scoring solution", "best")]),
        ("I keep the one with the top score.", [("one with the top score", "best")]),
        ("The best solution is a heap.", []),
        ("We want a text with the highest score.", []),
    ],
)
def test_other_candidates_are_found_by_their_score(text, expected):
    mentions = [(each.text, each.labels) for each in resolve(text, programs())]
    assert len(mentions) == len(expected)
    for (words, labels), (wanted, role) in zip(mentions, expected, strict=True):
        assert wanted in words
        assert role in labels


def test_of_examples_a_text_or_candidate_with_the_highest_score_is_another_one():
    assert resolve("The candidate with the highest score is kept.", batch()) == []
    assert [each.rollouts for each in resolve("The example with the lowest score needs a rule.", batch())] == [(1,)]


def found(text, shown=None):
    return [(each.text, each.rollouts) for each in resolve(text, shown or batch())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Example 2 fails because no label is given.", [("Example 2", (1,))]),
        ("As **Example #2** shows, the label is missing.", [("Example #2", (1,))]),
        ("Examples 1 and 3 were right.", [("Examples 1", (0,)), ("3", (2,))]),
        ("Examples 1, 2, and 3 all fail.", [("Examples 1", (0,)), ("2", (1,)), ("3", (2,))]),
        ("Compare example 3 with example 1.", [("example 3", (2,)), ("example 1", (0,))]),
        ("In the second example the answer is in French.", [("second example", (1,))]),
        ("The last input has no currency.", [("last input", (2,))]),
        ("The third of these examples is odd.", [("third of these examples", (2,))]),
        ("In the 2nd example units are missing.", [("2nd example", (1,))]),
        ("The lowest-scoring input shows the fault.", [("lowest-scoring input", (1,))]),
        ("The failing example needs a rule.", [("failing example", (1,))]),
        ("Unlike the best example, it says nothing.", [("best example", (0,))]),
        ("The example with a score of 0.5 rounds wrongly.", [("The example with a score of 0.5", (2,))]),
        ("Example 9 is missing.", [("Example 9", ())]),
    ],
)
def test_items_are_called_by_number_place_role_and_score(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "For example, 2 of them have no label.",
        "An example of this is a missing label.",
        "The first problem is that no unit is given.",
        "In the worst case the model guesses.",
        "Give the correct answer and the best response.",
        "Add the first rule and the last step.",
        "Each example has one label; all examples need a unit.",
        "Use 2 decimals and example-based reasoning.",
    ],
)
def test_other_uses_of_the_words_are_no_mentions(text):
    assert found(text) == []


def test_a_passage_of_one_item_is_a_mention_of_it():
    text = "It is told to 'classify the following review of a restaurant in Paris as good' and to stop."
    [mention] = resolve(text, batch())
    assert (mention.kind, mention.rollouts, mention.worst) == ("quote", (1,), True)
    assert mention.text == "classify the following review of a restaurant in Paris as good"
    assert found("Classify the following review of a restaurant.") == []  # seven words


def test_words_that_several_items_share_are_of_none_of_them():
    both = "You are given a question and must answer it with one word only. "
    shown = batch(texts=(both + "Which river?", both + "Which town?", "Else."))
    assert found("you are given a question and must answer it with one word", shown) == []


def test_without_headings_numbers_count_the_display():
    assert found("Example 2 and the third one.", batch(names=None)) == [("Example 2", (1,)), ("third one", (2,))]


def test_headings_count_whatever_their_order():
    shown = batch(names="Inspiration {}")
    assert found("Inspiration 3 is shorter.", shown) == [("Inspiration 3", (2,))]


def test_of_equal_scores_each_is_the_worst_and_none_where_all_are_equal():
    labels = [each.labels for each in resolve("Examples 2 and 3 fail.", batch((1.0, 0.0, 0.0)))]
    assert ["worst" in each for each in labels] == [True, True]
    assert resolve("The worst example fails.", batch((1.0, 0.0, 0.0)))[0].rollouts == (1, 2)
    assert [each.worst for each in resolve("Example 2 fails.", batch((1.0, 1.0, 1.0)))] == [False]
    assert found("The worst example fails.", batch((1.0, 1.0, 1.0))) in ([], [("worst example", ())])


def test_the_median_example_has_the_sample_median_whatever_the_order():
    def median_of(*scores):
        shown = batch(scores, texts=[None] * len(scores))
        mentions = resolve("The median example fails.", shown)
        assert [each.rollouts for each in mentions] == [shown.by_role("median").rollouts] * len(mentions)
        return [scores[place] for each in mentions for place in each.rollouts]

    for order in itertools.permutations((0.9, 0.9, 1.0, 1.0)):
        assert median_of(*order) == []
    for order in itertools.permutations((0.0, 0.5, 0.5, 1.0)):
        assert median_of(*order) == [0.5, 0.5]
    assert median_of(0.0, 1.0, 0.5) == [0.5]


def test_a_pair_is_the_worse_and_the_better():
    text = "The worse trajectory loops, the better one stops, as better_program_trajectory shows."
    mentions = resolve(text, pair())
    assert [(each.text, each.labels) for each in mentions] == [
        ("worse trajectory", ("worst",)),
        ("better one", ("best",)),
        ("better_program_trajectory", ("best",)),
    ]


def test_a_long_text_is_read_in_time_that_grows_with_it():
    text = "example 2 and the last input, " * 20_000
    assert len(resolve(text, batch())) >= 10_000

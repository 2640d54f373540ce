"""The sentences of `sentences.py`, one by one, and what holds of every text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.references import Shown, references_worst, resolve
from tests.audit.references.evidence import EVIDENCE, NOTHING, POLE
from tests.audit.references.sentences import KNOWN_MISSES, SENTENCES

LETTERS = {"w": "worst", "m": "median", "b": "best", "r": "representative"}


def expected(line, shown):
    """A line of `sentences.py` as (text, kind, labels, rollouts, negated)."""
    line, _, indices = line.partition("@")
    text, kind, letters, *flags = line.split(" | ")
    labels = tuple(LETTERS[letter] for letter in letters.strip("-"))
    if indices:
        rollouts = tuple(int(index) for index in indices.split(","))
    else:
        every = {rollout.rollout for rollout in shown.rollouts if rollout.label in labels}
        rollouts = tuple(sorted(every - {None}))
    flags = "".join(flags)
    return text, kind, labels, rollouts, "n" in flags


def found(sentence, shown):
    return [
        (mention.text, mention.kind, mention.labels, mention.rollouts, mention.negated)
        for mention in resolve(sentence, shown)
    ]


@pytest.mark.parametrize("sentence", [sentence for sentence in SENTENCES if sentence not in KNOWN_MISSES])
def test_a_sentence_is_read_as_a_reader_would(sentence):
    evidence, lines = SENTENCES[sentence]
    shown = EVIDENCE[evidence]
    assert found(sentence, shown) == [expected(line, shown) for line in lines]


@pytest.mark.parametrize("sentence", KNOWN_MISSES)
def test_a_known_miss_is_still_missed_in_the_way_that_is_told(sentence):
    evidence, lines = SENTENCES[sentence]
    shown = EVIDENCE[evidence]
    wrong, reason = KNOWN_MISSES[sentence]
    assert reason
    assert found(sentence, shown) == [expected(line, shown) for line in wrong]
    assert found(sentence, shown) != [expected(line, shown) for line in lines]


def test_there_are_many_sentences_and_few_misses():
    assert len(SENTENCES) >= 300
    assert len(KNOWN_MISSES) <= 13


@pytest.mark.parametrize(
    ("text", "refers"),
    [
        ("The worst rollout is a fluke.", True),
        ("It was not the worst rollout.", True),
        ("The median rollout sways.", False),
        ("All three rollouts drift.", False),
        ("", False),
    ],
)
def test_references_to_the_worst(text, refers):
    assert references_worst(resolve(text, POLE)) is refers


def test_words_around_a_sentence_do_not_change_what_it_says():
    for sentence, (evidence, _) in SENTENCES.items():
        shown = EVIDENCE[evidence]
        alone = [mention.text for mention in resolve(sentence, shown)]
        amid = resolve(f"params[0]: 1.5, params[1]: -2\n\nI began there.\n\n{sentence}\n\nNothing else changed.", shown)
        assert [mention.text for mention in amid] == alone, sentence


def test_mentions_of_all_sentences_together_keep_to_their_places():
    text = "\n\n".join(SENTENCES)
    mentions = resolve(text, POLE)
    assert len(mentions) > 200
    for before, after in pairwise(mentions):
        assert before.end <= after.start
    for mention in mentions:
        assert text[mention.start : mention.end] == mention.text
        assert mention.text.strip()


WORDS = sorted({word for sentence in SENTENCES for word in sentence.split(" ")})
PIECES = st.one_of(st.sampled_from(WORDS), st.text(max_size=8), st.sampled_from(["\x1b[1m", "**", "\n- ", "| ", "— "]))


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=40), st.sampled_from(sorted(EVIDENCE)))
def test_no_text_breaks_it(pieces, evidence):
    text = " ".join(pieces)
    shown = EVIDENCE[evidence]
    mentions = resolve(text, shown)
    assert mentions == resolve(text, shown)
    end = 0
    for mention in mentions:
        assert end <= mention.start < mention.end <= len(text)
        assert mention.text == text[mention.start : mention.end]
        assert list(mention.rollouts) == sorted(set(mention.rollouts))
        end = mention.end


def test_upper_and_lower_case_say_the_same():
    for sentence, (evidence, _) in SENTENCES.items():
        shown = EVIDENCE[evidence]
        lower = [(mention.labels, mention.rollouts) for mention in resolve(sentence.lower(), shown)]
        # Where a sentence ends is told by the capital after it, so stance may differ; what is meant may not.
        upper = [(mention.labels, mention.rollouts) for mention in resolve(sentence.upper(), shown)]
        if sentence.count(".") <= 1 and "\\" not in sentence and "\x1b" not in sentence:
            assert lower == upper, sentence


def test_nothing_need_be_known_of_what_was_shown():
    [mention] = resolve("Only the worst rollout fails.", Shown())
    assert (mention.labels, mention.rollouts) == (("worst",), ())
    assert resolve("Rollout 3 fails.", NOTHING)[0].labels == ()

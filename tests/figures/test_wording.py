"""Words of captions where texts are revised."""

from __future__ import annotations

from figures.wording import worded


def test_rollouts_are_examples_where_texts_are_revised() -> None:
    words = "Rollouts returned less; a policy's worst rollout, its return, and no rollouts_spent."
    assert worded(words, of_texts=False) == words
    assert worded(words, of_texts=True) == (
        "Examples scored less; a text's worst example, its score, and no rollouts_spent."
    )

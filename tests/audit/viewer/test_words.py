"""A piece of text is found among codes of words exactly where it is in the texts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from audit.viewer import words as module
from audit.viewer.words import Pattern, TooManyWordsError, Words, encode

PIECES = (
    *("a", "b", "e", " ", ".", ",", ":", ")", "(", "1", "2", "-", "%", "_", "'", "\\", "\n", "\r", "\0", "ß", "i̇", "é"),
    *(
        "中文",
        "worst ",
        "rollout",
        "rollouts. ",
        "params[3]: -1.25, ",
        "a word of well over sixteen: ",
        "z" * 16,
        "y" * 40,
    ),
)


def drawn(draw: random.Random, most: int) -> str:
    return "".join(draw.choice(PIECES) for _ in range(draw.randint(0, most)))


def searched(texts, pieces, words=None):
    """The places of the texts with each piece, by the codes."""
    words = {} if words is None else words
    codes, bounds = encode([text.encode() for text in texts], words)
    assert codes.dtype == np.uint16
    return [places(piece, words, codes, bounds) for piece in pieces]


def places(piece, words, codes, bounds):
    lines = Words(b"".join(word + b"\n" for word in words))
    return Pattern(piece.encode(), lines).texts_with(lambda start, end: codes[start:end], bounds).tolist()


@pytest.mark.parametrize("rare", [module.RARE, module.BYTES + 3])
def test_every_piece_is_found_where_it_is_and_nowhere_else(rare, monkeypatch):
    """Whatever it begins and ends with, with words of one code and of two, in batches of any size."""
    monkeypatch.setattr(module, "RARE", rare)
    draw = random.Random(rare)
    found = 0
    for trial in range(24):
        monkeypatch.setattr(module, "_TEXTS", (1, 50, 2**20)[trial % 3])
        monkeypatch.setattr(module, "_CODES", (1, 30, 2**20, 7)[trial % 4])
        texts = [drawn(draw, 30) for _ in range(draw.randint(1, 30))]
        pieces = [drawn(draw, 3) or "a" for _ in range(10)]
        for _ in range(25):
            whole = draw.choice(texts) or "b"
            start = draw.randrange(len(whole))
            pieces.append(whole[start : start + draw.randint(1, 30)])
        wanted = [[place for place, text in enumerate(texts) if piece in text] for piece in pieces]
        assert searched(texts, pieces) == wanted
        found += sum(map(bool, wanted))
    assert found > 200


def test_no_piece_goes_over_the_end_of_a_text():
    assert searched(["the worst", " rollout", "", "worst rollout"], ["worst rollout", "t r", "st", "the worst"]) == [
        [3], [3], [0, 3], [0],
    ]  # fmt: skip


def test_words_alike_in_their_first_numbers_are_told_apart(monkeypatch):
    """Were two words to have one key, each would still have its own number."""
    monkeypatch.setattr(module, "_FACTORS", (np.uint64(0), np.uint64(0)))
    assert searched(["alpha beta", "gamma alpha", "beta"], ["alpha", "beta", "gamma ", "a b"]) == [
        [0, 1], [0, 2], [1], [0],
    ]  # fmt: skip


def test_a_dictionary_goes_on_and_is_bounded(monkeypatch):
    words: dict[bytes, int] = {}
    first = encode([b"worst rollout"], words)
    assert words == {b"worst ": 256, b"rollout": 257}
    assert searched(["the rollout", "worst"], ["rollout", "the "], words) == [[0], [0]]
    assert places("t rol", words, *first) == [0], "codes stay what they are"
    monkeypatch.setattr(module, "MOST_WORDS", 5)
    with pytest.raises(TooManyWordsError):
        encode([b"six seven eight"], words)

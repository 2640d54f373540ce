"""No text takes longer than its length warrants, fills the memory, or reaches a terminal."""

from __future__ import annotations

import time

import pytest

from audit.references import driver, mark, resolve
from audit.references.folding import fold
from audit.references.resolving import MOST_MENTIONS
from tests.audit.references.evidence import POLE
from tests.audit.references.sentences import SENTENCES

SIZE = 60_000
REPEATED = [
    "worst ", "the worst ", "not the worst or median ", "worst (", "worst, ", "worst" + " " * 3000, "median/",
    "rollout ", "rollouts 1, 2, ", "rollout that had only scored just about ", "one that ", "1" * 500 + " rollout ",
    "worst of the three of the ", "The worst rollout is a rare failure. ", "best of the best in the ", "rare ",
    "not ", "n't ", "ignore it ", "design around ", " ", "\n", "\t", ". A", ".\nA\n", "a", "-", "_", "*", "|", "((",
    "1,", "\x00", "\x1b[", "\x1b]", "\x1b[1m", "<b", "</b", "\\textbf", "\\textbf{", "“", "最差的", "\u200b", "\ud800",
    "ß", "params[0]: 1, ", "I changed params[1] as in trial 3. ", "in all three ",
]  # fmt: skip


def seconds(action):
    """The shorter of two times, since something else may run at the same time."""
    times = []
    for _ in range(2):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.parametrize("unit", REPEATED, ids=ascii)
def test_twice_the_text_takes_about_twice_as_long(unit):
    text = unit * (SIZE // len(unit))
    once = seconds(lambda: resolve(text, POLE))
    twice = seconds(lambda: resolve(text + text, POLE))
    assert twice <= 3 * once + 0.05
    assert twice < 5.0


@pytest.mark.parametrize("unit", ["I changed params[1] as in trial 3. ", "in all three ", ". A", "not ", "the worst "])
def test_so_it_is_with_drivers(unit):
    text = unit * (SIZE // len(unit))
    once = seconds(lambda: driver(text, POLE, [1]))
    twice = seconds(lambda: driver(text + text, POLE, [1]))
    assert twice <= 3 * once + 0.05


def test_a_text_full_of_mentions_is_searched_up_to_a_limit():
    mentions = resolve("The worst rollout falls. " * (3 * MOST_MENTIONS), POLE)
    assert len(mentions) == MOST_MENTIONS


def test_folding_keeps_every_place():
    odd = "".join(
        chr(code) for code in [*range(0x250), *range(0x2000, 0x2070), 0x2212, 0x4E00, 0x1F600, 0xD800, 0xFF57]
    )
    for text in [odd, odd[::-1], *SENTENCES, *REPEATED]:
        assert len(fold(text)) == len(text)
        assert fold(text).isascii()


@pytest.mark.parametrize("form", ["plain", "terminal", "markdown"])
def test_marking_spells_out_what_would_act_on_a_terminal(form):
    text = "\x1b]0;title\x07 The \x1b[31mworst\x1b[0m rollout\r\x08\x9b31m \u202egnirts\u202c \ud800\x00 end\n\tnext"
    marked = mark(text, resolve(text, POLE), form)
    own = (
        marked.replace("\x1b[1;4m", "").replace("\x1b[2m", "").replace("\x1b[0m", "") if form == "terminal" else marked
    )
    for character in "\x1b\x07\r\x08\x9b\u202e\u202c\ud800\x00":
        assert character not in own
    assert "\n\t" in own
    marked.encode()


def test_2000_characters_take_a_fraction_of_a_millisecond():
    answer = " ".join(list(SENTENCES)[:40])[:2000]
    # About 0.2 ms on the machine it was written on; slower ones and other work leave room.
    assert seconds(lambda: [resolve(answer, POLE) for _ in range(100)]) / 100 < 2e-3

"""No text takes longer than its length warrants, fills the memory, or reaches a terminal."""

from __future__ import annotations

import importlib
import re
import sys
from pkgutil import iter_modules
from re import _parser

import pytest

from audit import references
from audit.interventions import justifying
from audit.interventions.justifying.drivers import driver
from audit.references import mark, resolve
from audit.references.folding import fold
from audit.references.resolving import MOST_MENTIONS
from tests.audit.references.evidence import POLE
from tests.audit.references.sentences import SENTENCES

SIZE = 12_000
REPEATED = [
    "worst ", "the worst ", "not the worst or median ", "worst (", "worst, ", "worst" + " " * 3000, "median/",
    "rollout ", "rollouts 1, 2, ", "rollout that had only scored just about ", "one that ", "1" * 500 + " rollout ",
    "worst of the three of the ", "The worst rollout is a rare failure. ", "best of the best in the ", "rare ",
    "not ", "n't ", "ignore it ", "design around ", " ", "\n", "\t", ". A", ".\nA\n", "a", "-", "_", "*", "|", "((",
    "1,", "\x00", "\x1b[", "\x1b]", "\x1b[1m", "<b", "</b", "\\textbf", "\\textbf{", "“", "最差的", "\u200b", "\ud800",
    "ß", "params[0]: 1, ", "I changed params[1] as in trial 3. ", "in all three ",
]  # fmt: skip


def work(action):
    """How many functions an action calls, those written in C included: the same on every machine."""
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("unit", REPEATED, ids=ascii)
def test_four_times_the_text_are_four_times_the_work(unit):
    text = unit * (SIZE // len(unit))
    assert work(lambda: resolve(text * 4, POLE)) <= 4.5 * work(lambda: resolve(text, POLE)) + 1000


@pytest.mark.parametrize("unit", ["I changed params[1] as in trial 3. ", "in all three ", ". A", "not ", "the worst "])
def test_so_it_is_with_drivers(unit):
    text = unit * (SIZE // len(unit))
    assert work(lambda: driver(text * 4, POLE, [1])) <= 4.5 * work(lambda: driver(text, POLE, [1])) + 1000


PATTERNS = {
    f"{module.__name__}.{name}": value
    for package in (references, justifying)
    for module in (
        importlib.import_module(f"{package.__name__}.{each.name}") for each in iter_modules(package.__path__)
    )
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern)
}


@pytest.mark.parametrize("name", PATTERNS)
def test_no_pattern_repeats_a_repetition_without_a_bound(name):
    """What backtracks more than in proportion to the text has an unbounded repetition inside another."""
    assert len(PATTERNS) > 20
    assert nested(_parser.parse(PATTERNS[name].pattern, PATTERNS[name].flags)) <= 1


def nested(tree):
    """How deep unbounded repetitions are nested."""
    depths = [0]
    for operator, argument in tree:
        if operator in {_parser.MAX_REPEAT, _parser.MIN_REPEAT}:
            _, most, inner = argument
            depths.append((most is _parser.MAXREPEAT) + nested(inner))
        elif operator is _parser.SUBPATTERN:
            depths.append(nested(argument[-1]))
        elif operator is _parser.BRANCH:
            depths += [nested(branch) for branch in argument[1]]
        elif operator in {_parser.ASSERT, _parser.ASSERT_NOT}:
            depths.append(nested(argument[1]))
    return max(depths)


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


@pytest.mark.parametrize("form", ["plain", "terminal", "markdown", "html"])
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

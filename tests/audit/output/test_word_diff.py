"""Word diffs: both texts can be read from one, and long ones stay short."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.output import word_diff as module
from audit.output.word_diff import coloured, word_diff

texts = st.lists(st.sampled_from(["a", "b", "c", "dd", "e,"]), max_size=11).map(" ".join)


@given(texts, texts)
def test_both_texts_can_be_read_from_the_diff(before, after):
    diff = word_diff(before, after)
    kept = re.sub(r"\{\+.*?\+\}", "", diff)
    assert re.sub(r"\[-|-\]", "", kept).split() == before.split()
    assert re.sub(r"\{\+|\+\}", "", re.sub(r"\[-.*?-\]", "", diff)).split() == after.split()


def test_by_hand():
    assert word_diff("Add the numbers. Stop.", "Sum the numbers, twice. Stop.") == (
        "[-Add-] {+Sum+} the [-numbers.-] {+numbers, twice.+} Stop."
    )
    assert word_diff("", "All new.") == "{+All new.+}"
    assert word_diff("a  b", "a\nb") == "a\nb"
    assert coloured("[-a-] {+b+} c") == "\x1b[31m[-a-]\x1b[0m \x1b[32m{+b+}\x1b[0m c"


def test_unchanged_stretches_are_left_out_and_counted():
    words = [f"w{number}" for number in range(100)]
    diff = word_diff(" ".join(words), " ".join([*words[:50], "new", *words[51:]]))
    assert diff.startswith("[… 38 words …] w38 ")
    assert diff.endswith(" w62 [… 37 words …] ")
    assert "w49 [-w50-] {+new+} w51" in diff


def test_texts_too_long_to_align_are_one_change(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 3)
    assert word_diff("s a b e", "s b c e") == "s [-a b-] {+b c+} e"


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_large_texts_make_a_short_diff(times):
    before = "lorem ipsum dolor " * 60_000 * times
    assert len(word_diff(before, before.replace("ipsum", "opsum"))) < 10_000
    assert len(word_diff("x" * 10**6 * times, "y\x1b" * 10**5 * times)) < 10_000


def test_nothing_in_a_text_acts_on_a_terminal():
    assert "\x1b" not in word_diff("a", "a \x1b[31mb")

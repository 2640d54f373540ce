"""Sizes of edits of texts: against a plain dynamic programme, by hand, and on texts of 10 MB."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.measures import text_edits
from audit.measures.text_edits import edit_distance, text_edit, token_change

short = st.text(alphabet="ab é中 .\n", max_size=12)
components = st.dictionaries(st.sampled_from(["plan", "act", "check"]), short, max_size=3)


def plain_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


@given(short, short)
def test_the_distance_is_the_plain_dynamic_programme_s(a, b):
    assert edit_distance(a, b) == plain_distance(a, b) == edit_distance(b, a)


@given(components, components)
def test_measures_of_components_are_bounded_and_symmetric(before, after):
    found, back = text_edit(before, after), text_edit(after, before)
    assert found.changed == back.changed
    assert found.components == len({*before, *after})
    assert found.edit_ratio == back.edit_ratio
    assert 0 <= found.edit_ratio <= 1
    assert 0 <= found.token_change <= 1
    assert found.token_change == back.token_change
    assert text_edit(before, before) == (len(before), [], 0.0, 0.0, 1.0)


@given(short, short)
def test_the_change_of_tokens_is_the_share_that_one_text_alone_has(a, b):
    first, second = Counter(text_edits._TOKEN.findall(a)), Counter(text_edits._TOKEN.findall(b))
    alone = (first - second).total() + (second - first).total()
    assert token_change(a, b) == pytest.approx(alone / max(first.total() + second.total(), 1))


def test_by_hand():
    before = {"plan": "Add the numbers.", "act": "Write it down."}
    after = {"plan": "Sum the numbers, twice.", "act": "Write it down."}
    found = text_edit(before, after)
    # "Add" becomes "Sum": three characters; ", twice" comes in: seven.
    assert found.edit_ratio == (3 + 7) / 23
    assert (found.components, found.changed) == (2, ["plan"])
    # Add the numbers . | Sum the numbers , twice . have three of four and six tokens in common.
    assert found.token_change == pytest.approx(1 - 2 * 3 / 10)
    assert found.length_ratio == 23 / 16


def test_a_component_that_comes_or_goes_is_compared_with_nothing():
    assert text_edit({}, {"plan": "abc"}) == (1, ["plan"], 1.0, 1.0, None)
    assert text_edit({"plan": "abc"}, {}) == (1, ["plan"], 1.0, 1.0, 0.0)
    assert text_edit({}, {"plan": ""}) == (1, ["plan"], 0.0, 0.0, 1.0)


def test_texts_too_long_to_compare_have_no_ratio_and_a_small_change_of_them_has(monkeypatch):
    monkeypatch.setattr(text_edits, "MOST_CELLS", 100)
    assert edit_distance("a" * 11, "b" * 10) is None
    assert edit_distance("a" * 10, "b" * 10) == 10
    assert edit_distance("x" * 50 + "a" + "y" * 50, "x" * 50 + "b" + "y" * 50) == 1
    found = text_edit({"long": "a" * 11, "short": "a"}, {"long": "b" * 10, "short": "b"})
    assert (found.edit_ratio, found.token_change) == (None, 1.0)


def test_texts_of_1_mb_are_compared_where_they_differ_in_a_word():
    words = [f"word{number % 5000} " for number in range(120_000)]
    before = "".join(words)
    words[60_000] = "changed "
    assert len(before) > 1_000_000
    assert 0 < text_edit({"p": before}, {"p": "".join(words)}).edit_ratio < 1e-5
    assert text_edit({"p": before}, {"p": before[::-1]}).edit_ratio is None


LONG = r"""
import pathlib, re
from audit.measures.text_edits import text_edit
words = [f"word{number % 5000} " for number in range(1_200_000)]
before = "".join(words)
words[600_000] = "changed "
assert len(before) > 10_000_000
print(text_edit({"p": before}, {"p": "".join(words)}).edit_ratio < 1e-6)
print(text_edit({"p": before}, {"p": before[::-1]}).edit_ratio)
status = pathlib.Path("/proc/self/status").read_text()  # a new program's own; getrusage counts what started it too
print(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) < 10**6)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not report peak memory there")
def test_texts_of_10_mb_fit_into_the_memory():
    run = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "None", "True"]

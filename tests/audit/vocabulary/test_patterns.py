"""The words and the SQL of a pattern's rule speak of the same things."""

from __future__ import annotations

import re

import pytest

from audit.vocabulary.patterns import PATTERNS, by_stake
from audit.vocabulary.thresholds import KEYS

COLUMNS = {"r0", "delta", "edit_distance"}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_words_and_sql_of_a_rule_name_the_same_numbers(pattern):
    words = set(re.findall(r"{(\w+)}", pattern.rule))
    sql = {name for term in pattern.terms for name in re.findall(r"\w+", term.sql)} & (COLUMNS | set(KEYS))
    assert words == (sql or {"delta"})


@pytest.mark.parametrize(
    ("direction", "last"), [("regression", "other_regression"), ("improvement", "other_improvement")]
)
def test_the_last_rule_of_a_direction_takes_what_is_left(direction, last):
    tried = [pattern.id for pattern in PATTERNS.values() if pattern.direction == direction]
    assert tried[-1] == last
    assert [pattern.id for pattern in PATTERNS.values() if not pattern.terms and pattern.direction == direction] == [
        last
    ]
    assert sorted(tried) == sorted(pattern.id for pattern in by_stake(direction))

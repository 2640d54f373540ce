"""The words and the SQL of a pattern's rule speak of the same things."""

from __future__ import annotations

import re

from audit.vocabulary.patterns import PATTERNS, by_stake
from audit.vocabulary.thresholds import KEYS

COLUMNS = {"r0", "delta", "edit_distance"}


def test_words_and_sql_of_a_rule_name_the_same_numbers():
    for pattern in PATTERNS.values():
        words = set(re.findall(r"{(\w+)}", pattern.rule))
        sql = {name for term in pattern.terms for name in re.findall(r"\w+", term.sql)} & (COLUMNS | set(KEYS))
        assert words == (sql or {"delta"}), pattern.id


def test_the_last_rule_of_a_direction_takes_what_is_left():
    for direction in ("regression", "improvement"):
        tried = [pattern for pattern in PATTERNS.values() if pattern.direction == direction]
        assert [pattern.id for pattern in tried if not pattern.terms] == [tried[-1].id] == [f"other_{direction}"]
        assert sorted(tried) == sorted(by_stake(direction))

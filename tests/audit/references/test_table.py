"""Mentions of many revisions as a table, in pandas and in DuckDB."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest

from audit.references import mentions_of, mentions_relation
from audit.references.table import TYPES

SHOWN = [
    {"label": "worst", "rollout": 2, "return": 1.0, "length": 7},
    {"label": "median", "rollout": 0, "return": 5.0, "length": 8},
    {"label": "best", "rollout": 1, "return": 9.0, "length": 9},
]
KEY = {"condition": "hand", "env": "cartpole", "variant": "threetraj", "run": 1}


def revision(iteration, answer, thinking=None, **known):
    return {**KEY, "iteration": iteration, "answer": answer, "thinking": thinking, "shown": SHOWN, **known}


REVISIONS = [
    revision(0, "The worst rollout is a fluke, and rollout 1 is not.", "Hmm, the 5.0 run..."),
    revision(1, "Nothing to see."),
    revision(2, None, None),
    revision(3, "Rollout 4 was not shown.", returns=[5.0, 9.0, 1.0, 6.0, 4.0], lengths=[8, 9, 7, 5, 5]),
]


def test_a_row_per_mention_with_the_revision_it_is_from():
    table = mentions_of(REVISIONS)
    assert list(table.columns) == [*KEY, "iteration", *TYPES]
    rows = [
        (row.iteration, row.part, row.ordinal, row.text, row.kind, row.labels, row.rollouts, row.worst, row.discounted)
        for row in table.itertuples()
    ]
    assert rows == [
        (0, "answer", 0, "worst rollout", "label", ["worst"], [2], True, True),
        (0, "answer", 1, "rollout 1", "index", ["best"], [1], False, False),
        (0, "thinking", 0, "5.0 run", "return", ["median"], [0], False, False),
        (3, "answer", 0, "Rollout 4", "index", [], [4], False, False),
    ]
    assert set(table["condition"]) == {"hand"}


def test_offsets_are_those_of_the_part():
    for row in mentions_of(REVISIONS).itertuples():
        revision = next(revision for revision in REVISIONS if revision["iteration"] == row.iteration)
        assert revision[row.part][row.start : row.end] == row.text


@pytest.mark.parametrize(
    "revisions", [REVISIONS, REVISIONS[1:2], REVISIONS[1:], []], ids=["all", "none", "few", "empty"]
)
def test_as_a_relation_its_columns_have_types_whatever_the_rows(revisions):
    with duckdb.connect() as connection:
        relation = mentions_relation(connection, mentions_of(revisions))
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        assert {name: types[name] for name in TYPES} == {name: kind.upper() for name, kind in TYPES.items()}
        relation.create_view("mentions")
        counted = connection.sql(
            "select count(*) from mentions where list_contains(labels, 'worst') or worst"
        ).fetchall()
        assert counted == [(sum("worst rollout" in (revision["answer"] or "") for revision in revisions),)]


def test_the_package_needs_nothing_heavy_and_nothing_of_the_collector():
    program = (
        "import sys, audit.references\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'collector', 'duckdb', 'pandas', 'numpy', 'mujoco', 'gymnasium'}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"

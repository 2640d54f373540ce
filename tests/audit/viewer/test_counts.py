"""Every count on the overview is the number of revisions that its link leads to."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from audit.options import Options
from audit.viewer import pages
from audit.viewer.counts import COUNTED
from audit.viewer.query import Query
from audit.viewer.session import Session

ROOT = Path(__file__).resolve().parents[3]
PLANTED = ROOT / "data" / "gepa-planted"


def count_links(session, *, all_rows: bool = True) -> int:
    """Check the links of all rows, or of the first and the last of each table; returns how many."""
    number = 0
    for table in pages.overview(session)["tables"]:
        counted = COUNTED[table["name"]]
        rows = table["rows"]
        for row in rows if all_rows else [*rows[:1], *rows[-1:]]:
            for column in row["cells"]:
                if (filters := counted.filter_of(row["cells"], column)) is None:
                    continue
                query = Query.parse([(k, v) for k, vs in filters.items() for v in vs], session.table.kinds)
                cell = row["cells"][counted.shares.get(column, column)]
                assert session.table.count(query) == cell, (table["name"], column, row["cells"])
                number += 1
    return number


@pytest.fixture(scope="module")
def session(grid):
    with Session(Options(paths=[grid], detector=None)) as session:
        yield session


def test_of_the_first_and_last_rows(session) -> None:
    assert count_links(session, all_rows=False) > 60


@pytest.mark.slow
@pytest.mark.parametrize("detector", [None, "phrase", "resolved"])
def test_of_parameters(grid, detector) -> None:
    with Session(Options(paths=[grid], detector=detector)) as session:
        assert count_links(session) > 200


@pytest.mark.parametrize("about", [None, *(pytest.param(each, marks=pytest.mark.slow) for each in ("best", "first"))])
def test_of_texts(about) -> None:
    with Session(Options(paths=[PLANTED], detector=None, about=about)) as session:
        assert count_links(session, all_rows=about is not None) > 20


def test_of_a_selection(grid) -> None:
    with Session(Options(paths=[grid], detector=None, env=["nim"], run=None)) as session:
        assert count_links(session, all_rows=False) > 30
        assert session.table.count(Query()) == 72


def test_every_count_of_the_tables_is_linked(session) -> None:
    """A number of revisions without a link is one that nobody can trace."""
    unlinked = {"runs", "expected_regressions", "expected_pooled", "family", "control_runs"}
    tables = pages.overview(session)["tables"]
    assert {table["name"] for table in tables} == set(COUNTED)
    for table, row in itertools.chain.from_iterable(((t, r) for r in t["rows"]) for t in tables):
        whole = {name for name, value in row["cells"].items() if isinstance(value, int) and not isinstance(value, bool)}
        assert whole - unlinked <= set(table["counts"]), table["name"]

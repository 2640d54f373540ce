"""Links of counts to the revisions that they count, in a viewer beside the page."""

from __future__ import annotations

import re
from html import unescape
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from audit.request import Request
from audit.viewer.query import Query
from audit.viewer.session import Session
from figures.data import Records, records_of
from figures.page.build import contents
from figures.page.page import Page, Section, render
from figures.page.viewer import INDEX, Viewer, viewer_beside
from figures.plots import patterns
from figures.tables import COLUMNS, table

ROOT = Path(__file__).resolve().parents[3]
CELL = {"condition": "a b&c", "env": "cartpole", "variant": "threetraj"}


def link(key: str, heading: str, **row: Any) -> str:
    column = next(column for column in COLUMNS[key] if column.heading == heading)
    return Viewer("view/index.html").link(table(key, [], ""), column, CELL | row)


def test_an_address_has_the_cell_and_what_is_counted() -> None:
    address = link("salience", "Strict (of regressions)", strict=1)
    page, _, query = address.partition("#/revisions?")
    assert page == "view/index.html"
    assert dict(parse_qsl(query)) == CELL | {"in_salience": "true", "strict": "true"}
    assert query.startswith("condition=a+b%26c&env=cartpole&")

    redesign = {"revisions": 20, "full_redesign": 1, "full_redesign_pct": 5}
    for key, heading, row, expected in (
        ("summary", "Regressions", {"regressions": 2}, [("direction", "regression")]),
        ("summary", "Accepted", {"accepted": 2}, [("accepted", "true")]),
        ("patterns", "Revisions", {"revisions": 3}, []),
        ("patterns", "Full redesign", redesign, [("pattern", "full_redesign")]),
        ("patterns", "No change", {"no_change": 1}, [("direction", "no_change")]),
    ):
        assert parse_qsl(link(key, heading, **row).partition("?")[2]) == [*CELL.items(), *expected], heading
    # What counts no revision is no link.
    assert (
        link("salience", "Strict (of regressions)", strict=0)
        == link("salience", "Strict (of regressions)", strict=None)
        == ""
    )
    assert link("salience", "Task") == link("patterns", "Task") == link("metrics", "Runs", runs=3) == ""
    assert link("patterns", "Unclassified", unclassified=1).endswith("&pattern=&direction=%21no_change")


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("data", ["gepa-planted", "real/large"])
def test_the_viewer_has_as_many_revisions_as_a_cell_counts(data: str) -> None:
    """Of texts, and of parameters."""
    links = 0
    with Session(Request(paths=[ROOT / "data" / data])) as session:
        tables = contents(records_of(session.store)).tables
        for key in ("salience", "summary", "patterns", "agreement"):
            for row, column in product(tables[key].rows, tables[key].columns):
                address = Viewer("").link(tables[key], column, row)
                if address:
                    items = parse_qsl(address.partition("?")[2], keep_blank_values=True)
                    found = session.table.count(Query.parse(items, session.table.kinds))
                    assert found == row[column.needs], address
                    links += 1
    assert links > 20


def test_counts_are_links_where_a_viewer_is_and_text_where_none_is(records: Records, tmp_path: Path) -> None:
    def addresses(viewer: Viewer | None) -> list[str]:
        section = Section("salience", "Salience", [table("salience", records.salience, "")], [])
        page = render(Page([], [], [section], {}, [], viewer=viewer))
        return [unescape(found) for found in re.findall(r'<td[^>]*><a href="([^"]+)">', page)]

    assert addresses(viewer_beside(tmp_path, None)) == []
    (tmp_path / INDEX).parent.mkdir()
    (tmp_path / INDEX).write_text("")
    assert addresses(viewer_beside(tmp_path, None)) == []  # an exported folder has no filters
    found = addresses(viewer_beside(tmp_path, "elsewhere.html"))
    assert sum("strict=true" in address for address in found) == len([row for row in records.salience if row["strict"]])
    assert all(address.startswith("elsewhere.html#/revisions?condition=") for address in found)


def test_patterns_are_counted_by_cell(records: Records) -> None:
    rows = patterns.counts(records.revisions)
    mine = next(row for row in rows if (row["variant"], row["env"]) == ("reptraj", "cartpole"))
    # Of two runs with six and three revisions, by the fixture's list of patterns.
    assert mine["revisions"] == 9
    assert [mine[key] for key in ("near_optimal_break", "no_change", "fine_tune", "other_regression")] == [2, 2, 2, 1]
    assert mine["no_change_pct"] == pytest.approx(200 / 9)
    assert patterns.counts(records.revisions.assign(edit_distance=float("nan"), pattern=None)) == []

"""Links of counts to the revisions that they count, in a viewer beside the page."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pandas as pd
import pytest

from figures.data import Records
from figures.page.build import build
from figures.page.viewer import INDEX, Viewer
from figures.plots import patterns
from figures.tables import COLUMNS

CELL = {"condition": "a b&c", "env": "cartpole", "variant": "threetraj"}
REVISIONS = pd.DataFrame(
    [
        CELL | {"direction": "regression", "strict": True, "structure": "all_diverse", "pattern": "full_redesign"},
        CELL | {"direction": "regression", "strict": None, "structure": "failure_confirmed", "pattern": None},
        CELL | {"direction": "no_change", "strict": False, "structure": "all_diverse", "pattern": None},
        CELL | {"variant": "r2po", "direction": "regression", "strict": None, "structure": None, "pattern": None},
    ]
)


def link(table: str, heading: str, **row: Any) -> str:
    column = next(column for column in COLUMNS[table] if column.heading == heading)
    return Viewer("view/index.html", REVISIONS).link(column, CELL | row)


def test_an_address_has_the_cell_and_what_is_counted() -> None:
    address = link("salience", "Strict", strict=1)
    page, _, query = address.partition("#/revisions?")
    assert page == "view/index.html"
    assert dict(parse_qsl(query)) == CELL | {"strict": "true"}
    assert "&c" not in address.replace("&env", "").replace("&variant", "").replace("&strict", "")


@pytest.mark.parametrize(
    ("table", "heading", "row", "query"),
    [
        ("salience", "Revisions", {"revisions": 3}, []),
        ("salience", "Regressions", {"regressions": 2}, [("direction", "regression")]),
        (
            *("salience", "Worst < median", {"worst_below_median": 1}),
            [("direction", "regression"), ("structure", "all_diverse"), ("structure", "preservation_favored")],
        ),
        ("patterns", "Full redesign", {"full_redesign": 1}, [("pattern", "full_redesign")]),
        ("patterns", "No change", {"no_change": 1}, [("direction", "no_change")]),
        ("agreement", "Revisions", {"revisions": 2, "structure": "all_diverse"}, [("structure", "all_diverse")]),
    ],
)
def test_every_count_has_its_filter(table: str, heading: str, row: Any, query: list[tuple[str, str]]) -> None:
    assert parse_qsl(link(table, heading, **row).partition("?")[2]) == [*CELL.items(), *query]


def test_a_count_that_the_filter_would_not_give_has_no_link() -> None:
    """As where some of a method's critics were not shown the worst rollout: the table counts only the others."""
    assert link("salience", "Revisions", revisions=2) == ""
    assert link("salience", "Strict", strict=0) == ""
    assert link("salience", "Strict", strict=None) == ""
    assert link("salience", "Permissive", permissive=1) == ""  # the revisions here have no such column
    assert link("patterns", "Unclassified", unclassified=1) == ""


def addresses(page: Path) -> list[str]:
    return [unescape(found) for found in re.findall(r'<td[^>]*><a href="([^"]+)">', page.read_text(encoding="utf-8"))]


def test_counts_are_links_where_a_viewer_is_and_text_where_none_is(records: Records, tmp_path: Path) -> None:
    few = replace(records, iterations=records.iterations.iloc[:6])
    assert addresses(build(few, tmp_path / "without")) == []
    viewer = tmp_path / "with" / INDEX
    viewer.parent.mkdir(parents=True)
    viewer.write_text("")
    found = addresses(build(few, viewer.parent.parent))
    assert all(address.startswith(f"{INDEX}#/revisions?condition=") for address in found)
    strict = [address for address in found if "strict=true" in address]
    assert len(strict) == len([row for row in records.salience if row["strict"]])


def test_patterns_are_counted_by_cell(records: Records) -> None:
    rows = patterns.counts(records.revisions)
    mine = next(row for row in rows if (row["variant"], row["env"]) == ("reptraj", "cartpole"))
    # Of two runs with six and three revisions, by the fixture's list of patterns.
    assert mine["revisions"] == 9
    assert {key: mine[key] for key in ("near_optimal_break", "no_change", "fine_tune", "other_regression")} == {
        "near_optimal_break": 2,
        "no_change": 2,
        "fine_tune": 2,
        "other_regression": 1,
    }
    assert mine["no_change_pct"] == pytest.approx(200 / 9)
    assert patterns.counts(records.revisions.assign(edit_distance=float("nan"), pattern=None)) == []

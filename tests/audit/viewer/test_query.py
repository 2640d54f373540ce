"""What an address asks for is what its words mean: checked against plain Python over all rows."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from audit.models.settings import SORTING
from audit.options import Options
from audit.output.errors import UsageError
from audit.store import open_store
from audit.viewer.query import PAGE, Query
from audit.viewer.session import Session
from audit.vocabulary.keys import RevisionKey


@pytest.fixture(scope="module")
def session(grid):
    with Session(Options(paths=[grid], detector=None)) as session:
        yield session


@pytest.fixture(scope="module")
def rows(session):
    names = list(session.table.kinds)
    return [dict(zip(names, row, strict=True)) for row in session.table.all_rows(Query(), names)]


def matches(row, filters) -> bool:
    return all(any(one(row[name], value) for value in values) for name, values in filters.items())


def one(cell, value) -> bool:
    if value.startswith("!"):
        return not one(cell, value[1:])
    if value == "" or cell is None:
        return value == "" and cell is None
    if isinstance(cell, bool):
        return cell is (value == "true")
    if isinstance(cell, str):
        return cell == value
    low, dots, high = value.partition("..")
    if not dots:
        return cell == float(value)
    return (float(low) if low else -math.inf) <= cell <= (float(high) if high else math.inf)


FILTERS = [
    {},
    {"env": ["cartpole"]},
    {"env": ["cartpole", "nim"], "variant": ["threetraj"]},
    {"strict": ["true"]},
    {"strict": [""]},
    {"strict": ["!true"]},
    {"pattern": ["", "near_optimal_break"]},
    {"pattern": ["!"]},
    {"delta": ["..-10"]},
    {"delta": ["-10..10"]},
    {"delta": ["0"]},
    {"delta": ["1.."], "direction": ["improvement"]},
    {"p_no_change": [".."]},
    {"run": ["2"], "iteration": ["3..5"]},
    {"delta": ["!..0"]},
    {"severity": ["..1e300"]},
]


KEY = RevisionKey._fields


def test_filters(session, rows) -> None:
    for filters in FILTERS:
        items = [(name, value) for name, values in filters.items() for value in values]
        query = Query.parse(items, session.table.kinds)
        wanted = [row for row in rows if matches(row, filters)]
        assert session.table.count(query) == len(wanted), filters
        assert session.table.page(query, KEY) == [tuple(row[name] for name in KEY) for row in wanted[:PAGE]], filters
        for column in ("env", "pattern", "cites"):
            others = [row for row in rows if matches(row, {k: v for k, v in filters.items() if k != column})]
            assert dict(session.table.facet(query, column)) == Counter(row[column] for row in others), filters


def test_order_is_total_and_puts_nulls_last(session, rows) -> None:
    for sort in ("delta", "-delta", "pattern,-r0", "-p_no_change"):
        ordered = list(rows)
        for name in reversed(sort.split(",")):
            column = name.removeprefix("-")
            known = [row for row in ordered if row[column] is not None]
            known.sort(key=lambda row: row[column], reverse=name[0] == "-")
            ordered = known + [row for row in ordered if row[column] is None]
        wanted = [tuple(row[name] for name in KEY) for row in ordered]
        query = Query.parse([("sort", sort)], session.table.kinds)
        assert list(session.table.all_rows(query, KEY)) == wanted
        numbers = range(1, math.ceil(len(rows) / PAGE) + 1)
        assert [row for page in numbers for row in session.table.page(replace(query, page=page), KEY)] == wanted


def test_neighbours_walk_along_the_order(session) -> None:
    query = Query.parse([("strict", "false"), ("sort", "-delta")], session.table.kinds)
    walked = []
    key = session.table.page(query, KEY)[0]
    while key is not None:
        walked.append(tuple(key))
        place, before, key = session.table.neighbours(query, session.table.row(tuple(key))["id"])
        assert place == len(walked)
        assert before == (walked[-2] if len(walked) > 1 else None)
    assert walked == list(session.table.all_rows(query, KEY))


def test_search_finds_words_in_answers_and_thinking_whatever_their_case(session, grid) -> None:
    wanted = {
        (record["env"], record["variant"], record["run"], record["iteration"])
        for path in Path(grid).rglob("episodes.jsonl")
        for record in map(json.loads, path.read_text().splitlines())
        if record["revised"] and "worst roll" in (record["revised"]["answer"] or "").lower()
    }
    assert wanted
    query = Query.parse([("q", "WORST Roll")], session.table.kinds)
    found = session.table.all_rows(query, ("env", "variant", "run", "iteration"))
    assert {(env, variant, run, iteration) for env, variant, run, iteration in found} == wanted
    for search, number in (('-"worst roll"', 144 - len(wanted)), ('worst -"worst roll" the', None)):
        query = Query.parse([("q", search)], session.table.kinds)
        rows = list(session.table.all_rows(query, ("env", "variant", "run", "iteration")))
        assert wanted.isdisjoint(rows)
        assert number in {None, len(rows)}
    for hostile in ("%", "_", "' or 1=1 --", "\\", "\x00"):
        assert session.table.count(Query.parse([("q", hostile)], session.table.kinds)) <= 144


def test_what_is_no_query_is_refused_and_names_are_bound(session) -> None:
    for name, value, message in (
        ("nothing", "1", "no column 'nothing'"),
        ("id", "1", "no column 'id'"),
        ("sort", "env; drop table", "no column 'env; drop table'"),
        ("delta", "many", "give a number, or a range"),
        ("delta", "1..nan", "give a number, or a range"),
        ("strict", "yes", "give true or false"),
        ("page", "0", "give a whole number from 1"),
        ("page", "9" * 30, "give a whole number from 1"),
        ("page", "²", "give a whole number from 1"),
        ("q", "x" * 201, "a search of 201 characters; 200 are the most"),
    ):
        with pytest.raises(UsageError, match=re.escape(message)):
            Query.parse([(name, value)], session.table.kinds)
    for value in ("' or '1'='1", 'x"; drop table viewer; --', "nim' union select 1"):
        assert session.table.count(Query.parse([("env", value)], session.table.kinds)) == 0
    assert session.table.count(Query()) == 144


def test_revisions_are_numbered_in_the_order_of_their_keys(session) -> None:
    rows = [tuple(row[name] for name in ("id", *RevisionKey._fields)) for row in session.table.full_rows()]
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1))
    assert [row[1:] for row in rows] == sorted(row[1:] for row in rows)


def test_the_table_is_made_within_a_bound_of_memory(grid) -> None:
    """What a million revisions need beyond it is on the disk meanwhile; all else has what it had before."""
    limit = "current_setting('memory_limit') as bytes"
    with open_store([grid], cache=False) as store:
        [before] = store._database.connection.sql(f"select {limit}").fetchall()
        path = store.cached_file("probe", f"select {limit}")
        with duckdb.connect(str(path), read_only=True) as kept:
            assert kept.sql("from probe").fetchall() == [(f"{SORTING / 2**20:.1f} MiB",)]
        assert store._database.connection.sql(f"select {limit}").fetchall() == [before]

"""A result narrowed and sorted, from rows in memory and from a relation; and as a table for a paper."""

from __future__ import annotations

import csv
import gc
import io
import json

import duckdb
import pytest

import audit
from audit.output.errors import UsageError
from audit.output.rows import Table
from audit.reports.relation_rows import RelationRows
from tests.audit.samples import revision, write_run

ROWS = [
    {"condition": "c_1", "env": "cartpole", "variant": "r2po", "n": 8, "n_pct": 12.5, "delta": -0.5, "note": "a & b"},
    {"condition": "c_1", "env": "pong", "variant": "mine", "n": 10, "n_pct": 50.0, "delta": None, "note": None},
    {"condition": "c_1", "env": "maze", "variant": "r2po", "n": 8, "n_pct": 25.0, "delta": 1.25, "note": "x"},
]
COLUMNS = tuple(ROWS[0])


def in_memory(rows=ROWS):
    return Table(columns=COLUMNS, rows=rows, title="Title", essential=COLUMNS[:-1])


def of_relation():
    connection = duckdb.connect()
    connection.execute("create table t (condition text, env text, variant text, n int, n_pct double, delta double)")
    connection.execute("alter table t add column note text")
    connection.executemany("insert into t values (?, ?, ?, ?, ?, ?, ?)", [list(row.values()) for row in ROWS])

    def rows_of(relation):
        return RelationRows(relation, None)

    relation = connection.table("t")
    return Table(columns=COLUMNS, rows=rows_of(relation), relation=relation, rows_of=rows_of, close=connection.close)


def written(table, capsys, output):
    capsys.readouterr()
    table.print(output)
    return capsys.readouterr().out


ORDERS = {
    ("n",): ["cartpole", "maze", "pong"],
    ("-n",): ["pong", "cartpole", "maze"],
    ("delta",): ["cartpole", "maze", "pong"],
    ("-delta",): ["maze", "cartpole", "pong"],
    ("-n", "-env"): ["pong", "maze", "cartpole"],
    ("note",): ["cartpole", "maze", "pong"],
}


def test_rows_are_sorted_with_nulls_last_and_equals_as_they_were():
    for make in (in_memory, of_relation):
        table = make()
        for sort, wanted in ORDERS.items():
            assert [row["env"] for row in table.select(sort=sort)] == wanted
            assert list(table.select(sort=sort).df()["env"]) == wanted
        assert [row["env"] for row in table] == ["cartpole", "pong", "maze"]


@pytest.mark.parametrize("make", [in_memory, of_relation])
def test_columns_and_rows_are_chosen_in_every_format(make, capsys):
    table = make().select(["delta", "n"], sort="-delta", limit=2)
    assert json.loads(written(table, capsys, "json")) == [{"delta": 1.25, "n": 8}, {"delta": -0.5, "n": 8}]
    assert list(csv.reader(io.StringIO(written(table, capsys, "csv")))) == [
        ["delta", "n"],
        ["1.25", "8"],
        ["-0.5", "8"],
    ]
    assert written(table, capsys, "markdown").splitlines()[0] == "| delta | n |"
    text = written(table, capsys, "table")
    assert [line.split() for line in text.splitlines()[1:2]] == [["delta", "n"]]
    assert "8 (25.0%)" in text
    assert list(table.df().columns) == ["delta", "n"]
    assert table.notes == ["first 2 of 3 rows"]
    assert make().select(limit=3).notes == []


def test_an_unknown_column_is_one_line_with_near_ones():
    every = "no such column; columns are condition, env, variant, n, n_pct, delta, note$"
    for given, message in (
        ({"columns": ["env", "detla"]}, r"^--columns detla: no such column; did you mean delta\?$"),
        ({"sort": "-detla"}, r"^--sort detla: no such column; did you mean delta\?$"),
        ({"columns": "zzzz"}, every),
        ({"limit": 0}, r"^--limit 0: give a number of rows"),
    ):
        with pytest.raises(UsageError, match=message):
            in_memory().select(**given)


def test_latex_is_a_table_for_a_paper(capsys):
    assert written(in_memory(), capsys, "latex").splitlines() == [
        r"% Needs \usepackage{booktabs}.",
        "% Condition: c_1",
        r"\begin{tabular}{llrr}",
        r"\toprule",
        r"Task & Method & N & $\Delta$ \\",
        r"\midrule",
        r"CartPole & R2PO & 8 (12.5\%) & $-$0.50 \\",
        r"Pong & mine & 10 (50.0\%) &  \\",
        r"Maze & R2PO & 8 (25.0\%) & 1.25 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    lines = written(in_memory().select(["condition", "n_pct", "note"]), capsys, "latex").splitlines()
    assert lines[3] == r"Condition & N (\%) & Note \\"
    assert lines[5] == r"c\_1 & 12.5 & a \& b \\"
    lines = written(in_memory([*ROWS, {**ROWS[0], "condition": "d"}]), capsys, "latex").splitlines()
    assert lines[3].startswith("Condition & Task & Method")


def test_a_table_of_paths_can_be_used_until_it_is_closed(tmp_path):
    """Also its rows, where nothing else refers to it."""
    path = str(write_run(tmp_path, [revision([1, 5, 9], [2, 2, 2], iteration=number) for number in range(3)]))
    found = []
    for row in audit.revisions(path):
        gc.collect()
        found.append(row["iteration"])
    assert found == [0, 1, 2]
    table = audit.summary(path).select("revisions", limit=1)
    assert list(table.relation.filter("revisions > 0").df()["revisions"]) == [3]
    table.close()
    with pytest.raises(duckdb.Error, match=r"(?i)closed"):
        table.df()

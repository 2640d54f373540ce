"""SQL of a user's: it gives what the relations hold, in every format, and reaches nothing else."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import audit
from audit.models.catalog import public
from audit.output.errors import UsageError
from tests.audit.calls import call, json_rows
from tests.audit.samples import revision, write_run
from tests.audit.texts import text_revision, text_run

pytestmark = pytest.mark.usefixtures("confined_once")

ROOT = Path(__file__).resolve().parents[3]
SECRET = "no query has any business to read this"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two tasks: deltas -3, 1 and 0 of the one, 2 of the other."""
    root = tmp_path_factory.mktemp("it's data")
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer="The worst rollout\nfell.\x1b[2J", iteration=0),
        revision([1, 5, 9], [6, 6, 6], iteration=1),
        revision([4, 4, 4], [4, 4, 4], iteration=2),
    ]
    write_run(root / "a", rows)
    write_run(root / "b", [revision([1, 2, 3], [4, 4, 4], env="pong")], backend="simulated")
    (root / "secret.csv").write_text(SECRET)
    return root


def rows_of(data, query, *options):
    return json_rows("sql", data, query, *options)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("select sum(delta) as total from revisions", [{"total": 0.0}]),
        ("SELECT env, count(*) AS n FROM Revisions GROUP BY ALL ORDER BY n DESC;", [
            {"env": "cartpole", "n": 3}, {"env": "pong", "n": 1}
        ]),
        ("from revisions select min(delta) m -- and a comment", [{"m": -3.0}]),
        ("with revisions as (select * from revisions where delta > 0) select count(*) n from revisions", [{"n": 2}]),
        ("select count(*) n from runs a, evidence b where a.env = b.env", [{"n": 4}]),
        ('select count(*) n from main."references"', [{"n": 4}]),
        ("select (select count(*) from runs) as n where exists (from rollouts)", [{"n": 2}]),
        ("select count(*) n from revisions union all select count(*) from mentions where worst", [{"n": 4}, {"n": 1}]),
        ("with recursive x as (select 1 i union all select i + 1 from x where i < 3) select sum(i)::int n from x",
         [{"n": 6}]),
        ("select * from (pivot summary on env in ('cartpole', 'pong') using sum(revisions)::int group by variant)",
         [{"variant": "threetraj", "cartpole": 3, "pong": 1}]),
        ("values (1)", [{"col0": 1}]),
        ("select unnest([1, 2]) as i", [{"i": 1}, {"i": 2}]),
        ("select i from range(2) as t(i)", [{"i": 0}, {"i": 1}]),
    ],
)  # fmt: skip
def test_a_query_finds_its_relations_wherever_it_names_them(data, query, rows):
    assert rows_of(data, query) == rows


def test_every_public_relation_can_be_asked_and_described(data):
    with audit.open(data) as store:
        store.confine()
        for name in public():
            assert store.sql(f'from "{name}"').columns == store.relation(name).columns
    described = {row["column_name"]: row["column_type"] for row in rows_of(data, "describe revisions")}
    assert described["changed"] == "BIGINT[]"
    assert [row["max"] for row in rows_of(data, "summarize revisions") if row["column_name"] == "delta"] == ["2.0"]


def test_detector_and_thresholds_are_those_asked_for(data):
    query = 'select distinct detector from "references"'
    assert rows_of(data, query, "--detector", "phrase") == [{"detector": "phrase"}]
    high = "select distinct high from thresholds where env = 'cartpole'"
    assert rows_of(data, high, "--set", "cartpole.high=460") == [{"high": 460.0}]


def test_more_rows_than_fit_into_the_memory_end_in_a_line(data, monkeypatch):
    monkeypatch.setattr("audit.reports.relation_rows.MOST", 3)
    for output in ("csv", "json", "table"):
        found = call("sql", data, "from range(1000000000000)", "--format", output)
        assert (found.exit_code, "more than 3 rows: add a limit" in found.stderr) == (1, True), output
    assert call("sql", data, "from range(3)", "--format", "csv").stdout == "range\n0\n1\n2\n"
    assert "first 2 of" in call("sql", data, "from range(1000000000000)", "--limit", "2").stderr


def test_without_a_detector_it_is_the_one_of_all_other_commands(tmp_path):
    """Of texts, `resolved`: it finds the worst example by its number, and `word` does not."""
    record = text_revision([0, 1, 1], [0, 0, 0], answer="Example 1 was wrong, so I ask for units.")
    write_run(tmp_path, [record], **text_run())
    query = "select cites from revisions"
    given = call("sql", tmp_path, query, "--format", "json")
    assert json.loads(given.stdout) == [{"cites": True}]
    assert "candidates are texts: the detector is resolved" in given.stderr
    with audit.open(tmp_path) as store:
        assert store.sql(query).fetchall() == [(True,)]


def test_a_view_keeps_the_order_that_was_asked_for(data):
    rows = rows_of(data, "select delta, delta, 0.5 as half from revisions order by revisions.delta desc")
    assert [list(row.items()) for row in rows] == [
        [("delta", delta), ("delta_1", delta), ("half", 0.5)] for delta in (2, 1, 0, -3)
    ]


VALUES = (
    "select 1.25 as decimal, date '2020-01-02' as day, timestamp '2020-01-02 00:00:00' as moment, "
    "interval 36 hours as span, map {'a': 1} as pairs, {'x': 1.5, 'y': [date '2020-01-02']} as object, "
    "[0.5, 1.5] as list, null as nothing, 'nan'::double as nan, '\\x41'::blob as bytes, "
    "18446744073709551616::hugeint as huge, true as yes"
)


def test_values_of_every_type_come_out_in_every_format(data):
    [row] = rows_of(data, VALUES)
    assert row == {
        "decimal": 1.25,
        "day": "2020-01-02",
        "moment": "2020-01-02 00:00:00",
        "span": "36:00:00",
        "pairs": "{a=1}",
        "object": {"x": 1.5, "y": ["2020-01-02"]},
        "list": [0.5, 1.5],
        "nothing": None,
        "nan": None,
        "bytes": "A",
        "huge": 2**64,
        "yes": True,
    }
    [row] = rows_of(data, "select timestamptz '2020-01-02 12:00:00+00' as moment")  # needs no further package
    assert row["moment"].startswith("2020-01-0")
    [row] = csv.DictReader(io.StringIO(call("sql", data, VALUES, "--format", "csv").stdout))
    assert json.loads(row["object"]) == {"x": 1.5, "y": ["2020-01-02"]}
    assert (row["decimal"], row["list"], row["nothing"], row["yes"]) == ("1.25", "0.5 1.5", "", "true")
    for output in ("table", "markdown", "latex"):
        result = call("sql", data, VALUES, "--format", output)
        assert (result.exit_code, "36:00:00" in result.stdout) == (0, True)


def test_the_table_acts_on_no_terminal_and_is_no_wider_than_it_needs_to_be(data):
    result = call("sql", data, "select revised.answer as answer, repeat('x', 5000) as long from episodes")
    assert "\x1b" not in result.stdout
    assert "The worst rollout fell.\\x1b[2J" in result.stdout
    assert "Texts beyond 60 characters are cut" in result.stdout
    assert max(map(len, result.stdout.splitlines())) < 150


def test_the_simulated_are_marked_and_no_rows_are_an_empty_table(data):
    result = call("sql", data, "select 1 as one", "--format", "csv")
    assert (result.stdout, "Backend: simulated" in result.stderr) == ("one\n1\n", True)
    for output in ("table", "json", "csv", "markdown", "latex"):
        assert call("sql", data, "select r0 from revisions where false", "--format", output).exit_code == 0


def test_without_a_query_the_relations_are_listed(data):
    assert [row["relation"] for row in json_rows("sql", data)] == list(public())
    assert "a revision: an iteration with" in call("sql", data).stdout


REFUSED = {
    "another file": "from read_csv('{secret}')",
    "another file by its name": "from '{secret}'",
    "another file as text": "select content from read_text('{secret}')",
    "another file in a subquery": "select (select content from read_text('{secret}')) from revisions",
    "another file in a CTE": "with x as (from read_blob('{secret}')) from x",
    "another file by SQL in a text": "from query('from read_text(''{secret}'')')",
    "another file by a serialized query": "from json_execute_serialized_sql('x')",
    "a list of files": "from glob('{folder}/*')",
    "the network": "from read_json('http://localhost:9/x.json')",
    "a relation of the reading": "from records",
    "settings": "from duckdb_settings()",
    "the catalogue": "from information_schema.tables",
    "SQLite's catalogue": "from sqlite_master",
    "two statements": "select 1; select 2",
    "no statement": "/* nothing */",
    "nothing at all": "",
    "copying out": "copy revisions to '{folder}/out.csv'",
    "copying out in a CTE": "with x as (copy revisions to '{folder}/out.csv') from x",
    "copying over a file that may be read": "copy (select 1) to '{folder}/a/run-01.parquet' (use_tmp_file false)",
    "a function of the program's": "select answers_to_plans('[]', true)",
    "inserting": "insert into revisions select * from revisions",
    "deleting in a CTE": "with x as (delete from revisions returning *) from x",
    "updating in a CTE": "with x as (update revisions set r0 = 1 returning *) from x",
    "inserting in a nested CTE": "from (with x as (insert into revisions from revisions returning *) from x)",
    "creating": "create table x as select 1",
    "dropping": "drop view revisions",
    "attaching": "attach '{folder}/out.db'",
    "installing": "install httpfs",
    "loading": "load httpfs",
    "a pragma": "pragma database_list",
    "a setting": "set memory_limit = '1TB'",
    "a variable": "set variable records = ['{secret}']",
    "a call": "call pragma_version()",
    "an export": "export database '{folder}/out'",
    "an explanation that runs it": "explain analyze from revisions",
    "a pivot without values": "pivot revisions on env using count(*)",
    "the program's variables": "from query",
    "no SQL": "selec 1",
    "no such relation": "from revision",
    "no such column": "select r2 from revisions",
    "no such function": "select nonsense(1)",
    "the environment": "select getenv('HOME')",
    "showing everything": "show all tables",
    "a file by the name of a CTE elsewhere":
        "from '{secret}' where exists (with \"{secret}\" as (select 1) from \"{secret}\")",
    "a file by the name of the CTE that reads it": "with \"{secret}\" as (from '{secret}') from \"{secret}\"",
    "a file by the name of a later CTE": "with a as (from '{secret}'), \"{secret}\" as (select 1) from a",
    "a file by the name of a CTE beside":
        "(with \"{secret}\" as (select 1) from \"{secret}\") union all from '{secret}'",
    "a file where a CTE begins":
        "with recursive \"{secret}\" as (from '{secret}' union all from \"{secret}\") select 1",
    "a file by the name of a CTE in a schema": "with \"{secret}\" as (select 1) from main.\"{secret}\"",
    "a file in a window": "select sum(r0) over w from revisions window w as (partition by (select 1 from '{secret}'))",
    "a relation of the reading by a CTE of that name": "with records as (from records) from records",
    "a plan of SQL in a text": "select json_serialize_plan('from \"{folder}/secret.csv\"')",
    "a setting's value": "select Current_Setting('allowed_paths')",
    "a variable's value": "select run, system.main.getvariable('records') from runs",
    "the network by the name of a CTE":
        "from 'http://localhost:9/x.csv' where exists (with \"http://localhost:9/x.csv\" as (select 1) select 1)",
    "an extension's function": "select html_escape('a')",
    "an extension's type": "select '::1'::inet",
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_whatever_else_a_query_is_it_is_refused_with_2(data, case):
    before = sorted(path.name for path in data.rglob("*"))
    result = call("sql", data, REFUSED[case].format(secret=data / "secret.csv", folder=data).replace("it's", "it''s"))
    assert (result.exit_code, result.stdout) == (2, "")
    lines = [line for line in result.stderr.splitlines() if "Backend" not in line]
    assert lines[0].startswith("audit: ")
    assert 1 <= len(lines) <= 6
    assert "Traceback" not in result.stderr
    assert SECRET not in result.stderr
    assert sorted(path.name for path in data.rglob("*")) == before


def test_an_open_store_refuses_the_same_and_stays_open(data):
    """Without `confine`, which its owner may not want; no extension is asked for either."""
    passed = []
    with audit.open(data) as store:
        for case, form in REFUSED.items():
            query = form.format(secret=data / "secret.csv", folder=data).replace("it's", "it''s")
            with contextlib.suppress(UsageError):
                passed.append((case, store.sql(query)))
            # What a condition names is looked up where it is used.
            with contextlib.suppress(UsageError, duckdb.CatalogException, duckdb.BinderException):
                passed.append((case, store.relation("revisions").filter(store.condition(f"exists ({query})"))))
        assert passed == []
        scoped = """
            with recursive a as (select 1 i union all select i + 1 from a where i < 3), b as (from a)
            select (select sum(i) from b)::int, (with a as (from b) select count(*) from A)
        """
        assert store.sql(scoped).fetchall() == [(6, 3)]
        assert store.relation("revisions").filter(store.condition("exists (with a as (from runs) from a)")).fetchall()
        [(locked,)] = store._database.connection.execute("select current_setting('lock_configuration')").fetchall()
        assert not locked


def test_duckdb_itself_is_confined(data):
    """The second lock: what no check of the query has seen reaches nothing either."""
    with audit.open(data) as store:
        store.confine()
        connection = store._database.connection
        for statement in (
            f"from read_text('{str(data / 'secret.csv').replace(chr(39), chr(39) * 2)}')",
            f"copy (select 1) to '{str(data / 'out.csv').replace(chr(39), chr(39) * 2)}'",
            "from read_text('http://localhost:9/x')",
            "install httpfs",
        ):
            with pytest.raises(duckdb.PermissionException):
                connection.execute(statement)
        with pytest.raises(duckdb.InvalidInputException, match="locked"):
            connection.execute("set enable_external_access = true")


def test_a_wrong_name_comes_with_the_right_ones(data):
    assert "did you mean revisions" in call("sql", data, "from revisons").stderr
    assert "relations are presets, run_records, candidates" in call("sql", data, "from nonsense").stderr
    assert '"r0"' in call("sql", data, "select r00 from revisions").stderr


def test_arguments_and_queries_that_are_none_are_refused_in_a_line_or_two(data):
    for words in (
        ["select 1"],
        ["nowhere", "select 1"],
        [data, "select", "1"],
        [data, "sel\x00ect"],
        [data, "select '\udcff'"],
    ):
        result = call("sql", *words)
        assert (result.exit_code, result.stdout, "Traceback" in result.stderr) == (2, "", False), words
    deep = call("sql", data, f"select {'(' * 1500}1{')' * 1500}")
    assert deep.exit_code in {0, 2}
    assert "Traceback" not in deep.stderr
    failing = call("sql", data, "select answer::int from critic_answers")
    assert failing.exit_code == 1
    assert len([line for line in failing.stderr.splitlines() if "Backend" not in line]) == 1


def test_a_long_query_ends_with_ctrl_c(data):
    endless = "select count(*) from range(10000000) a, range(10000000) b where hash(a.range, b.range) = 1"
    program = [sys.executable, "-c", "from audit.cli import main; main()", "sql", str(data), endless]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # Said when all is ready, right before the query runs.
        assert "Backend: simulated" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read() == "audit: interrupted\n"


def test_a_store_has_relations_as_attributes(data):
    with audit.open(data / "a", str(data / "b")) as store:
        assert store.revisions.df()["delta"].tolist() == store.frame("revisions")["delta"].tolist()
        assert set(public()) <= set(dir(store))
        assert store.sql("select count(*) from revisions").fetchall() == [(4,)]
        with pytest.raises(AttributeError, match="did you mean revisions"):
            _ = store.revision
        assert not hasattr(store, "nonsense")
    with pytest.raises(UsageError):
        audit.open()


def test_the_documented_query_compares_edits_on_both_sides_of_the_threshold(tmp_path):
    page = (ROOT / "docs/sql.md").read_text("utf-8")
    [query] = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    before = (1.0, 2.0, 3.0, 4.0)
    edits = [(479, 478, 1), (100, 101, 3), (480, 480, 0), (500, 480, 0), (490, 495, 1), (490, 9, 4)]
    episodes = [
        revision([r0] * 3, [r1] * 3, before=before, after=[value + (place < n) for place, value in enumerate(before)],
                 iteration=number, variant="r2po", evidence={"kind": "median", "shown": [], "statistics": None})
        for number, (r0, r1, n) in enumerate(edits)
    ]  # fmt: skip
    write_run(tmp_path, episodes, tau_c=480.0)
    free, restrained = rows_of(tmp_path, query)
    names = ("revisions", "unchanged_pct", "small_pct", "harmful_pct", "edit_distance")
    assert [free[name] for name in names] == [2, 0, 50, 50, 2]
    assert [restrained[name] for name in names] == [4, 50, 75, 50, 1.25]

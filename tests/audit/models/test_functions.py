"""Python functions in SQL: what models get from them, and what a user meets where one fails or is stopped."""

from __future__ import annotations

import os
import signal
import threading
from unittest.mock import Mock

import duckdb
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.models import functions
from audit.models.catalog import models
from audit.models.functions import FUNCTIONS, callable_from, called_in
from audit.output.errors import UsageError
from audit.store import open_store
from tests.audit.models.test_mentions import ANSWERS, data

__all__ = ["data"]

SQL = "select k, unnest(doubled(k, ks)::struct(twice bigint, text varchar)[], max_depth := 2) from numbers"
CALLED = []


def doubled(number, numbers):
    CALLED.append((number, threading.current_thread()))
    if number == 7:
        raise LookupError("seven")
    if number == 8:
        os.kill(os.getpid(), signal.SIGINT)
    return [{"twice": 2 * each, "text": f"\x00{each}" if each else None} for each in numbers or ()]


@pytest.fixture
def connection(monkeypatch):
    monkeypatch.setitem(FUNCTIONS, "doubled", f"{__name__}:doubled")
    CALLED.clear()
    with duckdb.connect(config={"threads": "2"}) as connection:
        connection.execute("create table numbers (k bigint, ks bigint[])")
        yield connection


def test_rows_have_the_types_that_the_model_states(connection):
    connection.execute("insert into numbers values (1, [0, 2]), (2, null), (3, [])")
    with callable_from(SQL, connection):
        connection.execute(f"create table found as {SQL}")
    found = connection.table("found")
    assert found.fetchall() == [(1, 0, None), (1, 4, "\x002")]
    assert list(map(str, found.types)) == ["BIGINT", "BIGINT", "VARCHAR"]
    for wrong in ("twice boolean", "twice bigint", "twice bigint, text varchar, other bigint"):
        text = SQL.replace("twice bigint, text varchar", wrong)
        with pytest.raises(duckdb.Error), callable_from(text, connection):
            connection.sql(text).fetchall()


def test_functions_run_in_the_calling_thread_once_a_row_and_are_gone_afterwards(connection):
    connection.execute("insert into numbers select range + 10, [range] from range(300_000)")
    with callable_from(SQL, connection):
        connection.execute(f"create table found as {SQL} order by k")
    assert sorted(number for number, _ in CALLED) == list(range(10, 300_010))
    assert {thread for _, thread in CALLED} == {threading.current_thread()}
    assert connection.execute("select count(*) from found where twice = 2 * (k - 10)").fetchall() == [(300_000,)]
    assert connection.execute("select current_setting('threads')").fetchall() == [(2,)]
    with pytest.raises(duckdb.CatalogException):
        connection.sql(SQL)


@pytest.mark.parametrize(("number", "error"), [(7, LookupError), (8, KeyboardInterrupt)])
def test_what_a_function_raises_comes_as_it_is(connection, number, error):
    connection.execute("insert into numbers values (?, [])", [number])
    with pytest.raises(error), callable_from(SQL, connection):
        connection.execute(f"create table found as {SQL}")
    with pytest.raises(duckdb.CatalogException):
        connection.sql(SQL)


def test_where_settings_are_locked_functions_can_be_called_all_the_same(connection):
    connection.execute("insert into numbers select range + 10, [range] from range(300_000)")
    connection.execute("set lock_configuration = true")
    with callable_from(SQL, connection):
        connection.execute(f"create table found as {SQL}")
    assert connection.execute("select count(*) from found where twice = 2 * (k - 10)").fetchall() == [(300_000,)]


def test_every_function_is_called_by_one_model():
    called = [name for text in models().values() for name in called_in(text)]
    assert sorted(called) == sorted(FUNCTIONS)


def test_a_relation_that_is_read_twice_is_computed_once(data, monkeypatch):
    mentions = Mock(wraps=functions.mentions)
    monkeypatch.setattr(functions, "mentions", mentions)
    with open_store([data], cache=False) as store:
        for _ in range(2):
            assert store.sql("select * from mentions as a join mentions as b using (iteration)").fetchall()
    assert mentions.call_count == len(ANSWERS)


def test_users_cannot_call_them(data):
    with open_store([data], cache=False) as store:
        assert store.rows("mentions")
        with pytest.raises(UsageError, match="find_mentions does not exist"):
            store.sql("select find_mentions(critic_answers) from critic_answers").fetchall()


def test_ctrl_c_in_a_detector_ends_in_one_line(data, tmp_path):
    path = tmp_path / "slow.py"
    path.write_text("import os, signal\n\ndef detect(answer, shown):\n    os.kill(os.getpid(), signal.SIGINT)\n")
    result = CliRunner().invoke(app, ["salience", str(data), "--detector", str(path)])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "audit: interrupted\n")

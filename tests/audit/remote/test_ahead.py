"""What of a pack elsewhere is read ahead: the row groups that follow, where all are wanted, and nothing for one run."""

from __future__ import annotations

import contextlib

import duckdb
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.engine.database import Database
from audit.remote import ranges
from audit.remote.ahead import Ahead


class Remote:
    """An object in memory that counts what is read of it."""

    def __init__(self, content):
        self.content = content
        self.size = len(content)
        self.state = "one"
        self.read_bytes = 0

    def read(self, start, end):
        self.read_bytes += end - start
        return self.content[start:end]


@pytest.fixture
def remote(tmp_path):
    file = tmp_path / "some.parquet"
    duckdb.execute(
        "copy (select i, md5(i::varchar) as t, md5((i + 1)::varchar) as u from range(40960) as r(i)) "
        "to ? (format parquet, row_group_size 2048)",
        [str(file)],
    )
    return Remote(file.read_bytes())


def test_a_run_in_two_row_groups_is_not_the_beginning_of_all_that_follow(remote):
    ranges.serve("some", remote)
    with duckdb.connect() as connection:
        ranges.attach(connection)
        query = "select count(t), count(u) from read_parquet(?) where i between 10000 and 10300"

        def share():
            before = remote.read_bytes
            assert connection.execute(query, [ranges.read_as("some")]).fetchall() == [(301, 301)]
            return (remote.read_bytes - before) / remote.size

        with ranges.only_asked_for(["some", "another"]):
            assert share() < 0.2
        assert ranges._served[ranges.read_as("some")].reads_ahead


def test_a_revision_is_shown_without_reading_ahead_of_its_run(packed, server, by_ranges, monkeypatch):
    building, asked = [], []
    real = Database._build

    def noting(self, name):
        building.append((name, self.is_small))
        with contextlib.ExitStack() as stack:
            stack.callback(building.pop)
            real(self, name)

    def after(_, start, end):
        asked.append((list(building), start, end))
        return []

    monkeypatch.setattr(Database, "_build", noting)
    monkeypatch.setattr(Ahead, "after", after)
    place = [f"{server.url}/x%20y.pack.parquet", "cartpole", "threetraj", "1", "0"]
    shown = CliRunner().invoke(app, ["show", *place])
    assert shown.exit_code == 0, shown.output
    assert asked
    assert not [built for built, _, _ in asked if ("segments", True) in built]


def test_of_a_read_that_duckdb_has_not_foreseen_only_the_first_column_is_wanted():
    """It reads a million bytes then, whatever is in them; two such reads are not the beginning of all columns."""
    size = 400_000
    chunks = [
        (group, column, at := (4 * group + column) * size, at + size) for group in range(8) for column in range(4)
    ]
    ahead, whole = Ahead(lambda: chunks), Ahead(lambda: chunks)
    assert ahead.after(0, 1_000_000) == ahead.after(size, 1_000_000 + size) == []
    found = ahead.after(4 * size, 4 * size + 1_000_000)
    assert found == [(start, end) for group, column, start, end in chunks if column == 0 and group > 1]
    assert whole.after(0, 3 * size) == []
    assert len(whole.after(4 * size, 7 * size)) == 3 * len(found), "of a read of another size all are"

"""Packs are put together from parts: records that were written in their order, and what was found in them."""

from __future__ import annotations

import errno

import duckdb
import pytest

from audit.cache_folder import VARIABLE
from audit.engine.database import Database
from audit.ingest import cache as cache_module
from audit.ingest import columns as columns_module
from audit.ingest import gathering as gathering_module
from audit.output.errors import AuditError
from audit.packing import pack, parquet, records, thrift
from audit.store import open_store
from tests.audit.samples import revision, write_run


def write(root, runs, iterations=(0, 1, 2), tail=b""):
    for run in runs:
        rows = [
            revision(
                [1, 5 + run, 9], [2, place, 1 + run], answer=f"The worst rollout fell {run}.", iteration=place, run=run
            )
            for place in iterations
        ]
        write_run(root / f"run-{run}", rows, tail=tail)
    return root


@pytest.fixture
def in_parts(monkeypatch):
    """Each file is a batch of its own, and two batches are looked through at once."""
    monkeypatch.setattr(columns_module, "BATCH_OF_PACK", 1)
    monkeypatch.setattr(records, "BATCH_OF_PACK", 1)
    monkeypatch.setattr(records, "AT_ONCE", 2)


def rows(path, columns="* exclude (made_by)"):
    """All rows of a pack in their order, the contents aside."""
    query = f"select {columns} from (select *, 0 as made_by from read_parquet(?)) where place > 0"
    return duckdb.execute(query, [str(path)]).fetchall()


def written(monkeypatch):
    """The queries that are written to files from here on."""
    queries = []
    write_query = Database.write_query

    def write(self, query, path, **options):
        queries.append(query)
        write_query(self, query, path, **options)

    monkeypatch.setattr(Database, "write_query", write)
    return queries


def test_records_are_written_once(tmp_path, monkeypatch):
    queries = written(monkeypatch)
    write(tmp_path / "data", (1, 2))
    pack(tmp_path / "data", cache=False)
    assert [query for query in queries if "judged" in query] == ['from "judged"']
    assert not any("packed_records" in query or "packed_lines" in query for query in queries)


def test_in_parts_it_is_the_same(tmp_path, in_parts):
    data = write(tmp_path / "data", (1, 2, 3, 4, 5))
    write(data, (6,), tail=b'{"torn')
    parts = pack(data, tmp_path / "parts.pack.parquet", cache=False).path
    with pytest.MonkeyPatch.context() as patch:
        for module in (columns_module, records):
            patch.setattr(module, "BATCH_OF_PACK", 2**30)
        whole = pack(data, tmp_path / "whole.pack.parquet", cache=False).path
    assert rows(parts) == rows(whole)
    assert [place for (place,) in rows(whole, "place")] == [each for each in range(1, 7) for _ in range(3)] + [6]
    with open_store([data], cache=False) as store, open_store([parts], cache=False) as of_parts:
        for relation in ("revisions", "salience", "patterns_summary"):
            assert of_parts.rows(relation) == store.rows(relation)
    groups = "select count(distinct row_group_id) from parquet_metadata(?)"
    assert [duckdb.execute(groups, [str(each)]).fetchall() for each in (parts, whole)] == [[(7,)], [(3,)]]


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    data = write(tmp_path / "data", (1,))
    before = pack(data, cache=False).path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for step in ("add", "_add_row_group"):
        with monkeypatch.context() as patch:
            patch.setattr(parquet.Assembled, step, full)
            with pytest.raises(AuditError, match=r"^cannot write .*: No space left on device$"):
                pack(data, force=True, cache=False)
        assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["data.pack.parquet"]
        assert (tmp_path / "data.pack.parquet").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("iterations", [(0, 1, 2), (2, 0, 1)], ids=["in order", "in another order"])
def test_what_the_cache_knows_changes_no_byte(tmp_path, monkeypatch, iterations):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(gathering_module, "SMALLEST", 0)
    monkeypatch.setattr(cache_module, "SETTLED", 0)
    data = write(tmp_path / "data", (2, 3), iterations)
    with open_store([data]) as store:
        store.rows("summary")
    write(data, (1,))  # it comes first, and so moves the batches of the others
    write(data, (4,), tail=b'{"torn')
    places = {}
    for name, options in {"known in part": {}, "read": {"cache": False}}.items():
        places[name] = pack(data, tmp_path / f"{name}.pack.parquet", **options).path
    with open_store([data]) as store:
        store.rows("summary")
    queries = written(monkeypatch)
    places["known"] = pack(data, tmp_path / "known.pack.parquet").path
    assert not any("judged" in query for query in queries)
    assert len({each.read_bytes() for each in places.values()}) == 1
    assert rows(places["read"], "run, iteration")[3:6] == [(2, each) for each in iterations]
    numbers = [0, 1, 2] if iterations == (0, 1, 2) else [4, 5, 6]
    assert [number for (number,) in rows(places["read"], "number")][3:6] == numbers


def test_columns_are_copied_as_they_are(tmp_path):
    connection = duckdb.connect(config={"disabled_optimizers": "statistics_propagation"})

    def written(name, columns, rows):
        path = tmp_path / f"{name}.parquet"
        connection.execute(f"copy (select {columns} from range({rows}) as each(i)) to '{path}' (row_group_size 8192)")
        return path

    left_columns = "i, [i, null] as list, if(i % 3 > 0, {a: i::varchar, b: null}, null) as pair"
    right_columns = "i / 3 as x, i % 5 as few"
    first = written("first", f"{left_columns}, {right_columns}", 5)
    left, right = written("left", left_columns, 40000), written("right", f"7 as i, {right_columns}", 40000)
    target = tmp_path / "target.parquet"
    with parquet.Assembled(target, first) as assembled:
        assembled.add(first)
        assembled.add(left, right)
    every = f"select {left_columns}, {right_columns} from range"
    expected = connection.sql(f"({every}(5) as each(i)) union all ({every}(40000) as each(i))").fetchall()
    assert connection.sql(f"from '{target}'").fetchall() == expected
    assert connection.sql(f"select count(*) from '{target}' where few = 3 and i > 20000").fetchall() == [(4000,)]
    filters = "select count(bloom_filter_offset) from parquet_metadata(?) where path_in_schema = 'few'"
    assert connection.execute(filters, [str(target)]).fetchall() == [(5,)]  # of few rows there is none
    for wrong, reason in (((left, first), "numbers of rows"), ((left,), "no column x")):
        with pytest.raises(parquet.ParquetError, match=reason), parquet.Assembled(target, first) as assembled:
            assembled.add(*wrong)


def test_footers_are_read_and_written_to_the_byte(tmp_path):
    path = tmp_path / "many.parquet"
    columns = ", ".join(f"i + {place} as c{place}" for place in range(20))
    duckdb.execute(f"copy (select {columns} from range(5) as each(i)) to '{path}' (format parquet)")
    content = path.read_bytes()
    footer = content[-8 - int.from_bytes(content[-8:-4], "little") : -8]
    assert thrift.encode(thrift.decode(footer)) == footer
    struct = {1: (1, True), 2: (2, False), 40: (3, 200), 41: (6, -(2**62)), 42: (8, b"x" * 300), 43: (7, b"\0" * 8)}
    assert thrift.decode(thrift.encode(struct)) == struct
    assert thrift.decode(thrift.encode({1: (9, (1, [1, 2, 1]))})) == {1: (9, (1, [1, 2, 1]))}
    with pytest.raises(ValueError, match="type 11"):
        thrift.decode(bytes([0x1B, 0]))

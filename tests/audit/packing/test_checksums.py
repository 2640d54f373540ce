"""Checksums of packs: what is read is what was written, or an error says where it is not."""

from __future__ import annotations

import shutil

import duckdb
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.packing import pack
from audit.remote import ranges
from audit.remote.checksums import add_checksums
from audit.sources import pack as pack_module
from audit.store import open_store
from tests.audit.samples import revision, write_run
from tests.shared import made

COMMANDS = (("salience",), ("salience", "--detector", "phrase"))


def make_pack(folder):
    """A pack of several row groups, whose answers fill blocks of their own."""
    for run in (1, 2):
        rows = [
            revision([1, place % 9, 9], [2, 2, place % 5], iteration=place, run=run, answer=_answer(place))
            for place in range(300)
        ]
        write_run(folder / "data" / f"run-{run}", rows)
    pack(folder / "data")


def _answer(place):
    return "The worst rollout fell. " + "".join(f"{(place * 7919 + each) ** 3 % 999_983:x} " for each in range(60))


@pytest.fixture(scope="module")
def folder():
    return made("checksums", make_pack, of=("audit", "collector", "stats", "tests/audit/samples.py"))


@pytest.fixture
def packed(folder, tmp_path):
    return shutil.copy(folder / "data.pack.parquet", tmp_path / "data.pack.parquet")


@pytest.fixture(params=["whole", "as it is read"])
def way(request, monkeypatch):
    """Both ways of checking packs of this machine."""
    if request.param == "as it is read":
        pytest.importorskip("fsspec")
        monkeypatch.setattr(ranges, "WHOLE", 0)
    return request.param


def printed(command, path):
    run = CliRunner().invoke(app, [*command, str(path), "--no-cache", "--format", "csv"])
    assert "Traceback" not in run.output
    return run.exit_code, run.stdout, run.stderr


def test_damaged_packs_give_the_same_numbers_or_none(packed, way):
    content = packed.read_bytes()
    expected = {command: printed(command, packed) for command in COMMANDS}
    assert {code for code, _, _ in expected.values()} == {0}
    kinds = set()
    step = len(content) // 5
    for place in (0, *range(step // 2, len(content), step), len(content) - 1):
        damaged = bytearray(content)
        damaged[place] ^= 1
        packed.write_bytes(damaged)
        for command in COMMANDS:
            code, out, err = printed(command, packed)
            kinds.add(code)
            if code == 0:
                assert (out, err) == expected[command][1:], place
            else:
                assert out == "", place
                assert "damaged" in err or "magic" in err, place
    assert kinds == {0, 1} if way == "as it is read" else kinds == {1}


def test_only_what_is_read_is_checked(packed, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setattr(ranges, "WHOLE", 0)
    before = printed(("salience",), packed)
    [(start, length)] = duckdb.execute(
        "select data_page_offset, total_compressed_size from parquet_metadata(?) "
        "where path_in_schema = 'revised, answer' and row_group_id = 1",
        [str(packed)],
    ).fetchall()
    content = bytearray(packed.read_bytes())
    middle = start + length // 2
    content[middle] ^= 1
    packed.write_bytes(content)
    assert printed(("salience",), packed) == before
    code, out, err = printed(("salience", "--detector", "phrase"), packed)
    assert (code, out) == (1, "")
    block = middle // ranges.BLOCK * ranges.BLOCK
    assert f"audit: {packed}: damaged, at bytes {block:,} to " in err
    assert len([line for line in err.splitlines() if "damaged" in line]) == 1


def test_packs_of_earlier_versions_are_read_with_a_line(packed, tmp_path, monkeypatch):
    older = tmp_path / "older.pack.parquet"
    text = "replace(decode(line::blob), '\"has_checksums\":true', '\"has_checksums\":false')"
    what = f"* replace (if(place = 0, encode({text}), line::blob) as line)"
    duckdb.execute(f"copy (select {what} from read_parquet(?)) to ? (format parquet)", [str(packed), str(older)])
    code, out, err = printed(("salience",), older)
    assert (code, out) == printed(("salience",), packed)[:2]
    assert f"{older} has no checksums" in err
    with open_store([packed], cache=False) as store:
        assert not store.notes


def test_a_pack_that_has_lost_its_checksums_is_left_out(packed, tmp_path):
    rewritten = tmp_path / "rewritten.pack.parquet"
    duckdb.execute("copy (from read_parquet(?)) to ? (format parquet)", [str(packed), str(rewritten)])
    code, _, err = printed(("salience",), rewritten)
    assert code == 1
    assert "checksums are gone" in err
    add_checksums(rewritten)
    assert printed(("salience",), rewritten)[:2] == printed(("salience",), packed)[:2]


def test_a_pack_that_is_replaced_is_another(packed, way, tmp_path):
    """In one process: nothing of the pack before is left, and what is open says that it has changed."""
    with open_store([packed], cache=False) as store:
        write_run(tmp_path / "other", [revision([1, 5, 9], [2, 2, 2])])
        pack(tmp_path / "other", packed, force=True)
        with open_store([packed], cache=False) as other:
            assert other.relation("revisions").fetchall() != []
            assert len(other.rows("revisions")) == 1
        if way == "as it is read":
            with pytest.raises(duckdb.Error, match="changed while it was read"):
                store.rows("critic_answers")
            ranges.failure()


def test_other_readers_of_parquet_read_a_pack(packed):
    [(rows,)] = duckdb.execute("select count(*) from read_parquet(?) where place > 0", [str(packed)]).fetchall()
    assert rows == 600


def test_a_missing_column_is_named(packed, tmp_path, monkeypatch):
    """With its file; of another version's pack the same, but for columns that earlier ones have not."""
    path = tmp_path / "other.pack.parquet"
    for is_trusted in (True, False):
        if not is_trusted:
            monkeypatch.setattr(pack_module, "rules", lambda: "of another")
        for change, words in (
            ("exclude (condition)", "lacks the column condition"),
            ("exclude (revised)", "lacks the column revised"),
            ("exclude (number)", "lacks the column number"),
            ("exclude (tau_c)", "lacks the column tau_c" if is_trusted else None),
        ):
            duckdb.execute(
                f"copy (select * {change} from read_parquet(?)) to ? (format parquet)", [str(packed), str(path)]
            )
            add_checksums(path)
            code, _, err = printed(("salience",), path)
            if words is None:
                assert code == 0
            else:
                assert code == 1, change
                assert f"{path}: cannot be read as a pack" in err
                assert words in err

"""Archives that are far larger unpacked than they look, or are made to be: named, and bounded in memory and disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import struct
import tarfile
import tracemalloc
import zlib

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError
from audit.sources import archives
from audit.store import open_store
from tests.audit.samples import revision, write_run
from tests.audit.sources.released import critic_episode

MEGA = 2**20
ZEROS = b"\0" * MEGA
PACKERS = {"tar": open, "tar.gz": gzip.open, "tar.bz2": bz2.open, "tar.xz": lzma.open}


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch):
    """A small part of the bounds, so that bombs need not be as large either."""
    monkeypatch.setattr(archives, "UNPACKED", 4 * MEGA)
    monkeypatch.setattr(archives, "RATIO", 2)


def header(name, size=0, kind=tarfile.REGTYPE):
    member = tarfile.TarInfo(name)
    member.size, member.type = size, kind
    return member.tobuf(tarfile.GNU_FORMAT)


def padded(content):
    return content + b"\0" * (-len(content) % 512)


def run_in_tar(folder, run=1):
    """The members of an archive that holds one run."""
    written = write_run(folder, [revision([1, 5, 9], [2, 2, 2], run=run)])
    contents = {path.name: path.read_bytes() for path in (written / "run.json", written / "episodes.jsonl")}
    return b"".join(header(f"{run}/{name}", len(data)) + padded(data) for name, data in contents.items())


def write(path, *pieces):
    """Write pieces of a tar archive, packed as the ending of its name says."""
    with PACKERS[path.name.partition(".")[2]](path, "wb") as stream:
        for piece in (*pieces, b"\0" * 1024):
            stream.write(piece)
    return path


def problems(*paths, runs=(1,)):
    with open_store(list(paths)) as store:
        assert sorted(row["run"] for row in store.rows("revisions")) == list(runs)
        return [str(problem) for problem in store.problems]


def test_sound_archives_are_read(tmp_path):
    archives_of_all_kinds = [
        write(tmp_path / f"x.{ending}", run_in_tar(tmp_path / ending, run), header("1/calls.jsonl", MEGA), ZEROS)
        for run, ending in enumerate(PACKERS, start=1)
    ]
    assert problems(*archives_of_all_kinds, runs=range(1, 5)) == []


@pytest.mark.slow
def test_a_member_beyond_the_bound_ends_the_archive(tmp_path):
    bombs = []
    for ending in PACKERS:
        for name in ("bomb/episodes.jsonl", "bomb/run.json", "bomb/calls.jsonl", "x.pack.parquet"):
            run = len(bombs) + 1
            zeros = [ZEROS] * (1 if ending == "tar" else 8)
            good = run_in_tar(tmp_path / "good", run)
            bombs.append(write(tmp_path / f"{run}.{ending}", good, header(name, 8 * MEGA), *zeros))
    told = problems(*bombs, runs=range(1, 17))
    wanted = [
        f"{bomb}: the archive cannot be read to its end (it unpacks to more than 4 MiB; if that is" for bomb in bombs
    ]
    assert [line[: len(start)] for line, start in zip(told, wanted, strict=True)] == wanted
    for bomb in (bombs[0], bombs[-1]):
        with pytest.raises(AuditError, match="unpacks to more than"):
            open_store([bomb], strict=True)
    result = CliRunner().invoke(app, ["verify", str(bombs[0]), "--strict"])
    assert result.exit_code in {1, 2}


def test_too_much_in_an_archive_ends_it(tmp_path, monkeypatch):
    """Many members that are too much together, descriptions of descriptions, and more members than there can be."""
    good = run_in_tar(tmp_path / "good")
    many = [header(f"pong_three_traj/run_1/episode_{i}/x", MEGA) + ZEROS for i in range(8)]
    [told] = problems(write(tmp_path / "much.tar.xz", good, *many))
    assert "unpacks to more than 4 MiB" in told
    [told] = problems(write(tmp_path / "deep.tar.xz", good, *[header("pax", 0, tarfile.XHDTYPE)] * 1500))
    assert "cannot be read to its end" in told
    monkeypatch.setattr(archives, "MEMBERS", 100)
    [told] = problems(write(tmp_path / "many.tar.xz", good, *[header(f"{number}") for number in range(200)]))
    assert "more than 100 members" in told


def test_a_large_archive_may_be_as_many_times_larger(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "UNPACKED", 0)
    good = run_in_tar(tmp_path / "good")
    assert problems(write(tmp_path / "x.tar", good, header("calls.jsonl", 5 * MEGA), *[ZEROS] * 5)) == []


def link(name, to, kind=tarfile.SYMTYPE):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member.tobuf(tarfile.GNU_FORMAT)


def test_links_to_files_of_the_archive_are_these_files_and_others_are_named(tmp_path):
    run = "pong_three_traj/run_"
    critic_episode(tmp_path / f"{run}1", 0, [1.0], [2.0])
    files = [path for path in (tmp_path / f"{run}1").rglob("*") if path.is_file()]
    names = [path.relative_to(tmp_path / f"{run}1").as_posix() for path in files]
    pieces = [link(f"./{run}2/{name}", "/".join([".."] * (name.count("/") + 1)) + f"/run_1/{name}") for name in names]
    pieces += [
        header(f"{run}1/{name}", len(path.read_bytes())) + padded(path.read_bytes())
        for name, path in zip(names, files, strict=True)
    ]
    pieces += [link(f"{run}3/{name}", f"{run}2/{name}", tarfile.LNKTYPE) for name in names]
    pieces += [link("latest", f"{run}3"), link("a", "b"), link("b", "a"), link("bin/python", "/usr/bin/python")]
    for ending in ("tar", "tar.xz"):
        assert problems(write(tmp_path / f"x.{ending}", *pieces), runs=(1, 2, 3)) == []
    outside = link("4/episodes.jsonl", "/home/episodes.jsonl")
    [told] = problems(write(tmp_path / "y.tar", *pieces, outside), runs=(1, 2, 3))
    assert told.endswith(
        "y.tar!4/episodes.jsonl: cannot be read (a link to /home/episodes.jsonl, which is not a file of the archive)"
    )


def test_members_with_holes_are_left_out(tmp_path):
    good = run_in_tar(tmp_path / "good")
    run = write_run(tmp_path / "other", [revision([1, 5, 9], [2, 2, 2], run=2)])
    described = (run / "run.json").read_bytes()
    # An old sparse header: the map of what is there, then the real size; nothing is there, and 3 MiB are said to be.
    sparse = bytearray(header("2/episodes.jsonl", 0, tarfile.GNUTYPE_SPARSE))
    sparse[386:410] = b"%011o\0%011o\0" % (3 * MEGA, 0)
    sparse[483:495] = b"%011o\0" % (3 * MEGA)
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse)
    [told] = problems(
        write(tmp_path / "x.tar", good, header("2/run.json", len(described)), padded(described), bytes(sparse))
    )
    assert "2/episodes.jsonl: cannot be read (the archive leaves out its holes" in told


HEADERS = {
    "a long name": header("././@LongLink", 8 * MEGA, tarfile.GNUTYPE_LONGNAME),
    "extended headers": header("pax", 8 * MEGA, tarfile.XHDTYPE),
    "global headers": header("pax", 8 * MEGA, tarfile.XGLTYPE),
    "a negative size": header("2/run.json", -(2**40)),
    "a name of negative length": header("././@LongLink", -512, tarfile.GNUTYPE_LONGNAME),
    "a header of itself": header("pax", -512, tarfile.XHDTYPE),
}


def test_descriptions_of_members_are_of_bounded_length(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "UNPACKED", 10 * MEGA)
    for number, case in enumerate(HEADERS, start=1):
        good = run_in_tar(tmp_path / "good", number)
        write(tmp_path / f"{case}.tar.gz", good, HEADERS[case], *[b"x" * MEGA] * 8)
    paths = [tmp_path / f"{case}.tar.gz" for case in HEADERS]
    tracemalloc.start()
    told = problems(*paths, runs=range(1, len(HEADERS) + 1))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ["cannot be read to its end" in each for each in told] == [True] * len(HEADERS), told
    assert most < 8 * MEGA


def test_many_tiny_members_take_no_memory(tmp_path):
    """Each would keep about a kilobyte, its own name apart."""
    good = run_in_tar(tmp_path / "good")
    path = write(tmp_path / "x.tar.gz", good, *[header(f"{number}") for number in range(4_000)])
    tracemalloc.start()
    for _ in archives.members(path):
        pass
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * MEGA


def test_xz_that_asks_for_gigabytes_of_memory_is_named(tmp_path):
    content = io.BytesIO(run_in_tar(tmp_path / "good") + b"\0" * 1024).getvalue()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 16}]
    packed = bytearray(lzma.compress(content, filters=filters))
    # The block's header: its size, flags, the filter, the length of its property, and that: the size of the window.
    assert packed[12:16] == b"\x02\x00\x21\x01"
    packed[16] = 40  # 4 GiB
    packed[20:24] = struct.pack("<I", zlib.crc32(packed[12:20]))
    (tmp_path / "x.tar.xz").write_bytes(packed)
    with pytest.raises(AuditError, match="emory usage limit"):
        open_store([tmp_path / "x.tar.xz"])


def test_xz_of_several_streams_is_read(tmp_path):
    content = run_in_tar(tmp_path / "good") + b"\0" * 1024
    half = len(content) // 2
    packed = lzma.compress(content[:half]) + b"\0" * 8 + lzma.compress(content[half:])
    (tmp_path / "x.tar.xz").write_bytes(packed)
    assert problems(tmp_path / "x.tar.xz") == []


def test_an_archive_that_breaks_off_within_a_member_is_named(tmp_path):
    noise = random.Random(0).randbytes(2 * MEGA)
    paths = []
    for run, ending in enumerate(PACKERS, start=1):
        good = run_in_tar(tmp_path / "good", run)
        paths.append(write(tmp_path / f"x.{ending}", good, header("9/episodes.jsonl", len(noise)), noise))
        os.truncate(paths[-1], paths[-1].stat().st_size * 3 // 4)
    told = problems(*paths, runs=range(1, 5))
    assert all("cannot be read" in each for each in told)
    for path in paths:
        assert 1 <= len([each for each in told if each.startswith((f"{path}:", f"{path}!"))]) <= 2, path


def test_an_archive_that_would_fill_the_disk_is_not_unpacked(tmp_path, monkeypatch):
    good = run_in_tar(tmp_path / "good")
    critic_episode(tmp_path / "pong_three_traj" / "run_1", 0, [1.0], [2.0])
    path = write(tmp_path / "x.tar", good, header("2/episodes.jsonl", 5 * MEGA), *[ZEROS] * 5)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 8 * MEGA}))
    [told] = problems(path)
    assert "2/episodes.jsonl: cannot be read (the archive would fill half of the disk" in told

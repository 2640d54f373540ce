"""Archives that are far larger unpacked than they look, or are made to be: named, and bounded in memory and disk."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import tarfile
import tracemalloc
from types import SimpleNamespace

import pytest

from audit.output.errors import AuditError
from audit.records import unpacking
from audit.records.locating import locate
from audit.store import open_store
from tests.audit.samples import revision, write_run
from tests.audit.sources.released import critic_episode

MEGA = 2**20
ZEROS = b"\0" * MEGA
PACKERS = {"tar": open, "tar.gz": gzip.open, "tar.bz2": bz2.open, "tar.xz": lzma.open}


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch):
    """A small part of the bounds, so that bombs need not be as large either."""
    monkeypatch.setattr(unpacking, "UNPACKED", 4 * MEGA)
    monkeypatch.setattr(unpacking, "RATIO", 2)


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


def test_sound_archives_are_read(tmp_path, monkeypatch):
    """A large one may be as many times larger."""
    archives_of_all_kinds = [
        write(tmp_path / f"x.{ending}", run_in_tar(tmp_path / ending, run), header("1/calls.jsonl", MEGA), ZEROS)
        for run, ending in enumerate(PACKERS, start=1)
    ]
    assert problems(*archives_of_all_kinds, runs=range(1, 5)) == []
    monkeypatch.setattr(unpacking, "UNPACKED", 0)
    assert problems(archives_of_all_kinds[0]) == []


def test_a_member_beyond_the_bound_ends_the_archive(tmp_path):
    """Whatever the member, and though nothing would read it."""
    bombs = []
    names = ("run.json", "calls.jsonl", "x", "x.pack.parquet")
    for run, (ending, name) in enumerate(zip(PACKERS, names, strict=True), start=1):
        zeros = [ZEROS] * (1 if ending == "tar" else 8)
        pieces = [run_in_tar(tmp_path / "good", run), header(name, 8 * MEGA), *zeros]
        bombs.append(write(tmp_path / f"{run}.{ending}", *pieces))
    wanted = "the archive cannot be read to its end (it unpacks to more than 4 MiB; if that is"
    assert [line.partition(" right")[0] for line in problems(*bombs, runs=range(1, 5))] == [
        f"{bomb}: {wanted}" for bomb in bombs
    ]
    with pytest.raises(AuditError, match="unpacks to more than"):
        open_store([bombs[0]], strict=True)


def test_too_much_in_an_archive_ends_it(tmp_path, monkeypatch):
    """Members that are too many, or too much together or for the disk, and descriptions of descriptions."""
    good = run_in_tar(tmp_path / "good")
    many = [header(f"pong_three_traj/run_1/episode_{i}/x", MEGA) + ZEROS for i in range(8)]
    [told] = problems(write(tmp_path / "much.tar.xz", good, *many))
    assert "unpacks to more than 4 MiB" in told
    [told] = problems(write(tmp_path / "deep.tar.xz", good, *[header("pax", 0, tarfile.XHDTYPE)] * 1500))
    assert "cannot be read to its end" in told
    monkeypatch.setattr(unpacking, "MEMBERS", 100)
    [told] = problems(write(tmp_path / "many.tar.xz", good, *[header(f"x{number}") for number in range(200)]))
    assert "more than 100 members" in told
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=4 * MEGA))
    [told] = problems(write(tmp_path / "x.tar", good, header("2/episodes.jsonl", 3 * MEGA), *[ZEROS] * 3))
    assert "it unpacks to more than 2 MiB" in told


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
    assert told.endswith("y.tar!4/episodes.jsonl: cannot be read (No such file or directory)")


HEADERS = {
    "a long name": header("././@LongLink", 8 * MEGA, tarfile.GNUTYPE_LONGNAME),
    "extended headers": header("pax", 8 * MEGA, tarfile.XHDTYPE),
    "global headers": header("pax", 8 * MEGA, tarfile.XGLTYPE),
    "a negative size": header("2/run.json", -(2**40)),
    "a name of negative length": header("././@LongLink", -512, tarfile.GNUTYPE_LONGNAME),
    "a header of itself": header("pax", -512, tarfile.XHDTYPE),
}


def test_descriptions_of_members_are_of_bounded_length(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "UNPACKED", 10 * MEGA)
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
    path = write(tmp_path / "x.tar.gz", *[header("x", 0, tarfile.DIRTYPE)] * 8_000)
    tracemalloc.start()
    folder, told = unpacking.unpack(locate(path), tmp_path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (list(folder.iterdir()), told) == ([], [])
    assert most < 2 * MEGA


def test_no_name_leads_out(tmp_path):
    """Whatever members are called, and whatever they link to, nothing but the new folder is written or read."""
    (tmp_path / "secret").write_text("secret")
    into = tmp_path / "into"
    into.mkdir()
    names = ["../../x", "/x", "a/../../../y", f"{tmp_path}/z", "out/x", "hard", "chain"]
    pieces = [
        link("secret", f"{tmp_path}/secret"),
        link("out", str(tmp_path)),
        link("hard", "../../secret", tarfile.LNKTYPE),
        link("chain", "out/secret"),
    ]
    pieces += [link("up", "../.."), link("up/secret", "up/../secret"), header("pipe", 0, tarfile.FIFOTYPE)]
    pieces += [header(name, 4) + padded(b"evil") for name in names]
    for number, order in enumerate((pieces, pieces[::-1])):
        unpacking.unpack(locate(write(tmp_path / f"{number}.tar", *order)), into)
    files = [path for path in into.rglob("*") if path.is_file()]
    assert {path.read_text() for path in files} == {"evil"}
    assert not [path for path in into.rglob("*") if path.is_symlink() and path.exists()]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.tar", "1.tar", "into", "secret"]


def test_an_archive_that_breaks_off_within_or_behind_a_member_is_named(tmp_path):
    noise = random.Random(0).randbytes(2 * MEGA)
    paths = []
    for run, ending in enumerate(PACKERS, start=1):
        good = run_in_tar(tmp_path / "good", run)
        paths.append(write(tmp_path / f"x.{ending}", good, header("9/episodes.jsonl", len(noise)), noise))
        os.truncate(paths[-1], paths[-1].stat().st_size * 3 // 4)
    at_end = tmp_path / "end.tar"
    at_end.write_bytes(run_in_tar(tmp_path / "good", 5))
    damaged = write(tmp_path / "damaged.tar", run_in_tar(tmp_path / "good", 6), b"x" * 512)
    told = problems(*paths, at_end, damaged, runs=range(1, 7))
    assert [each.partition(": ")[0] for each in told] == [str(path) for path in (*paths, at_end, damaged)]
    assert all("the archive cannot be read to its end" in each for each in told)


def test_xz_of_several_streams_is_read_or_named(tmp_path):
    content = run_in_tar(tmp_path / "good") + b"\0" * 1024
    for between, told in ((b"", 0), (b"\0" * 8, 1)):
        packed = lzma.compress(content[:-1024]) + between + lzma.compress(content[-1024:])
        (tmp_path / "x.tar.xz").write_bytes(packed)
        assert len(problems(tmp_path / "x.tar.xz")) == told

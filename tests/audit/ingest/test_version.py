"""The version of the program: kept while its files look the same, and made again wherever they might not be."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from audit.ingest import version as module
from audit.ingest.version import version


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program of two files that were changed long ago, and how many of them are read."""
    files = [tmp_path / "program" / name for name in ("a.py", "b.sql")]
    files[0].parent.mkdir()
    for age, file in enumerate(files):
        file.write_text("first")
        os.utime(file, (10**9 + age, 10**9 + age))
    read = []
    made = module._digest_of_program
    monkeypatch.setattr(module, "program", lambda: list(map(str, files)))
    monkeypatch.setattr(module, "_digest_of_program", lambda paths: read.append(1) or made(paths))
    monkeypatch.setattr(module, "SETTLED", -(10**12))  # the times of a test's files are those of this moment
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "cache"))
    return files, read


def asked() -> str:
    """The version as another process would find it."""
    version.cache_clear()
    return version()


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    version.cache_clear()


def test_sources_are_read_once(program, tmp_path) -> None:
    _, read = program
    first = asked()
    assert [asked(), asked()] == [first, first]
    assert len(read) == 1
    [kept] = (tmp_path / "cache/versions").iterdir()
    assert kept.read_text().split()[0] == first


def test_whatever_changes_has_them_read_again(program, tmp_path, monkeypatch) -> None:
    (one, other), read = program
    found = [asked()]

    def same_size_and_date() -> None:
        before = one.stat()
        one.write_text("again")
        os.utime(one, ns=(before.st_atime_ns, before.st_mtime_ns))

    def longer() -> None:
        other.write_text("longer")

    def replaced() -> None:
        new = one.with_name("new")
        new.write_text("third")
        os.utime(new, ns=(0, one.stat().st_mtime_ns))
        new.replace(one)

    def library() -> None:
        monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0.1")
        folder = tmp_path / "site-packages"
        folder.mkdir()
        monkeypatch.syspath_prepend(str(folder))

    def installed() -> None:
        monkeypatch.setattr("importlib.metadata.version", lambda name: "0.0.2")
        time.sleep(0.02)
        (tmp_path / "site-packages/duckdb-0.0.2.dist-info").mkdir()

    for change in (same_size_and_date, longer, replaced, library, installed):
        time.sleep(0.02)  # beyond the granularity of the times of files
        change()
        found.append(asked())
        assert asked() == found[-1], change
    assert len(set(found)) == len(read) == len(found)


def test_what_may_look_the_same_after_a_change_is_read_each_time(program, monkeypatch) -> None:
    files, read = program
    for file in files:  # as of an image that is built reproducibly
        os.utime(file, (10**9, 10**9))
    asked(), asked()
    assert len(read) == 2
    os.utime(files[0], (10**9 + 1, 10**9 + 1))
    monkeypatch.setattr(module, "SETTLED", 10**12)
    asked(), asked()
    assert len(read) == 4


def test_what_was_kept_is_not_believed_where_it_is_damaged_or_cannot_be_kept(program, tmp_path, monkeypatch) -> None:
    _, read = program
    first = asked()
    [kept] = (tmp_path / "cache/versions").iterdir()
    for content in (b"", b"\xff", b"0" * 32, kept.read_bytes().replace(first.encode()[:4], b"0000"), b"a b c"):
        kept.write_bytes(content)
        assert asked() == first
    assert len(read) == 6
    Path(tmp_path / "file").write_text("")
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "file"))
    assert [asked(), asked()] == [first, first]
    assert len(read) == 8

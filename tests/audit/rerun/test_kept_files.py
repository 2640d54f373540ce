"""Pictures in the cache folder: found again, bounded, and done without where the folder cannot be written."""

from __future__ import annotations

import os

from audit.rerun.kept_files import KeptFiles

DIGEST = 33
"""Bytes before the content of each file."""


def test_what_is_kept_is_found_by_another(tmp_path):
    KeptFiles(tmp_path / "kept", 100).keep("one", b"content")
    assert KeptFiles(tmp_path / "kept", 100).find("one") == b"content"
    assert KeptFiles(tmp_path / "kept", 100).find("two") is None


def test_what_is_damaged_or_another_s_is_not_found(tmp_path):
    kept = KeptFiles(tmp_path, 1000)
    kept.keep("one", b"content")
    (tmp_path / "two").write_bytes((tmp_path / "one").read_bytes())
    (tmp_path / "one").write_bytes((tmp_path / "one").read_bytes().replace(b"content", b"consent"))
    assert kept.find("one") is kept.find("two") is None


def test_those_unused_longest_make_room(tmp_path):
    kept = KeptFiles(tmp_path, 25 + 2 * DIGEST)
    for age, name in ((30, "a"), (20, "b")):
        kept.keep(name, b"0123456789")
        os.utime(tmp_path / name, ns=(0, 10**18 - age))
    assert kept.find("a")  # and is used now
    kept.keep("c", b"0123456789")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "c"]


def test_what_is_larger_than_all_that_is_kept_removes_nothing(tmp_path):
    kept = KeptFiles(tmp_path, 10 + DIGEST)
    kept.keep("small", b"01234")
    kept.keep("large", b"01234567890")
    assert [path.name for path in tmp_path.iterdir()] == ["small"]


def test_without_a_folder_nothing_is_kept(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    for folder in (None, tmp_path / "file"):
        kept = KeptFiles(folder, 100)
        kept.keep("one", b"content")
        kept.keep("two", b"content")
        assert kept.find("one") is None
    assert capsys.readouterr().err.count("pictures cannot be kept") == 1

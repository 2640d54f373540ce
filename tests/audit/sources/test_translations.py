"""Translations of tools' logs are made once, and again where a log has changed."""

from __future__ import annotations

import shutil
import tarfile
import time

import pytest

import audit
from audit.sources import translations
from audit.sources.gepa import GepaSource
from tests.audit.sources.tool_folders import TOOLS, entry, write_gepa


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(translations, "SMALLEST", 0)
    return tmp_path / "cache" / "translations"


@pytest.fixture
def finished(monkeypatch):
    """Counts how often a source of GEPA puts folders together."""
    counted = []
    finish = GepaSource.finish
    monkeypatch.setattr(GepaSource, "finish", lambda source, intake: (counted.append(1), finish(source, intake)))
    return counted


@pytest.fixture(autouse=True)
def _later(monkeypatch):
    """Files of tests are too young to be known by their times; so the clock is moved on."""
    now = time.time_ns
    monkeypatch.setattr(translations.time, "time_ns", lambda: now() + 60 * 10**9)


def gains(*paths, **options):
    return [(row["iteration"], row["minibatch_gain"]) for row in audit.lineage(*paths, **options)]


@pytest.mark.usefixtures("cache")
def test_a_second_command_translates_nothing(tmp_path, finished):
    folder = shutil.copytree(TOOLS / "gepa-merge", tmp_path / "run")
    first = gains(folder)
    counted = len(finished)
    assert counted == 1
    assert gains(folder) == first
    assert list(audit.lineage(folder, blame="best"))
    assert len(finished) == counted


@pytest.mark.usefixtures("cache")
def test_a_log_that_grew_is_translated_again(tmp_path, finished):
    folder = write_gepa(tmp_path / "run", [entry(0)])
    assert len(gains(folder)) == 2
    write_gepa(folder, [entry(0), entry(1, after=(0, 1, 1), new_program_idx=1)])
    assert [gain for _, gain in gains(folder)][-1] == pytest.approx(1 / 3)
    assert len(finished) == 2


def test_earlier_translations_of_a_log_are_removed_unless_they_may_be_in_use(tmp_path, cache, monkeypatch):
    for number in range(3):
        gains(write_gepa(tmp_path / "run", [entry(each) for each in range(number + 1)]))
    assert len(list(cache.glob("*/*"))) == 3
    monkeypatch.setattr(translations, "IN_USE", -1.0)
    gains(write_gepa(tmp_path / "run", [entry(each) for each in range(4)]))
    assert len(list(cache.glob("*/*"))) == 1


def test_no_cache_keeps_nothing(tmp_path, cache):
    folder = write_gepa(tmp_path / "run", [entry(0)])
    assert gains(folder, cache=False)
    assert not cache.exists()


def test_problems_are_reported_again(tmp_path, cache):
    folder = write_gepa(tmp_path / "run", [entry(0), {"i": "one"}])
    first, second = (audit.lineage(folder).notes for _ in range(2))
    assert any("iteration 1" in note and "left out" in note for note in first)
    assert first == second
    assert len(list(cache.glob("*/*"))) == 1


def test_members_of_archives_are_not_kept(tmp_path, cache):
    folder = write_gepa(tmp_path / "run", [entry(0)])
    with tarfile.open(tmp_path / "run.tar", "w") as archive:
        archive.add(folder, "run")
    beside = write_gepa(tmp_path / "beside", [entry(0, after=(1, 1, 1))])
    assert len(gains([tmp_path / "run.tar", beside])) == 4
    assert not cache.exists()


def test_damage_is_made_good(tmp_path, cache, finished):
    folder = write_gepa(tmp_path / "run", [entry(0)])
    first = gains(folder)
    (kept,) = cache.glob("*/*")
    (kept / "translation.json").write_text("{")
    assert gains(folder) == first
    assert len(finished) == 2

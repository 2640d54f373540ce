"""The cache: it makes audits quick, and changes nothing else."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from audit.cache_folder import VARIABLE
from audit.cli import app
from audit.ingest import cache as cache_module
from audit.ingest import gathering as gathering_module
from audit.ingest.segment_lists import look_of, remove, write_list
from audit.store import open_store
from tests.audit.samples import candidate, episode, revision, write_run

RELATIONS = ("summary", "salience", "agreement_summary", "patterns_summary", "revisions", "runs")
LONG_AGO = 1_700_000_000


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of the test's own that takes records of any size and age."""
    path = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(path))
    monkeypatch.setattr(gathering_module, "SMALLEST", 0)
    monkeypatch.setattr(cache_module, "SETTLED", 0)
    return path


@pytest.fixture
def data(tmp_path):
    root = tmp_path / "data"
    for run in (1, 2, 3):
        rows = [
            revision([1, 5, 9], [2, 2, run], after=(1, 2.5, 3), answer="The worst rollout fell.", iteration=0, run=run),
            revision([1, 5, 9], [6, 6, 6], answer="ünï\u2028code \x1b[31m", iteration=1, run=run),
            episode(candidate([7, 7, 7]), None, iteration=2, run=run),
        ]
        # One line of every run is torn, another no record.
        write_run(root / f"run-{run}", rows, tail=b'{"no": "record"}\n{"torn')
    return root


def audited(data, names=("episodes",), **options):
    with open_store([data], **options) as store:
        problems = [(problem.file, problem.line, problem.message) for problem in store.problems]
        rows = {name: store.rows(name) for name in names}
        if "episodes" in rows:  # the one relation whose rows are in no order
            rows["episodes"].sort(key=repr)
        return rows, problems, list(store.notes)


def segments(folder):
    return {path.name: path.stat().st_size for path in folder.glob("*.parquet")}


def test_with_and_without_the_cache_everything_is_the_same(data, folder):
    without = audited(data, RELATIONS, cache=False)
    assert not folder.exists()
    assert len(without[1]) == 6
    assert audited(data, RELATIONS) == without
    first = segments(folder)
    assert first
    assert audited(data, RELATIONS) == without
    assert segments(folder) == first  # nothing was read again


def test_only_what_changed_is_read_again(data, folder):
    audited(data)
    first = segments(folder)
    with (data / "run-2" / "episodes.jsonl").open("ab") as file:
        file.write(b'"}\n' + json.dumps(revision([1, 5, 9], [9, 9, 9], iteration=3, run=2)).encode() + b"\n")
    found = audited(data)
    assert Counter(row["run"] for row in found[0]["episodes"]) == {1: 3, 2: 4, 3: 3}
    assert found == audited(data, cache=False)
    new = set(segments(folder)) - set(first)
    assert len(new) == 1


def test_a_file_that_was_replaced_by_one_of_the_same_size_and_time_is_read_again(data):
    path = data / "run-1" / "episodes.jsonl"
    os.utime(path, (LONG_AGO, LONG_AGO))
    before = audited(data)
    copy = path.with_suffix(".new")
    copy.write_bytes(path.read_bytes().replace(b"[1.0, 5.0, 9.0]", b"[2.0, 4.0, 9.0]"))
    os.utime(copy, (LONG_AGO, LONG_AGO))
    copy.replace(path)
    after = audited(data)
    assert after[0] != before[0]
    assert after == audited(data, cache=False)


def test_a_change_of_run_json_counts(data):
    """K of the run decides which lines are sound."""
    audited(data)
    path = data / "run-1" / "run.json"
    path.write_text(path.read_text().replace('"rollouts": 3', '"rollouts": 4'))
    after = audited(data)
    assert after == audited(data, cache=False)
    assert len(after[1]) > 6


def test_a_damaged_cache_is_rebuilt(data, folder):
    expected = audited(data)
    for kind, damage in itertools.product(["parquet", "json"], ["truncated", "overwritten", "gone"]):
        for path in folder.glob(f"*.{kind}"):
            if damage == "gone":
                path.unlink()
            else:
                path.write_bytes(path.read_bytes()[:50] if damage == "truncated" else b"nonsense")
        assert audited(data) == expected, (kind, damage)
        rebuilt = segments(folder)
        assert rebuilt, (kind, damage)
        assert audited(data) == expected, (kind, damage)
        assert segments(folder) == rebuilt, (kind, damage)


def test_the_folder_may_vanish_between_audits(data, folder):
    expected = audited(data, ("changes", "runs"))
    shutil.rmtree(folder)
    assert audited(data, ("changes", "runs")) == expected


def test_a_cache_that_cannot_be_written_is_told_once_and_changes_nothing(data, monkeypatch):
    expected = audited(data, cache=False)
    monkeypatch.setenv(VARIABLE, "/dev/null/cache")
    found, problems, notes = audited(data)
    assert (found, problems) == expected[:2]
    (note,) = set(notes) - set(expected[2])
    assert "cannot write the cache /dev/null/cache: " in note
    assert "\n" not in note


def test_a_full_disk_is_told_and_changes_nothing(data, monkeypatch):
    expected = audited(data, cache=False)

    def full(self, *_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_module.Cache, "_publish", full)
    found, problems, notes = audited(data)
    assert (found, problems) == expected[:2]
    assert any("No space left on device" in note for note in notes)


def test_an_audit_within_an_audit_does_no_harm(data, monkeypatch):
    """It reads and keeps the same files between the other's look at the cache and its reading."""
    expected = audited(data, cache=False)
    known, others = cache_module.Cache.known, []

    def meanwhile(cache, files):
        found = known(cache, files)
        with monkeypatch.context() as patch:
            patch.setattr(cache_module.Cache, "known", known)
            others.append(audited(data))
        return found

    monkeypatch.setattr(cache_module.Cache, "known", meanwhile)
    assert [audited(data), *others] == [expected] * 2


def test_a_segment_may_be_removed_by_another_audit_as_soon_as_it_is_listed(data, monkeypatch):
    def removed_at_once(path, contents):
        write_list(path, contents)
        remove(path)

    monkeypatch.setattr(cache_module, "write_list", removed_at_once)
    assert audited(data, ("runs",)) == audited(data, ("runs",), cache=False)


def test_a_segment_may_be_removed_by_another_audit_while_it_is_looked_up(data, folder, monkeypatch):
    expected = audited(data)
    original = cache_module.Cache._judged_by

    def removed_meanwhile(self, file):
        for path in folder.glob("*.json"):
            remove(path)
        return original(self, file)

    monkeypatch.setattr(cache_module.Cache, "_judged_by", removed_meanwhile)
    assert audited(data) == expected


@pytest.mark.slow
def test_audits_at_the_same_time_do_not_harm_one_another(data):
    expected = audited(data, ("runs",), cache=False)[:2]
    script = (
        "import sys; from audit.ingest import cache, gathering; gathering.SMALLEST = cache.SETTLED = 0\n"
        "from audit.store import open_store\n"
        "with open_store([sys.argv[1]]) as store: print(store.rows('runs'), len(store.problems))"
    )

    def audit(_):
        done = subprocess.run(
            [sys.executable, "-c", script, str(data)], capture_output=True, text=True, check=False, env=dict(os.environ)
        )
        return done.stdout.strip(), done.stderr

    with ThreadPoolExecutor(4) as pool:
        results = set(pool.map(audit, range(8)))
    assert results == {(f"{expected[0]['runs']} {len(expected[1])}", "")}


def test_a_file_that_may_still_change_is_not_kept(data, folder, monkeypatch):
    monkeypatch.setattr(cache_module, "SETTLED", 10**18)
    audited(data)
    assert segments(folder) == {}


def test_small_data_sets_leave_no_cache(data, folder, monkeypatch):
    monkeypatch.setattr(gathering_module, "SMALLEST", 16 * 2**20)
    audited(data)
    assert not folder.exists()


def test_no_cache_is_an_option_of_the_command(data, folder):
    done = CliRunner().invoke(app, ["runs", str(data), "--no-cache", "--format", "json"])
    assert len(json.loads(done.stdout)) == 3
    assert not folder.exists()


def test_a_digit_of_a_list_is_under_a_digest(data, folder):
    """Whichever it is: the place of a file, a time, the line of a fault."""
    expected = audited(data)
    [path] = [path for path in folder.glob("*.json") if b'"place":3' in path.read_bytes()]
    content = path.read_bytes()
    for old, new in (
        (b'"place":3', b'"place":2'),
        (b'"line":4', b'"line":3'),
    ):
        assert old in content
        path.write_bytes(content.replace(old, new))
        assert audited(data) == expected, new
        for newer in [*folder.glob("*.json"), *folder.glob("*.parquet")]:
            newer.unlink()
        assert audited(data) == expected
        [path] = [path for path in folder.glob("*.json") if b'"place":3' in path.read_bytes()]
        content = path.read_bytes()


def test_damage_that_metadata_do_not_show_is_noticed(data, folder, monkeypatch):
    """As of a disk: size and times of the segment are what they were."""
    expected = audited(data)
    for place in (4, 300, -200, -1):
        for path in folder.glob("*.parquet"):
            look = cache_module.look_of(path)
            content = bytearray(path.read_bytes())
            content[place] ^= 1
            path.write_bytes(content)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(
                    cache_module, "look_of", lambda each, path=path, look=look: look if each == path else look_of(each)
                )
                assert audited(data) == expected, place


def test_what_is_another_data_set_s_is_not_believed(data, folder, tmp_path):
    """Relations of batches that two data sets have under the same name, since their runs are described alike."""
    other = shutil.copytree(data, tmp_path / "other")
    for path in other.rglob("episodes.jsonl"):
        path.write_bytes(path.read_bytes().replace(b"[1.0, 5.0, 9.0]", b"[2.0, 4.0, 9.0]"))
    expected = {path: audited(path, ("evidence",)) for path in (data, other)}
    assert expected[data][0] != expected[other][0]
    shutil.rmtree(folder / "analyses", ignore_errors=True)
    [one, two] = [each for each in folder.iterdir() if each.is_dir()]
    names = [sorted(path.name for path in each.iterdir()) for each in (one, two)]
    assert [name.partition(".")[0] for name in names[0]] == [name.partition(".")[0] for name in names[1]]
    for each in (one, two):
        each.rename(f"{each}.away")
    one.with_suffix(".away").rename(two)
    two.with_suffix(".away").rename(one)
    assert {path: audited(path, ("evidence",)) for path in (data, other)} == expected


def test_a_file_whose_time_was_set_back_is_not_kept(data, folder, monkeypatch):
    """It was changed a moment ago, and may change again without looking different."""
    monkeypatch.setattr(cache_module, "SETTLED", 3600 * 10**9)
    for path in data.rglob("*.jsonl"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    audited(data)
    assert segments(folder) == {}

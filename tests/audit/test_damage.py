"""Files that the program reads back, under damage: the same numbers, or an error in words, and no others.

Packs, caches and plans are under checksums and digests. The truth of simulated critics is lines of JSON like the
records, of which only what is no line of that form can be named.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.cache_folder import VARIABLE
from audit.ingest import analyses, cache, gathering
from audit.interventions.plan import read_plan
from audit.output.errors import AuditError
from audit.remote import ranges
from audit.sources.pack import contents_of
from audit.store import open_store
from audit.validation.calibration.truth import truths_in
from collector.records import Truth
from tests.audit.interventions import planned
from tests.audit.packing.test_checksums import make_pack
from tests.audit.samples import revision, write_run
from tests.shared import made

RELATIONS = ("salience", "evidence", "critic_answers")
MADE_OF = ("audit", "collector", "stats", "tests/audit/samples.py")


def few(examples):
    """Quick: so many examples, the same ones each time."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@st.composite
def damages(draw):
    """A function that damages bytes: flips a bit, deletes, inserts or overwrites some, or cuts off the end."""
    place = draw(st.floats(0, 1, exclude_max=True))
    from_end = draw(st.booleans())
    kind = draw(st.sampled_from(["flip", "delete", "insert", "zeros", "cut"]))
    some = draw(st.binary(min_size=1, max_size=40))

    def damage(content):
        # Half of the damage is near the end, where footers, digests and checksums are.
        at = int(place * len(content)) if not from_end else max(len(content) - 1 - int(place * 2000), 0)
        if kind == "flip":
            return content[:at] + bytes([content[at] ^ (1 << some[0] % 8)]) + content[at + 1 :]
        if kind == "delete":
            return content[:at] + content[at + len(some) :]
        if kind == "insert":
            return content[:at] + some + content[at:]
        if kind == "zeros":
            return content[:at] + bytes(len(some)) + content[at + len(some) :]
        return content[:at]

    return damage


def rows(path, **options):
    with open_store([path], **options) as store:
        return {name: sorted(map(repr, store.rows(name))) for name in RELATIONS}


@pytest.fixture(scope="module")
def pack():
    path = made("checksums", make_pack, of=MADE_OF) / "data.pack.parquet"
    return path, rows(path, cache=False)


def check_pack(pack, damage, folder):
    path, expected = pack
    damaged = folder / path.name
    damaged.write_bytes(damage(path.read_bytes()))
    try:
        found = rows(damaged, cache=False)
    except AuditError as error:
        found = str(error)
    except duckdb.Error:
        found = ranges.failure() or ""
    assert found == expected or str(damaged) in found


@given(damages())
@few(25)
def test_a_damaged_pack(pack, tmp_path, damage):
    check_pack(pack, damage, tmp_path)


@given(damages())
@few(10)
def test_a_damaged_pack_that_is_checked_as_it_is_read(pack, tmp_path, damage):
    pytest.importorskip("fsspec")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "WHOLE", 0)
        check_pack(pack, damage, tmp_path)


@pytest.mark.slow
@given(damages(), st.booleans())
@few(400)
def test_many_damaged_packs(pack, tmp_path, damage, is_small):
    with pytest.MonkeyPatch.context() as patch:
        if not is_small:
            patch.setattr(ranges, "WHOLE", 0)
        check_pack(pack, damage, tmp_path)


def fill(folder):
    """Records, and a cache of what is found in them."""
    for run in (1, 2):
        data = [
            revision([1, 5, 9], [2, 2, run], answer="The worst rollout fell.", iteration=place, run=run)
            for place in range(3)
        ]
        write_run(folder / "data" / f"run-{run}", data, tail=b'{"no": "record"}\n')


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """Records whose cache is filled, and what is found in them."""
    fill(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for module in (analyses, gathering):
        monkeypatch.setattr(module, "SMALLEST", 0)
    for module in (analyses, cache):
        monkeypatch.setattr(module, "SETTLED", 0)
    return tmp_path / "data", rows(tmp_path / "data", cache=False)


def check_cache(cached, damage, which, *, is_hidden):
    """Whatever is damaged is made again, even where metadata do not show it, as of a disk that decays."""
    data, expected = cached
    assert rows(data) == expected
    folder = data.parent / "cache"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    # The name of a file has a digest or a random part: those of a kind are in one order all the same.
    path = files[which % len(files)]
    look = cache.look_of(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.MonkeyPatch.context() as patch:
        if is_hidden:
            real = cache.look_of
            patch.setattr(cache, "look_of", lambda each: look if Path(each) == path else real(each))
        assert rows(data) == expected, path
    shutil.rmtree(folder)


@given(damages(), st.integers(0, 50), st.booleans())
@few(5)
def test_a_damaged_cache(cached, damage, which, is_hidden):
    check_cache(cached, damage, which, is_hidden=is_hidden)


@pytest.mark.slow
@given(damages(), st.integers(0, 50), st.booleans())
@few(200)
def test_many_damaged_caches(cached, damage, which, is_hidden):
    check_cache(cached, damage, which, is_hidden=is_hidden)


def experiment(folder):
    planned.recorded(folder / "data", runs=1)
    planned.plan(folder / "data", folder / "plan.json", *planned.TINY)


@pytest.fixture(scope="module")
def planning():
    return made("damaged-plans", experiment, of=MADE_OF)


@given(damages())
@few(200)
def test_a_damaged_plan(planning, tmp_path, damage):
    sound = planning / "plan.json"
    path = tmp_path / "plan.json"
    path.write_bytes(damage(sound.read_bytes()))
    try:
        found = read_plan(path)
    except AuditError as error:
        found = str(error)
    if isinstance(found, str):
        assert str(path) in found
        assert "\n" not in found
    else:
        assert found == read_plan(sound)


@given(damages())
@few(200)
def test_damaged_truth(planning, tmp_path, damage):
    content = next(planning.rglob("truth.jsonl")).read_bytes()
    path = tmp_path / "truth.jsonl"
    path.write_bytes(damage(content))
    problems = []
    found = list(truths_in(path, problems))
    lines = path.read_bytes().splitlines()
    assert len(found) + len(problems) == len(lines)
    assert all(problem.file == str(path) and problem.line for problem in problems)
    whole = [line for line in lines if line in content.splitlines()]
    assert all(msgspec.json.decode(line, type=Truth) in found for line in whole)


def test_what_is_shared_here_is_what_it_should_be(pack):
    """A pack of several blocks with checksums."""
    assert pack[0].stat().st_size > 2 * ranges.BLOCK
    assert contents_of(pack[0]).has_checksums

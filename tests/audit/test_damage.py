"""Files that the program reads back, under damage: the same numbers, or an error in words, and no others.

Caches and plans are under digests. The truth of simulated critics is lines of JSON like the
records, of which only what is no line of that form can be named.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.cache_folder import VARIABLE
from audit.ingest import analyses, cache, gathering
from audit.interventions.plan import read_plan
from audit.output.errors import AuditError
from audit.store import open_store
from audit.validation.calibration.truth import truths_in
from collector.records import Truth
from tests.audit.interventions import planned
from tests.audit.samples import revision, write_run
from tests.shared import made

RELATIONS = ("salience", "evidence", "critic_answers")
MADE_OF = ("audit", "collector", "stats", "tests/audit/samples.py")


def always(examples, check, *strategies):
    """Hold a check for so many examples, the same ones each time."""
    quick = settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    quick(given(damages(), *strategies)(check))()


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


@pytest.mark.parametrize("examples", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_a_damaged_cache(cached, examples):
    """Whatever is damaged is made again, even where metadata do not show it, as of a disk that decays."""
    data, expected = cached
    folder = data.parent / "cache"

    def check(damage, which, is_hidden):
        assert rows(data) == expected
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        # The name of a file has a digest or a random part: those of a kind are in one order all the same.
        path = files[which % len(files)]
        look, real = cache.look_of(path), cache.look_of
        path.write_bytes(damage(path.read_bytes()))
        with pytest.MonkeyPatch.context() as patch:
            if is_hidden:
                patch.setattr(cache, "look_of", lambda each: look if Path(each) == path else real(each))
            assert rows(data) == expected, path
        shutil.rmtree(folder)

    always(examples, check, st.integers(0, 50), st.booleans())


def experiment(folder):
    planned.recorded(folder / "data", runs=1)
    planned.plan(folder / "data", folder / "plan.json", *planned.TINY)


@pytest.fixture(scope="module")
def planning():
    return made("damaged-plans", experiment, of=MADE_OF)


def test_a_damaged_plan(planning, tmp_path):
    sound = planning / "plan.json"
    path = tmp_path / "plan.json"

    def check(damage):
        path.write_bytes(damage(sound.read_bytes()))
        try:
            found = read_plan(path)
        except AuditError as error:
            found = str(error)
        assert found == read_plan(sound) or (str(path) in found and "\n" not in found)

    always(200, check)


def test_damaged_truth(planning, tmp_path):
    content = next(planning.rglob("truth.jsonl")).read_bytes()
    path = tmp_path / "truth.jsonl"

    def check(damage):
        path.write_bytes(damage(content))
        problems = []
        found = list(truths_in(path, problems))
        lines = path.read_bytes().splitlines()
        assert len(found) + len(problems) == len(lines)
        assert all(problem.file == str(path) and problem.line for problem in problems)
        whole = [line for line in lines if line in content.splitlines()]
        assert all(msgspec.json.decode(line, type=Truth) in found for line in whole)

    always(200, check)

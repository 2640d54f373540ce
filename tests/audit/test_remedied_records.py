"""Records of searches with remedies are read, verified, packed and asked again like others; what they cost counts."""

from __future__ import annotations

import msgspec
import pytest

import audit
from audit.interventions import making
from audit.interventions.units import DIFFERENT, REWRITTEN, eligible
from audit.records.packing import pack
from audit.validation.calibration.truth import truths_in
from collector.records import Episode, decode
from collector.remedies import REMEDIES, remedies_of
from collector.switches import Switches
from tests.audit.records.test_packs import lines_of
from tests.collector.helpers import collect, spec

SETS = (
    ("letters", "few", "best-of-three", "gate"),
    ("typical", "medoid", "gate-sequential"),
    ("median", "recheck"),
    ("contrast",),
    ("predict", "sample"),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A run with each set of remedies, one after another."""
    folder = tmp_path_factory.mktemp("remedied") / "data"
    for names in SETS:
        switches = Switches(remedies=remedies_of(names))
        collect(spec("cartpole", iterations=8, rollouts=10, switches=switches), folder)
    return folder


def episodes(data):
    files = sorted(data.rglob("episodes.jsonl"))
    return {file: [decode(line, Episode) for line in file.read_bytes().splitlines()] for file in files}


def test_nothing_in_them_contradicts_anything(data):
    found = audit.verify(data, sample=None)
    assert list(found.differences()) == []
    assert found.inconsistencies == []
    with audit.open(data, cache=False) as store:
        assert store.problems == []
        broken = store.sql(
            "select count(*) from changes join episodes using (condition, env, variant, run, iteration) "
            "where acceptance is not null and accepted <> acceptance.accepted"
        )
        assert broken.fetchall() == [(0,)]


def test_further_rollouts_and_calls_are_counted(data):
    spent = {
        (file.parts[-5], each.iteration): (
            len(each.initial.returns)
            + (len(each.revised.returns) if each.revised else 0)
            + (each.answers.rollouts if each.answers else 0)
            + (each.acceptance.rollouts if each.acceptance else 0),
            2 + (each.answers.asked - 1 if each.answers else 0),
        )
        for file, found in episodes(data).items()
        for each in found
    }
    assert max(rollouts for rollouts, _ in spent.values()) >= 20 + 20 + 80
    with audit.open(data, cache=False) as store:
        rows = store.rows("iterations")
        assert {each["warmup"] for each in store.rows("run_facts")} == {3}
    for row in rows:
        up_to = [spent[row["condition"], iteration] for iteration in range(row["iteration"] + 1)]
        assert row["rollouts_spent"] == sum(rollouts for rollouts, _ in up_to)
        assert row["calls_spent"] == sum(calls for _, calls in up_to)


def test_a_pack_has_all_of_them(data, tmp_path):
    packed = pack(data, tmp_path / "data.pack.parquet").path
    lines = [decode(line, Episode) for line in lines_of(packed, tmp_path / "lines")]
    assert sorted(msgspec.json.encode(each) for each in lines) == sorted(
        msgspec.json.encode(each) for written in episodes(data).values() for each in written
    )
    with audit.open(data, cache=False) as before, audit.open(packed, cache=False) as after:
        for name in ("iterations", "salience_criteria"):
            rows, again = (sorted(store.rows(name), key=str) for store in (before, after))
            assert rows == again != [], name


def test_experiments_ask_prompts_again_that_come_out_again(data):
    """Instructions are added again; evidence that was shown otherwise is left out."""
    with making.open_records([data]) as records:
        found = eligible(records, records.runs, spliced=False)
    instructed = {key.condition for key in found.units}
    assert len(instructed) == 1
    assert next(iter(instructed)).endswith("+sample+predict")
    reasons = {reason for _, reason in found.left_out}
    assert REWRITTEN in reasons
    assert DIFFERENT not in reasons


def test_of_several_answers_no_truth_is_told(data):
    for file in episodes(data):
        several = any(REMEDIES[name].acts == "answers" for name in file.parts[-5].split("+") if name in REMEDIES)
        assert bool(list(truths_in(file.parent / "truth.jsonl", []))) is not several

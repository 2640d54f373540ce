"""The authors' own scripts and the audit count the same in the authors' own logs."""

from __future__ import annotations

import json
import tarfile

import pytest

from audit.store import open_store
from tests.audit.samples import SHARED

LOGS = SHARED / "r2po_logs"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason=f"reference logs are not at {LOGS}")


@pytest.fixture(scope="module")
def expected():
    return json.loads((LOGS / "expected.json").read_text())


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    with tarfile.open(LOGS / "logs.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


@pytest.fixture(scope="module", params=["folder", pytest.param("archive", marks=pytest.mark.slow)])
def store(request, unpacked):
    with open_store([unpacked if request.param == "folder" else LOGS / "logs.tar.xz"]) as store:
        yield store


TABLES = {
    "summary": ("summary", ("env", "variant")),
    "agreement": ("agreement_summary", ("env", "variant", "structure")),
    "patterns": ("patterns_summary", ("env", "variant", "pattern")),
    "runs": ("runs", ("env", "variant", "run")),
}


def assert_same_rows(got, wanted, key):
    by_key = {tuple(row[column] for column in key): row for row in got}
    assert set(by_key) == {tuple(row[column] for column in key) for row in wanted}
    assert len(by_key) == len(got)
    for row in wanted:
        found = by_key[tuple(row[column] for column in key)]
        for column, value in row.items():
            if isinstance(value, float):
                assert found[column] == pytest.approx(value, rel=0, abs=1e-9), (row, column)
            else:
                assert found[column] == value, (row, column)


def test_the_logs_are_read_without_a_problem(store):
    assert store.problems == []


@pytest.mark.parametrize("table", TABLES)
def test_every_count_and_mean_is_the_authors(store, expected, table):
    relation, key = TABLES[table]
    assert_same_rows(store.rows(relation), expected[table], key)


def salience(expected, detector):
    return [row for row in expected["salience"] if row["detector"] == detector]


def test_salience_counts_are_the_authors(store, expected):
    assert_same_rows(store.rows("salience"), salience(expected, "word"), ("env", "variant", "detector"))


def test_salience_counts_are_the_authors_with_the_other_detector(unpacked, expected):
    with open_store([unpacked], detector="phrase") as store:
        assert_same_rows(store.rows("salience"), salience(expected, "phrase"), ("env", "variant", "detector"))


def test_a_single_run_folder_and_a_single_method_folder_can_be_given(unpacked):
    method = unpacked / "pong_three_traj"
    with open_store([method / "run_2"]) as store:
        [row] = store.rows("runs")
        assert (row["env"], row["variant"], row["run"], row["iterations"]) == ("pong", "threetraj", 2, 12)
    with open_store([method]) as store:
        assert [row["run"] for row in store.rows("runs")] == [1, 2]


def test_a_folder_given_twice_or_inside_another_one_counts_once(unpacked):
    method = unpacked / "pong_three_traj"
    with open_store([method, method / "run_2", method]) as store:
        assert store.problems == []
        assert [row["revisions"] for row in store.rows("summary")] == [24]


def test_the_evidence_is_what_the_prompts_showed(store, unpacked):
    """The released prompts state the three rollouts that the critic saw; the audit selects them anew."""
    import re

    line = re.compile(r"^(Worst|Median|Best) rollout \(rollout (\d+), reward=(\S+)\):$", re.MULTILINE)
    rows = [row for row in store.rows("evidence") if row["variant"] == "threetraj"]
    assert len(rows) == 72
    for row in rows:
        folder = unpacked / f"{row['env']}_three_traj" / f"run_{row['run']}" / f"episode_{row['iteration']}"
        prompt = (folder / "parameters_reasoning.txt").read_text()
        for label, rollout, value in line.findall(prompt):
            name = label.lower()
            assert (row[f"{name}_rollout"], row[name]) == (int(rollout), pytest.approx(float(value), abs=5e-5))

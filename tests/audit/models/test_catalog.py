"""Relations are as their files describe them, and invariants hold, over records of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.models import catalog
from audit.models.catalog import invariants, is_cached, models, public, schema
from audit.models.functions import called_in
from audit.store import open_store
from tests.audit.samples import REAL

TEXTS = Path(__file__).resolve().parents[3] / "data" / "gepa-planted"


@pytest.fixture(scope="module")
def store():
    with open_store([REAL, TEXTS], cache=False) as store:
        yield store


def test_every_relation_is_described_and_has_the_columns_and_the_key_of_its_description(store):
    assert set(schema()) == set(models())
    for name, described in schema().items():
        relation = store.relation(name)
        if name in public() or described["columns"]:
            assert relation.columns == list(described["columns"]), name
        if "unique" in described:
            key = [f'"{column}"' for column in described["unique"]]
            assert len(relation.select(*key).distinct()) == len(relation), name


def test_every_invariant_holds(store):
    assert len(store.rows("revisions")) > 100
    assert [name for name in invariants() if store.violations(name)] == []


def test_every_public_relation_says_what_identifies_a_row_and_what_each_column_means():
    assert [name for name in public() if "unique" not in schema()[name]] == []
    assert {
        (name, column) for name in public() for column, text in schema()[name]["columns"].items() if not text
    } == set()


def test_columns_are_described_beside_them_at_the_head_or_in_the_relation_that_they_are_read_from():
    columns = schema()["revisions"]["columns"]
    assert columns["delta"] == schema()["changes"]["columns"]["delta"] == "r1 - r0"
    assert "paired" not in columns, "a column that is left out"
    assert columns["strict"].endswith("or another item is asked about"), "a description in several lines"
    assert columns["condition"] == catalog.SHARED["condition"]
    assert schema()["text_edits"]["columns"]["components"] == "of both texts together", "a field of a struct"
    assert schema()["run_records"]["columns"]["iterations"] == "planned", "a description at the head"
    assert schema()["salience"]["columns"]["gap_high"] == "the other end"
    assert ("internal" in schema()["plans"], "internal" in schema()["changes"]) == (True, False)
    assert (is_cached("changes"), is_cached("episodes")) == (True, False)


def test_a_relation_that_calls_python_is_cached_so_that_it_is_computed_once():
    assert [name for name, text in models().items() if called_in(text) and not is_cached(name)] == []

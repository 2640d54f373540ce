"""The page of records whose candidates are texts."""

from __future__ import annotations

import re

import pytest

import audit
from figures.data import records_of
from figures.page.build import build
from figures.plots import edits, patterns
from tests.audit.samples import write_run
from tests.audit.texts import text_revision, text_run


@pytest.fixture
def records(tmp_path):
    rows = [text_revision([0, 1, 1], [1, 1, 1], iteration=0), text_revision([1, 0, 1], [0, 0, 1], iteration=1)]
    write_run(tmp_path / "data", rows, **text_run())
    with audit.open(tmp_path / "data", cache=False) as store:
        assert store.detector == "resolved"
        yield records_of(store)


@pytest.mark.usefixtures("sketched")
def test_it_has_what_is_known_of_texts_and_nothing_of_tasks(records, tmp_path):
    page = build(records, tmp_path / "out").read_text()
    for anchor in ("salience", "revisions", "agreement"):
        assert f'id="{anchor}"' in page
    for anchor in ("returns", "over-tasks", "paper"):
        assert f'id="{anchor}"' not in page
    assert "Texts are revised: a rollout and its return are an example and its score." in page
    captions = " ".join(re.findall("<figcaption>.*?</figcaption>", page))
    assert "the worst example scored less than the median one" in captions
    assert "rollout" not in captions
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"patterns-hand.png", "edits-hand.png", "salience.csv"} <= written
    assert not {name for name in written if name.startswith(("curves", "stability", "metrics", "paper-"))}


def test_size_is_the_edit_ratio(records):
    """'Add the numbers.' became 'Add the numbers with care.': ten characters inserted of 26."""
    [drawing] = edits.draw(records, "hand")
    [ax] = drawing.figure.axes
    marks = sorted(tuple(place) for each in ax.collections for place in each.get_offsets().tolist())
    assert marks == [pytest.approx((10 / 26, -1 / 3)), pytest.approx((10 / 26, 1 / 3))]
    assert ax.get_xlabel() == "edit ratio"


def test_scores_without_a_range_have_sizes_and_no_patterns(tmp_path):
    write_run(tmp_path, [text_revision([5, 9, 9], [9, 9, 9])], **{**text_run(), "score_range": None})
    with audit.open(tmp_path, cache=False) as store:
        found = records_of(store)
        assert patterns.draw(found, "hand") == []
        assert len(edits.draw(found, "hand")) == 1

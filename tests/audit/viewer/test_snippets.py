"""What a search is: words, phrases and what is not to be there; and the line of an answer where it is."""

from __future__ import annotations

import pytest

from audit.viewer.query import Query
from audit.viewer.snippets import AFTER, BEFORE, snippet, snippets
from audit.vocabulary.keys import RevisionKey
from tests.audit.samples import revision, write_run
from tests.audit.viewer.records import open_session

ANSWERS = (
    "The worst rollout fell early.",
    "A rollout fell; the worst case is near.",
    "Nothing in particular.",
    "WORST of all: 100% of it.",
)


@pytest.fixture
def session(tmp_path):
    key = {"condition": "one", "env": "cartpole", "variant": "threetraj", "run": 1}
    rows = [revision((9, 9, 9), (1, 1, 1), answer=text, iteration=place, **key) for place, text in enumerate(ANSWERS)]
    write_run(tmp_path / "run", rows)
    with open_session(tmp_path, cache=False) as opened:
        yield opened


@pytest.mark.parametrize(
    ("search", "wanted", "unwanted"),
    [
        ("worst rollout", ("worst", "rollout"), ()),
        ('"worst rollout" fell', ("worst rollout", "fell"), ()),
        ('worst -fell -"in all"', ("worst",), ("fell", "in all")),
        ("well-known - 5", ("well-known", "-", "5"), ()),
        ('"not closed', ("not closed",), ()),
        ('""', (), ()),
        ("", (), ()),
    ],
)
def test_terms(search, wanted, unwanted) -> None:
    assert Query(search=search).terms == (wanted, unwanted)


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("worst", [0, 1, 3]),
        ("worst rollout", [0, 1]),
        ('"worst rollout"', [0]),
        ("worst -fell", [3]),
        ("-worst", [2]),
        ("100%", [3]),
        ("' or 1=1 --", []),
        ('""', [0, 1, 2, 3]),
    ],
)
def test_revisions_found(session, search, found) -> None:
    rows = session.table.page(Query(search=search), ["iteration"])
    assert [place for (place,) in rows] == found


def test_a_page_has_a_snippet_for_each_row(session) -> None:
    lines = snippets(session, Query(search="fell", sort=("-iteration",)))["snippets"]
    assert [(each["before"], each["match"], each["after"]) for each in lines] == [
        ("A rollout ", "fell", "; the worst case is near."),
        ("The worst rollout ", "fell", " early."),
    ]
    assert snippets(session, Query(search="nowhere")) == {"snippets": []}


def test_a_snippet_is_cut_and_in_one_line() -> None:
    text = f"{'a' * 100}\n\nThe Worst\n{'b' * 200}"
    found = snippet(text, None, ("worst",))
    assert found == {
        "where": "",
        "before": f"…{'a' * (BEFORE - 6)} The ",
        "match": "Worst",
        "after": f" {'b' * (AFTER - 1)}…",
    }
    assert snippet("no", "in the thinking: worst\x1b[31m", ("worst",))["where"] == "thinking"
    assert "\x1b" not in snippet("no", "worst\x1b[31m", ("worst",))["after"]
    assert snippet(None, None, ("worst",)) is None
    assert snippet("short", None, ()) == {"where": "", "before": "short", "match": "", "after": ""}


def test_a_search_with_filters_keeps_both(session) -> None:
    query = Query(filters=(("iteration", ("0..1",)),), search="worst -case")
    assert session.table.page(query, RevisionKey._fields) == [("one", "cartpole", "threetraj", 1, 0)]

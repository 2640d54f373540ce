"""The tree of a run's candidates: where each is drawn, whose sentences it has, and the page in a browser."""

from __future__ import annotations

import pytest

import audit
from audit.output.errors import AuditError
from audit.recorders import Recorder
from audit.request import Request
from audit.viewer.lineage import blamed, lineage
from audit.viewer.session import Session
from audit.vocabulary.keys import RunKey
from tests.audit.reports.test_lineage import record
from tests.audit.samples import revision, write_run
from tests.audit.viewer.conftest import visit

KEY = RunKey("recorded", "tickets", "mine", 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("lineage")
    write_run(root / "params", [revision([1, 2, 3], [3, 2, 1])])
    return record(root)


@pytest.fixture(scope="module")
def session(folder):
    with Session(Request(paths=[folder])) as opened:
        yield opened


def test_a_child_is_below_its_parent_and_refused_ones_are_half_a_generation_below(session):
    found = lineage(session, KEY)
    at = {node["candidate"]: (node["x"], node["y"]) for node in found["nodes"] if node["candidate"]}
    # The seed has two children; the merge is below the first of its parents, and candidate 4 below the merge.
    assert at == {"0": (0.5, 0), "1": (0, 1), "2": (1, 1), "3": (0, 2), "4": (0, 3)}
    refused = [(node["x"], node["y"]) for node in found["nodes"] if node["candidate"] is None]
    assert refused == [(pytest.approx(0.5 + 1 / 3 - 0.5), 0.5), (pytest.approx(0.5 + 2 / 3 - 0.5), 0.5)]
    merge = next(node for node in found["nodes"] if node["role"] == "merge")
    assert [found["nodes"][place]["candidate"] for place in merge["above"]] == ["1", "2"]
    assert "cannot be told" in found["verdict"][0]


def test_sentences_of_a_candidate(session):
    rows = blamed(session, KEY, "4")["rows"]
    assert [row["candidate"] for row in rows] == ["0", "0", "4", "0", "2"]


def test_what_is_not_there_is_said(session):
    with pytest.raises(AuditError, match="no candidate '9'"):
        blamed(session, KEY, "9")
    with pytest.raises(AuditError, match="candidates are not texts"):
        lineage(session, RunKey("hand", "cartpole", "threetraj", 1))


def test_a_long_chain_is_laid_out(tmp_path):
    with Recorder(tmp_path, env="chain", variant="mine", selection_rule="pool") as recorder:
        recorder.joined(0, "0")
        for number in range(1, 3000):
            recorder.joined(number, str(number), parents=[number - 1])
        recorder.shown("0", [0.0], prompt="…")
        recorder.answered("Because.", "1")
        recorder.scored([1.0])
    with Session(Request(paths=[tmp_path])) as opened:
        nodes = lineage(opened, RunKey("recorded", "chain", "mine", 1))["nodes"]
    assert max(node["y"] for node in nodes) == 2999
    assert {node["x"] for node in nodes if node["candidate"]} == {0.0}


@pytest.mark.slow
def test_the_page_in_a_browser(page, folder):
    with audit.view(folder) as served:
        address = "/".join(map(str, KEY))
        visit(page, served, f"#/run/{address}")
        page.get_by_role("link", name="the tree of its candidates").click()
        page.get_by_role("button", name="Best: 4").click()
        page.get_by_text("Cite the page number.").wait_for()
        assert "validation" in page.inner_text("section h2")
        assert "reworded" in page.inner_text("section table")
        page.get_by_role("link", name="Read the revision").click()
        page.wait_for_function("() => document.querySelector('main').dataset.page === 'revision'")
        assert "tickets" in page.inner_text("#main")

"""The candidates of a run, whose sentences each has, and the page in a browser."""

from __future__ import annotations

import pytest

import audit
from audit.options import Options
from audit.output.errors import AuditError
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
    with Session(Options(paths=[folder])) as opened:
        yield opened


def test_candidates_and_refused_proposals(session):
    found = lineage(session, KEY)
    assert [node["candidate"] for node in found["nodes"] if node["candidate"]] == ["0", "1", "2", "3", "4"]
    assert [node["role"] for node in found["nodes"]].count("merge") == 1
    assert "cannot be told" in found["verdict"][0]


def test_sentences_of_a_candidate(session):
    rows = blamed(session, KEY, "4")["rows"]
    assert [row["candidate"] for row in rows] == ["0", "0", "4", "0", "2"]


def test_what_is_not_there_is_said(session):
    with pytest.raises(AuditError, match="no candidate '9'"):
        blamed(session, KEY, "9")
    with pytest.raises(AuditError, match="candidates are not texts"):
        lineage(session, RunKey("hand", "cartpole", "threetraj", 1))


@pytest.mark.slow
def test_the_page_in_a_browser(page, folder):
    from axe_playwright_python.sync_playwright import Axe

    with audit.view(folder) as served:
        address = "/".join(map(str, KEY))
        visit(page, served, f"#/run/{address}")
        page.get_by_role("link", name="Its candidates").click()
        page.get_by_role("link", name="Best candidate: 4").click()
        page.get_by_text("Cite the page number.").wait_for()
        assert "reworded" in page.inner_text("section table")
        assert Axe().run(page).response["violations"] == []
        page.locator("section tbody a[href^='#/revision/']").first.click()
        page.wait_for_function("() => document.querySelector('main').dataset.page === 'revision'")
        assert "tickets" in page.inner_text("#main")

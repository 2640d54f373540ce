"""Following, searching and comparing in a real browser."""

from __future__ import annotations

import shutil

import pytest

import audit
from tests.audit.viewer.conftest import visit
from tests.audit.viewer.records import write_records

pytestmark = pytest.mark.slow


def test_what_is_added_is_said_and_shown_on_demand(page, tmp_path) -> None:
    whole = write_records(tmp_path / "whole", runs=1) / "one-cartpole-threetraj-1"
    target = tmp_path / "runs" / "one"
    target.mkdir(parents=True)
    shutil.copy(whole / "run.json", target)
    lines = (whole / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (target / "episodes.jsonl").write_bytes(b"".join(lines[:3]))
    with audit.view(tmp_path / "runs", follow=True, cache=False) as view:
        visit(page, view, "#/revisions")
        box = page.get_by_role("complementary", name="New revisions")
        box.get_by_text("Following: nothing new").wait_for()
        caption = page.locator("main caption")
        assert caption.inner_text() == "3 revisions"
        with (target / "episodes.jsonl").open("ab") as stream:
            stream.write(b"".join(lines[3:]))
        box.get_by_text("5 new revisions").wait_for()
        assert caption.inner_text() == "3 revisions", "nothing moves before it is asked for"
        box.get_by_role("button", name="Show them").click()
        page.locator("main caption", has_text="8 revisions").wait_for()
        box.get_by_text("Following: nothing new").wait_for()


def test_a_search_shows_where_it_found_something(page, served) -> None:
    visit(page, served, "#/revisions")
    page.locator("#search").fill('worst "rollout" -nowhere direction:regression')
    page.locator("#search").press("Enter")
    page.locator("td.answer mark").first.wait_for()
    assert "direction=regression" in page.url
    assert page.locator("td.answer mark").first.inner_text().lower() == "worst"
    visit(page, served, "#/revisions?page=99")
    page.get_by_text("There is no page 99").wait_for()
    page.get_by_role("link", name="To the last page").click()
    page.locator("main table").wait_for()


def test_two_revisions_side_by_side(page, served) -> None:
    visit(page, served, "#/revisions?variant=threetraj")
    page.locator("tbody a").first.click()
    page.get_by_role("button", name="keep to compare").click()
    page.get_by_role("button", name="kept: now open the other one").wait_for()
    page.keyboard.press("j")
    page.get_by_role("link", name="beside ").click()
    page.get_by_role("heading", name="Two revisions side by side").wait_for()
    page.locator("details", has_text="Answer").first.wait_for()
    assert page.locator("main ins").count()
    assert page.locator("main del").count()

"""Marks and chosen revisions in a real browser: by keys, with Shift, by addresses, and what others wrote meanwhile."""

from __future__ import annotations

import re

import pytest

import audit
from audit.marks.marks import NAME, Marks
from audit.vocabulary.keys import RevisionKey
from tests.audit.viewer.conftest import visit
from tests.audit.viewer.records import write_records

pytestmark = pytest.mark.slow

KEY = RevisionKey("one", "cartpole", "threetraj", 1, 2)
ADDRESS = "#/revision/one/cartpole/threetraj/1/2"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def folder(tmp_path):
    return write_records(tmp_path / "runs")


@pytest.fixture
def view(folder):
    with audit.view(folder, author="ann") as opened:
        yield opened


def chosen(page) -> str:
    return page.inner_text(".choice strong")


def total(page) -> int:
    return int(re.sub(r"\D", "", page.inner_text("#main caption")))


def test_keys_mark_a_revision(page, view, folder) -> None:
    visit(page, view, ADDRESS)
    page.keyboard.press("s")
    page.wait_for_selector("#star[aria-pressed='true']")
    page.keyboard.press("t")
    page.keyboard.type(HOSTILE)
    page.keyboard.press("Enter")
    page.wait_for_selector(".marking .chips button")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("n")
    page.keyboard.type("Why?")
    with page.expect_response("**/api/marks"):
        page.keyboard.press("Tab")
    mark = Marks(folder / NAME).all()[KEY]
    assert (mark.star, mark.tags, mark.note) == (True, {HOSTILE}, "Why?")
    visit(page, view, ADDRESS)
    assert page.input_value("#note") == "Why?"
    assert page.locator(".marking img").count() == 0
    visit(page, view, "#/revisions")
    page.get_by_role("link", name=HOSTILE).click()
    page.wait_for_function("() => document.querySelector('#main caption').textContent.startsWith('1 ')")
    assert page.locator("td.marks .tag").inner_text() == HOSTILE
    assert page.inner_text("td.marks").startswith("★")
    visit(page, view, ADDRESS)
    page.click(".marking .chips button")
    page.wait_for_function("() => !document.querySelector('.marking .chips button')")
    assert Marks(folder / NAME).all()[KEY].tags == set()


def test_what_another_marks_is_there_when_the_page_is_opened_again(page, view, folder) -> None:
    visit(page, view, ADDRESS)
    assert page.get_attribute("#star", "aria-pressed") == "false"
    Marks(folder / NAME, "ben").add(KEY, star=True)
    page.keyboard.press("j")
    page.wait_for_function("() => location.hash.includes('threetraj/1/3')")
    page.wait_for_selector("#main:not([aria-busy])")
    page.keyboard.press("k")
    page.wait_for_selector("#star[aria-pressed='true']")


def test_a_range_is_chosen_and_stays_over_pages(page, view) -> None:
    visit(page, view, "#/revisions")
    assert not page.is_visible(".choice")
    boxes = page.locator("input.choose")
    boxes.nth(2).click()
    assert page.url.endswith("#/revisions")
    boxes.nth(6).click(modifiers=["Shift"])
    assert chosen(page) == "5 chosen"
    boxes.nth(5).click()
    boxes.nth(4).click(modifiers=["Shift"])
    assert chosen(page) == "3 chosen"
    page.get_by_role("button", name="Next", exact=True).first.click()
    page.wait_for_function("() => location.hash.includes('page=2')")
    page.wait_for_selector("#main:not([aria-busy]) td")
    assert chosen(page) == "3 chosen"
    page.locator("tbody tr").nth(1).locator("a").focus()
    page.keyboard.press("x")
    assert chosen(page) == "4 chosen"
    page.keyboard.press("x")
    assert chosen(page) == "3 chosen"
    page.get_by_role("button", name="clear").click()
    assert not page.is_visible(".choice")


def test_chosen_revisions_are_walked_along_addressed_exported_and_tagged(page, view, folder) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, view, "#/revisions?sort=-iteration")
    for place in (0, 3, 8):
        page.locator("input.choose").nth(place).click()
    hrefs = page.eval_on_selector_all(
        "tbody tr:has(input.choose:checked) a", "all => all.map(each => each.hash.split('?')[0])"
    )
    with page.expect_download() as download:
        page.get_by_role("link", name="export CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 4
    page.get_by_role("button", name="copy address").click()
    page.get_by_text("copied").wait_for()
    address = page.evaluate("navigator.clipboard.readText()")
    page.fill("#tag-all", "later")
    page.press("#tag-all", "Enter")
    page.wait_for_selector("td.marks .tag")
    assert page.locator("td.marks .tag").count() == 3
    assert len(Marks(folder / NAME).chosen(tags=["later"])) == 3
    page.get_by_role("button", name="open in turn").click()
    walked = []
    for place in (1, 2, 3):
        page.get_by_text(f"{place} of 3", exact=True).wait_for()
        walked.append(page.evaluate("location.hash.split('?')[0]"))
        page.keyboard.press("j")
    assert walked == hrefs
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#main caption")
    assert (total(page), chosen(page), page.locator("input.choose:checked").count()) == (3, "3 chosen", 3)
    page.get_by_role("button", name="clear").click()
    page.wait_for_function("() => document.querySelector('#main caption').textContent.startsWith('192')")
    assert not page.is_visible(".choice")


def test_an_exported_folder_and_a_place_that_cannot_be_written(page, folder, tmp_path, monkeypatch) -> None:
    Marks(folder / NAME).add(KEY, tag="late")
    monkeypatch.setattr(Marks, "why_not", lambda marks: "no room")
    with audit.view(folder) as view:
        visit(page, view, ADDRESS)
        assert page.inner_text(".marking").split("\n")[-1] == "Stars, tags and notes cannot be changed: no room"
        assert page.locator("#star").count() == 0
    exported = audit.export_view(folder, tmp_path / "view").path / "index.html"
    for address in ("#/revisions", ADDRESS):
        page.goto("about:blank")
        page.goto(f"{exported.as_uri()}{address}")
        page.wait_for_selector("#main:not([aria-busy]) h1")
        assert page.locator("input.choose, .marking, td.marks").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(page, view, folder, width) -> None:
    Marks(folder / NAME).add(KEY, tag="a" * 64)
    page.set_viewport_size({"width": width, "height": 900})
    for address in ("#/revisions", ADDRESS):
        visit(page, view, address)
        if "revisions" in address:
            page.locator("input.choose").first.click()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0

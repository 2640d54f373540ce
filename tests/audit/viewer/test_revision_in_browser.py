"""The page of a revision: colours that belong together, ways along filters, long texts, what is lacking."""

from __future__ import annotations

import urllib.parse

import pytest

import audit
from tests.audit.samples import THRESHOLDS, episode, revision, write_run
from tests.audit.viewer.conftest import visit

pytestmark = pytest.mark.slow

THREE = {"first": "search", "second": "critic", "evidence": "three"}
LABELS = ("worst", "median", "best")
EVIDENCE = {
    "kind": "three",
    "shown": [
        {"label": label, "rollout": place, "return": value, "length": 10}
        for place, (label, value) in enumerate(zip(LABELS, (1.0, 5.0, 9.0), strict=True))
    ],
    "statistics": None,
}
SHORT = "The worst rollout fell. The best rollout did not."
LONG = f"The worst rollout fell. {'a' * 30_000} The best rollout did not."
BARE = {"returns": None, "mean_return": 1.0, "source": "critic"}


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    root = tmp_path_factory.mktemp("records")
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=answer, iteration=number, evidence=EVIDENCE)
        for number, answer in enumerate((SHORT, LONG))
    ]
    better = revision([1, 5, 9], [9, 9, 9], after=(1, 2, 4), iteration=2, evidence=EVIDENCE)
    write_run(root / "hand", [*rows, better], thresholds=THRESHOLDS, method=THREE)
    write_run(
        root / "bare", [episode({**BARE, "source": "search"}, BARE, condition="bare")], options={"imported_from": ["x"]}
    )
    with audit.view(root) as served:
        yield served


def address(iteration, condition="hand", **query):
    return f"#/revision/{condition}/cartpole/threetraj/1/{iteration}?{urllib.parse.urlencode(query)}"


def lit(page):
    return page.eval_on_selector_all(".lit", "all => all.map(each => each.textContent)")


def test_a_mention_and_what_it_means_belong_together(page, view) -> None:
    visit(page, view, address(0))
    colours = page.eval_on_selector_all(
        "mark, ol.shown li",
        "all => Object.fromEntries(all.map(e => [e.textContent, getComputedStyle(e).borderBottomColor]))",
    )
    marks = page.eval_on_selector_all("mark", "all => all.map(each => [each.textContent, each.className])")
    assert marks == [["worst rollout", "worst"], ["best rollout", "best"]]
    assert colours["worst rollout"] != colours["best rollout"]
    page.hover("mark.worst")
    assert len(lit(page)) == 3
    assert "worst rollout" in lit(page)
    page.mouse.move(0, 0)
    assert lit(page) == []
    page.focus("ol.mentions li:nth-child(2) button")
    assert "best rollout" in lit(page)
    assert page.get_attribute("mark.worst", "title") == "worst, #0; found by its role or heading"


def test_a_long_answer_is_continued_on_demand(page, view) -> None:
    visit(page, view, address(1))
    assert page.locator("mark").count() == 1
    assert len(page.text_content(".answered .longtext")) == 12_000
    page.click("ol.mentions li:nth-child(2) button")
    assert page.text_content(".answered .longtext") == LONG
    assert page.locator("mark").count() == 2
    assert not page.is_visible("button.more")


def test_previous_and_next_walk_along_the_address(page, view) -> None:
    visit(page, view, address(0))
    assert "2 of 4" in page.inner_text(".walk")
    visit(page, view, address(2, direction="regression", q="fell"))
    assert "not one of 2" in page.inner_text(".walk")
    page.keyboard.press("j")
    page.wait_for_function("() => location.hash.includes('/1/0?')")


def test_what_is_not_recorded_is_stated_and_every_return_is_a_dot(page, view) -> None:
    visit(page, view, address(0, "bare"))
    text = page.inner_text("main")
    for missing in (
        "Parameters are not recorded.",
        "No answer is recorded.",
        "Single returns are not recorded, only their means.",
        "The exact prompt is not recorded",
        "No noise p",
    ):
        assert missing in text
    assert page.locator(".longtext").count() == 0
    visit(page, view, address(0))
    assert page.locator("svg.dots circle").count() == 0
    assert page.locator("svg.dots path.dot").count() == 6  # both candidates had the same seeds
    assert page.locator("svg.parameters g").count() == 1

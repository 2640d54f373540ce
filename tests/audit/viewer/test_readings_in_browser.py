"""What a reader could take for something else: totals, differences far into a text, signs, rounding, lost notes."""

from __future__ import annotations

import pytest

import audit
from tests.audit.samples import revision, write_run
from tests.audit.viewer.conftest import visit

pytestmark = pytest.mark.slow

KEY = {"condition": "one", "env": "cartpole", "variant": "threetraj", "run": 1}
RUN = "one/cartpole/threetraj/1"


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    """Two long answers that differ in the middle, and parameters that differ in a sign."""
    folder = tmp_path_factory.mktemp("readings") / "run"
    filler = " ".join(f"word{number}" for number in range(3_000))
    answers = (f"{filler} gains {filler}", f"{filler} losses {filler}")
    rows = [
        revision((9, 9, 9), (1, 1, 1), answer=answer, iteration=place, after=(1, sign * 3.5, 2), **KEY)
        for place, (answer, sign) in enumerate(zip(answers, (1, -1), strict=True))
    ]
    write_run(folder, rows)
    with audit.view(folder, cache=False) as opened:
        yield opened


def test_totals_are_of_what_is_chosen(page, served) -> None:
    def totals() -> dict[str, str]:
        return dict(
            page.eval_on_selector_all(
                "dl.facts > div", "all => all.map((e) => [...e.children].map((c) => c.textContent))"
            )
        )

    visit(page, served, "#/overview")
    every = totals()
    visit(page, served, "#/overview?env=nim")
    part = totals()
    assert (every["tasks"], part["tasks"]) == ("2", "1")
    assert 0 < int(part["revisions"]) < int(every["revisions"])
    page.click("dl.facts a:text-is('" + part["revisions"] + "')")
    page.wait_for_selector("#main[data-page='revisions']:not([aria-busy])")
    assert page.inner_text("table caption") == f"{part['revisions']} revisions"


def test_a_difference_far_into_a_text_is_seen_and_a_sign_is_not_struck_through(page, view) -> None:
    visit(page, view, f"#/beside/{RUN}/0/{RUN}/1")
    answer = page.locator("details", has=page.locator("summary", has_text="Answer"))
    assert answer.locator("del").inner_text().strip() == "gains"
    assert answer.locator("ins").inner_text().strip() == "losses"
    assert answer.locator("text=characters that both have").count() == 4  # before and after it, in both columns
    assert page.evaluate("getComputedStyle(document.querySelector('del')).textDecorationLine") == "none"


def test_a_number_is_rounded_alike_everywhere(page, view) -> None:
    visit(page, view, "#/overview")
    numbers = {
        157.25: "157.2",  # halves to even, as Python rounds them
        -157.75: "−157.8",
        0.28125: "0.2812",
        1234.56: "1,234.6",
        1.23456e-7: "1.235e−7",
        0.0: "0",
    }
    assert {value: page.evaluate("(value) => number(value)", value) for value in numbers} == numbers


def test_marks_are_filters_in_the_search(page, view) -> None:
    visit(page, view, f"#/revision/{RUN}/0")
    page.fill("#tag", "odd one")
    page.press("#tag", "Enter")
    page.wait_for_selector("text=odd one ×")
    visit(page, view, "#/revisions")
    page.fill("#search", 'tag:"odd one" gains')
    page.press("#search", "Enter")
    page.wait_for_function("() => location.hash.includes('tag=odd+one') && location.hash.includes('q=gains')")
    page.wait_for_selector("caption:text-is('1 revision')")


def test_a_note_that_is_not_saved_is_asked_about(page, view) -> None:
    visit(page, view, f"#/revision/{RUN}/1")
    page.keyboard.press("n")
    page.keyboard.type("half a thought")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]

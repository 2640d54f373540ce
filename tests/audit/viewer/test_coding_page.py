"""The page for coding in a browser: by keys alone, into the file at once, blind, and whatever an answer holds."""

from __future__ import annotations

import pytest

import audit
from audit.validation.coding.labels import read_labels
from tests.audit.samples import revision, write_run

pytestmark = pytest.mark.slow

expect = pytest.importorskip("playwright.sync_api").expect

HOSTILE = "<script>hacked=1</script><img src=x onerror='hacked=1'><style>*{display:none}</style>\x1b[31m\u202e"
LONG = "A" * 10**6
FIRST = {
    "mentions_worst": "1",
    "mentions_median": "0",
    "mentions_best": "0",
    "discounts_worst": "1",
    "driver": "shared",
}


def labelled(folder, *answers):
    """Records of some answers, and a sheet of theirs for two coders."""
    rows = [revision([1, 5, 9], [2, 2, 2], after=(1, 2, 4), answer=text, iteration=i) for i, text in enumerate(answers)]
    write_run(folder / "records" / "hand", rows)
    path = folder / "labels.csv"
    with path.open("w", newline="") as file:
        audit.sample(folder / "records", coders=("A", "B")).write(file)
    return folder / "records", path


@pytest.fixture
def labels(tmp_path, page):
    """The sheet that the page shows, of coder A."""
    records, path = labelled(tmp_path, "The worst run fell.", "The best run leans early.")
    with audit.view(records, labels=[path], coder="A") as view:
        page.goto(view.address)
        at(page, 1)
        yield path


def at(page, place):
    expect(page.locator("h1")).to_have_text(f"Answer {place} of 2")


def saved(page, done):
    status = page.locator(".coding-status")
    expect(status).to_contain_text(f": {done} of 2 coded")
    expect(status).not_to_contain_text("saving")


def pressed(page, count):
    expect(page.locator("[aria-pressed=true]")).to_have_count(count)
    expect(page.locator(".coding-status")).not_to_contain_text("saving")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def codes(path, coder="A"):
    return [row.codes for row in read_labels(path).rows if row.coder == coder]


def test_a_sheet_is_coded_by_keys_and_taken_up_where_it_was_left(page, labels) -> None:
    press(page, *"10012")
    saved(page, 1)
    assert codes(labels) == [FIRST, {}]
    expect(page.locator("#nav")).to_be_hidden()
    page.reload()
    at(page, 2)
    press(page, "k")
    at(page, 1)
    press(page, "r", "6", "u", "j", *"00007")
    saved(page, 2)
    assert codes(labels) == [FIRST, {**dict.fromkeys(FIRST, "0"), "driver": "none"}]
    assert codes(labels, "B") == [{}, {}]
    expect(page.locator(".coding-finished")).to_contain_text("All answers are coded")
    expect(page.locator("#nav")).to_be_visible()


def test_a_note_is_written_when_it_is_left_and_backspace_takes_back_the_last_code(page, labels) -> None:
    press(page, "n", *"jk1u?", "Escape")
    saved(page, 1)
    assert [row.note for row in read_labels(labels).rows] == ["jk1u?", "", "", ""]
    assert codes(labels) == [{}, {}]
    press(page, "u")
    saved(page, 0)
    assert not read_labels(labels).rows[0].note
    press(page, "1", "0", "Backspace")
    pressed(page, 1)
    press(page, "1")
    pressed(page, 2)
    assert codes(labels)[0] == {"mentions_worst": "1", "mentions_median": "1"}


def test_a_file_that_another_program_wrote_is_read_again(browser, tmp_path) -> None:
    records, labels = labelled(tmp_path, "The worst run fell.", "The best run leans early.")
    # A context of its own, since the browser reports the refusal in the console.
    with audit.view(records, labels=[labels], coder="A") as view, browser.new_context() as context:
        page = context.new_page()
        page.goto(view.address)
        at(page, 1)
        theirs = labels.read_text().replace('"A","","","","",""', '"A","","","","","best"', 1)
        labels.write_text(theirs)
        press(page, "1")
        expect(page.locator(".coding-alert")).to_contain_text("changed on disk")
        assert labels.read_text() == theirs
        press(page, "l")
        expect(page.locator(".coding-alert")).to_be_empty()
        press(page, "1")
        pressed(page, 2)
        assert codes(labels)[0] == {"mentions_worst": "1", "driver": "best"}


def test_hostile_answers_are_shown_and_do_nothing(page, tmp_path) -> None:
    records, labels = labelled(tmp_path, HOSTILE, HOSTILE + LONG)
    with audit.view(records, labels=[labels], coder="A") as view:
        page.goto(view.address)
        for place in (1, 2):
            at(page, place)
            assert "<script>" in page.locator(".coding-answer").text_content()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            press(page, "j")
    assert page.evaluate("typeof hacked") == "undefined"
    assert page.locator("main :is(script, img, style)").count() == 0

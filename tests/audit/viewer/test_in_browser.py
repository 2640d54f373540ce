"""The pages in a real browser: they open without a word on the console, links lead to what they count, keys work."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

import audit
from tests.audit.viewer.conftest import visit

pytestmark = pytest.mark.slow


def addresses(served):
    """Every page, as its address."""
    with audit.open(served._session.options.paths) as store:
        row = store.rows("revisions")[3]
    key = "/".join(str(row[name]) for name in ("condition", "env", "variant", "run", "iteration"))
    return {
        "overview": "#/overview",
        "revisions": "#/revisions?direction=regression&sort=delta",
        "empty": "#/revisions?delta=1e9..",
        "revision": f"#/revision/{key}",
        "runs": "#/runs",
        "run": f"#/run/{key.rpartition('/')[0]}",
        "compare": "#/compare?by=variant",
        "beside": f"#/beside/{key}/{key}",
        "search": "#/revisions?q=worst",
        "unknown": "#/nothing/there",
        "missing": "#/revision/a/b/c/1/2",
    }


def test_what_is_not_there_is_said_in_words(browser, served) -> None:
    # A console of its own: the browser reports the answer 404 there.
    with browser.new_context() as context:
        page = context.new_page()
        for name in ("unknown", "missing"):
            visit(page, served, addresses(served)[name])
            assert page.inner_text("h1") == "Nothing to show"
            assert page.inner_text("p.error")


def total(page) -> int:
    """The number of revisions that the table states."""
    found = page.query_selector("#main caption")
    return 0 if found is None else int(re.sub(r"\D", "", found.inner_text()))


COUNTED = "async (href) => (await Data.get('revisions', Query.selection(Query.read(href).query))).total"


def test_every_count_leads_to_as_many_revisions(page, served) -> None:
    visit(page, served, "#/overview")
    links = page.eval_on_selector_all(
        "main td a[href^='#/revisions']", "all => all.map(each => [each.getAttribute('href'), each.textContent])"
    )
    # A cell is a count, a count with its share in brackets, or a share alone.
    found = [(href, re.fullmatch(r"([\d,]+)(?: \([\d.]+%(?: of [\d,]+)?\))?", text)) for href, text in links]
    counts = {href: int(text[1].replace(",", "")) for href, text in found if text}
    assert len(counts) > 150
    assert all(text.endswith("%") for (_, text), (_, count) in zip(links, found, strict=True) if count is None)
    for href, count in counts.items():
        assert page.evaluate(COUNTED, href) == count, href
    for href in list(counts)[::25]:
        visit(page, served, href)
        assert total(page) == counts[href]


def test_marks_of_charts_lead_to_revisions_too(page, served) -> None:
    visit(page, served, "#/overview")
    # What is far from the part that is seen is drawn when the page is printed.
    page.wait_for_function(
        """() => dispatchEvent(new Event('beforeprint'))
                 && [...document.querySelectorAll('figure.chart')].every(each => each.querySelector('svg'))"""
    )
    # A colour that Plot does not know as one is the name of a column to it, and its marks are not drawn.
    undrawn = page.eval_on_selector_all(
        "figure.chart",
        "all => all.filter(e => !e.querySelector('svg :is(circle, rect, g[stroke-width] path)')).map(e => e.id)",
    )
    assert undrawn == []
    marks = page.eval_on_selector_all(
        "main svg a",
        """all => all.map(each => [each.getAttribute('href') || each.getAttribute('xlink:href'),
                                   each.getAttribute('aria-label')])""",
    )
    # Names of marks: "CartPole, ThreeTraj: 71 of 125 regressions …".
    named = {href: re.search(r"(?:^|: )([\d,]+) ", name) for href, name in marks if href.startswith("#/revisions")}
    assert len(named) > 5
    for href, count in named.items():
        assert count, href
        assert page.evaluate(COUNTED, href) == int(count[1].replace(",", "")), href


def test_filters_change_the_address_and_the_address_the_filters(page, served) -> None:
    visit(page, served, "#/revisions")
    assert total(page) == 144
    page.get_by_label("Nim").first.check()
    page.wait_for_function("() => document.querySelector('#main caption')?.textContent.startsWith('72')")
    assert "env=nim" in page.url
    page.go_back()
    page.wait_for_function("() => document.querySelector('#main caption')?.textContent.startsWith('144')")
    visit(page, served, "#/revisions?env=nim&direction=regression")
    assert page.get_by_label("Nim").first.is_checked()
    shown = total(page)
    page.click(".chips button:first-child")
    page.wait_for_function(f"() => !document.querySelector('#main caption').textContent.startsWith('{shown} ')")


def test_a_heading_sorts_and_numbers_are_rounded_and_placed_alike(page, served) -> None:
    visit(page, served, "#/revisions?columns=env,iteration,r0,delta,p_no_change")
    page.click("#sort-delta")
    page.wait_for_selector("th[aria-sort='descending']")
    marks = page.eval_on_selector_all("th button.sort", "all => all.map(e => getComputedStyle(e, '::after').content)")
    assert sorted(set(marks)) == ['" ↕" / ""', '" ▼" / ""']
    cells = page.eval_on_selector_all(
        "tbody tr", "all => all.map(row => [...row.children].map(cell => cell.textContent))"
    )
    values = [float(row[3].strip("\u2007\u2008").replace("−", "-").replace(",", "")) for row in cells]
    assert values == sorted(values, reverse=True)
    texts = [text for row in cells for text in row[2:4]]
    assert len({len(text) - text.find(".") for text in texts if "." in text}) == 1
    assert all("-" not in text for text in texts)
    assert {row[4] for row in cells} - {""}
    assert all(re.fullmatch(r"< 0\.001|\d\.\d{3}", row[4]) for row in cells if row[4])


def test_search_in_answers_and_what_is_not_known(page, served, grid) -> None:
    visit(page, served, "#/revisions")
    page.fill("#search", "worst rollout")
    page.press("#search", "Enter")
    page.wait_for_selector(".chips")
    with audit.open(grid) as store:
        query = "select count(*) from episodes where contains(lower(revised.answer), 'worst rollout')"
        [(wanted,)] = store.sql(query).fetchall()
    assert total(page) == wanted > 0
    visit(page, served, "#/revisions?strict=")
    names = page.eval_on_selector_all("[id^='facet-strict-']", "all => all.map(each => each.parentNode.innerText)")
    assert [re.sub(r"\s+\d+", "", each) for each in names] == ["not known", "no", "yes"][: len(names)]
    assert page.inner_text(".chips").startswith("strict: not known")


def test_what_was_searched_for_is_marked_on_the_revision(page, served) -> None:
    visit(page, served, "#/revisions?q=PARAMS")
    page.click("tbody a")
    page.wait_for_selector("#main[data-page='revision']:not([aria-busy])")
    marked = "[...CSS.highlights.get('found')].map((r) => r.startContainer.data.slice(r.startOffset, r.endOffset))"
    assert set(page.evaluate(marked)) == {"params"}


def test_keys_walk_along_a_filter(page, served) -> None:
    visit(page, served, "#/revisions?strict=false&sort=-delta")
    page.click("tbody tr:nth-child(1) a")
    page.wait_for_selector("[data-page='revision']")
    first = page.url
    page.keyboard.press("j")
    page.wait_for_function("first => location.href !== first", arg=first)
    page.wait_for_selector("#main:not([aria-busy])")
    second = page.url
    assert "strict=false" in second
    page.keyboard.press("k")
    page.wait_for_function("second => location.href !== second", arg=second)
    assert page.url == first


def test_the_first_row_is_three_keys_away_and_status_texts_are_true(page, served) -> None:
    for address in ("overview", "revisions", "compare", "runs"):
        visit(page, served, f"#/{address}")
        page.reload()
        page.wait_for_selector("#main:not([aria-busy]) tbody a")
        for key in ("Tab", "Tab", "Enter"):
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('tbody') !== null"), address
    visit(page, served, "#/revisions")
    assert "revisions" in page.text_content("#announce")
    visit(page, served, "#/runs")
    assert page.text_content("#announce") == "Runs"
    visit(page, served, "#/revisions?pattern=none-such")
    page.click("text=show all revisions")
    page.wait_for_selector("#main:not([aria-busy]) tbody a")


def test_a_page_with_nothing_says_so_and_leads_on(browser, served) -> None:
    with browser.new_context() as context:  # whose console tells of what is not found
        page = context.new_page()
        visit(page, served, "#/run/no/such/run/1")
        assert page.text_content("#announce") == "Nothing to show: no run no such run 1"
        page.click("main p a:text('Revisions')")
        page.wait_for_selector("#main:not([aria-busy]) tbody a")
        visit(page, served, "#/revision/no")
        assert page.text_content("main .error") == "nothing is at this address"


def test_keyboard_alone_reaches_a_revision(page, served) -> None:
    visit(page, served, "#/overview")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(200):
        page.keyboard.press("Tab")
        if "#/revisions?" in (page.evaluate("document.activeElement.getAttribute('href')") or ""):
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-page='revisions']")


@pytest.mark.parametrize("where", ["served", "exported"])
def test_the_overview_begins_with_sentences_that_have_intervals(page, served, grid, tmp_path, where) -> None:
    view = served
    if where == "exported":
        view = SimpleNamespace(address=audit.export_view(grid, tmp_path / "view").path.joinpath("index.html").as_uri())
    visit(page, view, "#/overview")
    sentences = page.locator("#answers p").all_inner_texts()
    assert sentences[: len(audit.salience(grid).answers)] == audit.salience(grid).answers[:5]
    top = page.locator("#answers").bounding_box()["y"]
    assert top < page.locator("figure.chart").first.bounding_box()["y"]
    for width in (1440, 800):
        page.set_viewport_size({"width": width, "height": 900})
        visit(page, view, "#/overview")
        page.wait_for_selector("figure#chart-citing svg")
        ends = page.evaluate(
            "[...document.querySelectorAll('figure.chart')].filter(each => each.querySelector('.panel svg'))"
            ".map(each => Math.max(...[...each.querySelectorAll('.panel svg')]"
            ".map(svg => svg.getBoundingClientRect().right)))"
        )
        assert len(ends) >= 2
        assert min(ends) > width - 60, "a chart is narrower than the page"
    visit(page, view, "#/overview?env=nim")
    assert page.locator("#answers p").all_inner_texts() == audit.salience(grid, env=["nim"]).answers[:5]


def test_a_click_on_a_row_opens_it(page, served) -> None:
    for hash_, opened in (("#/revisions?env=nim", "revision"), ("#/runs", "run")):
        visit(page, served, hash_)
        href = page.get_attribute("tbody tr:nth-child(2) a", "href")
        page.click("tbody tr:nth-child(2) td:nth-child(2)")
        page.wait_for_selector(f"[data-page='{opened}']")
        assert page.url.endswith(href)

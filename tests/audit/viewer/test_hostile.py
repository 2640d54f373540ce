"""What answers, names and paths hold is text on every page: a browser that opens them runs nothing of it."""

from __future__ import annotations

import urllib.parse
from types import SimpleNamespace

import pytest

import audit
from tests.audit.samples import THRESHOLDS, revision, write_run
from tests.audit.viewer.conftest import visit

pytestmark = pytest.mark.slow

THREE = {"first": "search", "second": "critic", "evidence": "three"}
RUNS = "document.documentElement.dataset.hacked=1"
ANSWERS = [
    f"<script>{RUNS}</script> the worst rollout fell",
    f'<img src=x onerror="{RUNS}"> worst rollout',
    f"</div></main><svg onload={RUNS}><style>body{{display:none}}</style> worst",
    f"javascript:{RUNS} [worst](javascript:{RUNS}) <a href='javascript:{RUNS}'>worst rollout</a>",
    "\u202eworst rollout\u2066 fell \u200bthe \x1b[31mworst\x07 rollout \ud7ff\ufeff",
    "the worst rollout " + "x" * 1_000_000,
    "<mark class=worst>worst rollout</mark><h1>Overview</h1><a href='#/revisions'>144 revisions</a>",
    "${" + RUNS + "} {{constructor.constructor('" + RUNS + "')()}} `worst rollout`",
    "\u2028\u2029 worst rollout \U0001f600 \U000e0041",
]
NAMES = [
    f"<img src=x onerror={RUNS}>",
    f'"><script>{RUNS}</script>',
    "a/b?c=d&e#f%2F",
    "__proto__",
    "\u202egnp.exe",
]


@pytest.fixture(scope="module", params=["served", "exported"])
def hostile(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "<script>x"
    for number, name in enumerate(NAMES):
        rows = [
            revision(
                [1, 5, 9],
                [0, 2, 2],
                after=(1.0, 2.0, 9.0),
                answer=answer,
                iteration=place,
                condition=name,
                env=name,
                variant=name,
            )
            for place, answer in enumerate(ANSWERS if number == 0 else ANSWERS[:2])
        ]
        write_run(folder / str(number), rows, thresholds=THRESHOLDS, method=THREE, model=name, backend=name)
    if request.param == "exported":
        made = audit.export_view(folder, tmp_path_factory.mktemp("exported") / "view")
        yield SimpleNamespace(address=made.path.joinpath("index.html").as_uri())
        return
    with audit.view(folder) as view:
        yield view


def address(page: str, *parts) -> str:
    return f"#/{page}/" + "/".join(urllib.parse.quote(str(part), safe="") for part in parts)


ALIEN = "main script, main style:not(svg style), main iframe, main object"
OWN_LINKS = """[...document.querySelectorAll('main a')].every(
    (each) => /^(#|api\\/|revisions\\.csv$)/.test(each.getAttribute('href') || each.getAttribute('xlink:href')))"""
ACTING = (
    "/[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\ufeff\\u001b\\u0007]/.test(document.querySelector('main').textContent)"
)


def harmless(page) -> None:
    assert page.evaluate("document.documentElement.dataset.hacked") is None
    assert page.query_selector_all(ALIEN) == []
    assert page.evaluate(OWN_LINKS)
    assert page.evaluate("getComputedStyle(document.body).display") == "block"
    assert not page.evaluate(ACTING)


def test_pages_of_lists(page, hostile) -> None:
    for hash_ in ("#/overview", "#/revisions", "#/runs", "#/revisions?q=%3Cscript%3E", "#/<img src=x onerror=1>"):
        visit(page, hostile, hash_)
        page.wait_for_timeout(300)
        harmless(page)
        assert page.inner_text("h1") in {"Overview", "Revisions", "Runs", "Nothing to show"}


def test_answers(page, hostile) -> None:
    name = NAMES[0]
    for place in range(len(ANSWERS)):
        visit(page, hostile, address("revision", name, name, name, 1, place))
        page.wait_for_timeout(200)
        harmless(page)
        assert "worst" in page.inner_text("main")
        assert page.inner_text("h1") != "Nothing to show"


@pytest.mark.parametrize("name", NAMES)
def test_names(page, hostile, name) -> None:
    for hash_ in (address("revision", name, name, name, 1, 0), address("run", name, name, name, 1)):
        visit(page, hostile, hash_)
        harmless(page)
        assert page.inner_text("h1") != "Nothing to show"
    if hostile.address.startswith("file:"):
        return  # which has no filters
    filtered = urllib.parse.urlencode({"env": name, "condition": name})
    visit(page, hostile, f"#/revisions?{filtered}")
    harmless(page)
    assert page.eval_on_selector_all("main tbody tr", "all => all.length") == (9 if name == NAMES[0] else 2)

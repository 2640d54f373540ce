"""Every page with every fold open, at three widths: none scrolls sideways, no name is broken, all is accessible."""

from __future__ import annotations

import re
from importlib import resources
from types import SimpleNamespace

import pytest

import audit
from tests.audit.interventions.planned import plan, recorded, run
from tests.audit.viewer.conftest import visit
from tests.audit.viewer.records import write_records
from tests.audit.viewer.test_export import TEXTS

STATIC = resources.files("audit.viewer").joinpath("static")
WIDTHS = (1440, 800, 400)
THEMES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
"""Rules of axe; what the second theme can break are contrasts alone."""
DRAWN = {"overview": "figure#chart-citing svg", "interventions": "#report:not([aria-busy]) #effects svg"}
FILTERED = ("revisions?direction=regression&sort=delta", "revisions?delta=1e9..")
DIFFERENCES = ":is(#returns, #rates) th:has-text('difference')"
"""Columns of the page that compares."""
CHECK = """async () => {
  const found = new Set();
  const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
  const root = document.documentElement;
  const name = (fold) => `fold "${fold.querySelector("summary").textContent}"`;
  function sideways(what) {
    if (root.scrollWidth > root.clientWidth) found.add(`${what}: ${root.scrollWidth} pixels wide`);
  }
  // Texts of records may be broken anywhere; names of tasks, methods, columns and values may not.
  const TEXTS = "pre, code, .mono, .longtext, ol.shown, ol.mentions, svg, .coding-text, .coding-other, q";
  function broken() {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    for (let node; (node = walker.nextNode());) {
      const parent = node.parentElement;
      if (/^(null|NaN|\\[object .*)$/.test(node.data.trim())) found.add(`a text "${node.data}"`);
      if (parent.closest(TEXTS) || !parent.checkVisibility()) continue;
      for (const word of node.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
        if (word[0].length < 2 || word[0].length > 30) continue;
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) found.add(`broken: ${word[0]}`);
      }
    }
  }
  // Labels of a chart that lie upon each other.
  function overlapping() {
    for (const svg of document.querySelectorAll("main svg")) {
      const labels = [...svg.querySelectorAll("text, tspan")]
        .filter((each) => !each.querySelector("tspan") && each.textContent.trim())
        .map((each) => [each.textContent, each.getBoundingClientRect()]);
      for (const [index, [text, a]] of labels.entries()) {
        for (const [other, b] of labels.slice(index + 1)) {
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (across > 3 && down > 3) found.add(`labels "${text}" and "${other}" overlap`);
        }
      }
    }
  }
  await settled();
  sideways("the page");
  broken();
  for (let fold; (fold = document.querySelector("main details:not([open])"));) {
    fold.open = true;
    await settled();
    sideways(name(fold));
  }
  scrollTo(0, root.scrollHeight);
  await settled();
  broken();
  overlapping();
  return [...found];
}"""


SEARCH = "revisions?q=-the&columns=answer"


def rules_of(path) -> list[str]:
    """The selectors of a style sheet that are in no other one's rule."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    while text != (text := re.sub(r"\{[^{}]*\}", ";", text)):
        pass
    return [each.strip() for each in text.split(";") if each.strip()]


def test_styles_of_a_page_are_those_of_no_other() -> None:
    for path in STATIC.joinpath("pages").iterdir():
        if path.name.endswith(".css"):
            assert rules_of(path) == [f'main[data-page="{path.name.removesuffix(".css")}"]'], path.name


@pytest.fixture(scope="module")
def views(grid, tmp_path_factory):
    """Viewers and the addresses of their pages. Made before a browser, whose event loop runs in this thread."""
    folder = tmp_path_factory.mktemp("layout")
    asked = folder / "plan.json"
    recorded(folder / "runs")
    plan(
        folder / "runs",
        asked,
        "--units",
        2,
        "--rollouts",
        4,
        *(f"--arm={arm}=2" for arm in ("A0", "N0", "N0h", "P1", "XL")),
    )
    assert run(asked).exit_code == 0
    labels = folder / "labels.csv"
    with labels.open("w", newline="") as file:
        audit.sample(folder / "runs", coders=("A",), n=2).write(file)
    exported = audit.export_view(grid, folder / "exported")
    with (
        audit.view(grid) as whole,
        audit.view(write_records(folder / "drawn")) as conditions,
        audit.view(TEXTS) as texts,
        audit.view(folder / "runs", plan=asked, labels=[labels]) as experiment,
    ):
        yield {
            "grid": (whole, ["overview", *FILTERED, SEARCH, "compare", "runs", *ones(grid)]),
            "exported": (
                SimpleNamespace(address=exported.path.joinpath("index.html").as_uri()),
                ["overview", "revisions", "runs", *ones(grid)[:2]],
            ),
            "conditions": (conditions, ["overview", "revisions", "compare", "compare?by=variant", "runs"]),
            "texts": (texts, ["overview", "revisions", "runs", *ones(TEXTS)[:2], two(TEXTS)]),
            "experiment": (
                experiment,
                ["interventions", "interventions/1?plan=1", "interventions/2?arms=A0", "coding"],
            ),
        }


def two(data) -> str:
    """The page of two revisions side by side."""
    with audit.open(data) as store:
        rows = store.rows("revisions")[:2]
    names = ("condition", "env", "variant", "run", "iteration")
    return "/".join(["beside", *(str(row[name]) for row in rows for name in names)])


def ones(data) -> list[str]:
    """The pages of one revision, of its run and of its replay."""
    with audit.open(data) as store:
        row = store.rows("revisions")[3]
    key = [str(row[name]) for name in ("condition", "env", "variant", "run", "iteration")]
    return [f"revision/{'/'.join(key)}", f"run/{'/'.join(key[:4])}", f"replay/{'/'.join(key)}"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["grid", "exported", "conditions", "texts", "experiment"])
def test_every_page_and_fold_fits(views, page, name) -> None:
    from axe_playwright_python.sync_playwright import Axe

    view, addresses = views[name]
    found = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for address in addresses:
            page.emulate_media(color_scheme="light")
            visit(page, view, f"#/{address}")
            assert page.inner_text("h1") != "Nothing to show", address
            if selector := DRAWN.get(address):
                page.wait_for_selector(selector)
            # An export's policy keeps axe from fetching its style sheets.
            for scheme, rules in THEMES.items() if name != "exported" else ():
                page.emulate_media(color_scheme=scheme)
                if violations := Axe().run(page, options=rules).response["violations"]:
                    found[address, width, scheme] = violations
            if problems := page.evaluate(CHECK):
                found[address, width] = problems
            if address.startswith("compare"):
                ends = page.eval_on_selector_all(DIFFERENCES, "all => all.map(e => e.getBoundingClientRect().right)")
                assert len(ends) > 1
                assert max(ends) <= width, "differences are on a narrow screen too"
    assert found == {}

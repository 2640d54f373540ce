"""The page of a replay in a real browser: both policies over time, and their steps."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import unquote

import pytest

import audit
from tests.audit.viewer.conftest import visit
from tests.collector.helpers import lines

pytestmark = pytest.mark.slow

TASKS = ("pong", "frozenlake", "swimmer")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    # In a process of its own: the browser's event loop runs in this one.
    options = "--variant threetraj --runs 1 --quiet --iterations 1 --rollouts 3 --out"
    tasks = [word for env in (*TASKS, "maze") for word in ("--env", env)]
    command = [sys.executable, "-m", "collector.cli", *tasks, *options.split(), str(root)]
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return root


@pytest.fixture(scope="module")
def drawn(data):
    with audit.view(data) as view:
        yield view


def record_of(data, env):
    [path] = data.rglob(f"{env}/*/*/episodes.jsonl")
    return lines(path)[0]


def address(record):
    return "#/replay/" + "/".join(str(record[name]) for name in ("condition", "env", "variant", "run", "iteration"))


@pytest.mark.parametrize(("place", "env"), list(enumerate(TASKS)))
def test_both_policies_are_drawn_over_time_and_listed(page, drawn, data, place, env):
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": (400, 1400)[place % 2], "height": 900})
    page.emulate_media(color_scheme=("dark", "light")[place % 2])
    record = record_of(data, env)
    visit(page, drawn, address(record))
    sections = page.locator("main section")
    assert sections.count() in {1, 2, 3}
    sections.first.locator("svg").first.wait_for()
    assert sections.first.locator("svg >> nth=0").locator("path[stroke^=var]").count() == 2
    assert "exactly as recorded" in sections.first.inner_text()
    for summary in sections.first.locator("summary").all():
        summary.click()
    length = record["initial"]["lengths"][int(page.inner_text("main h2 >> nth=0").split()[1].rstrip(","))]
    assert sections.first.locator("table >> nth=0").locator("tbody tr").count() == min(length + 1, 1000)
    assert not re.search("NaN|undefined", sections.first.inner_html())
    assert Axe().run(page).response["violations"] == []
    sideways = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert sideways <= 0, "the page scrolls sideways"


def test_a_revision_leads_to_its_replay(page, drawn, data):
    record = record_of(data, "maze")
    visit(page, drawn, address(record).replace("replay", "revision"))
    page.get_by_role("link", name="replay its rollouts").click()
    page.wait_for_selector("[data-page='replay'] section")
    assert unquote(page.url).endswith(address(record))

"""The page of a replay in a real browser: every task is drawn, and time is the reader's."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import unquote

import gymnasium
import pytest

import audit
from collector.rollouts.evaluate import replay
from collector.tasks import TASKS, pong
from tests.audit.viewer.conftest import visit
from tests.collector.helpers import lines

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    # In a process of its own: the browser's event loop runs in this one.
    options = "--env all --variant threetraj --runs 1 --quiet --iterations 1 --rollouts 3 --out"
    command = [sys.executable, "-m", "collector.cli", *options.split(), str(root)]
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


def go(page, step):
    page.locator(".replay-time").fill(str(step))


@pytest.mark.parametrize(("place", "env"), list(enumerate(TASKS)))
def test_every_task_is_drawn(page, drawn, data, place, env):
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": (400, 1400)[place % 2], "height": 900})
    page.emulate_media(color_scheme=("dark", "light")[place // 2 % 2])
    visit(page, drawn, address(record_of(data, env)))
    last = int(page.get_attribute(".replay-time", "max"))
    pictures = set()
    for step in sorted({0, 1, last // 2, last}):
        go(page, step)
        for drawing in page.locator(".replay-drawing").all():
            inner = drawing.inner_html()
            assert inner
            assert not {"NaN", "undefined"} & set(re.findall(r"\w+", inner))
        pictures.add(page.locator(".replay-drawing").first.inner_html())
    assert len(pictures) > 1, "nothing moves"
    assert Axe().run(page).response["violations"] == []
    sideways = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert sideways <= 0, "the page scrolls sideways"


def test_the_opponent_of_pong_is_where_it_was(page, drawn, data):
    record = record_of(data, "pong")
    visit(page, drawn, address(record))
    place = int(page.inner_text(".replay-seed").split()[1].rstrip(","))
    seed, params = record["initial"]["seeds"][place], record["initial"]["params"]
    env = gymnasium.make(pong.GYM_ID).unwrapped
    env.reset(seed=seed)
    for step, action in enumerate(replay(TASKS["pong"], params, seed).actions[:300]):
        if step % 20 == 0:
            go(page, step)
            assert float(page.get_attribute(".replay-other", "y")) == env._state[1]
        env.step(action)


def test_the_table_follows_the_slider_and_time_is_the_readers(page, drawn, data):
    visit(page, drawn, address(record_of(data, "cartpole")))
    last = int(page.get_attribute(".replay-time", "max"))
    page.wait_for_timeout(400)
    assert page.inner_text(".replay-step") == f"step 0 of {last}", "it moves unasked"
    page.focus(".replay-time")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(".")
    page.get_by_label("one step on").click()
    assert page.inner_text(".replay-step") in {f"step 2 of {last}", f"step 3 of {last}"}
    go(page, 5)
    assert page.inner_text("tr.replay-now >> nth=0").split()[0] == "5"
    assert page.locator(".replay-drawing").first.get_attribute("aria-label").startswith("worst")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("button", name="Play").wait_for()  # at the end it stops
    assert page.inner_text(".replay-step") == f"step {last} of {last}"
    for choice in page.locator("input[name='replay-rollout']").all():
        choice.check()
        assert page.locator("tr.replay-now").count() == 2


def test_a_revision_leads_to_its_replay(page, drawn, data):
    record = record_of(data, "maze")
    visit(page, drawn, address(record).replace("replay", "revision"))
    page.get_by_role("link", name="replay its rollouts").click()
    page.wait_for_selector("[data-page='replay'] .replay-time")
    assert unquote(page.url).endswith(address(record))

"""A small data set, its pages served, and a browser that looks at them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import audit
from tests.shared import made

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WITHOUT_BROWSER = "no Chromium on this machine: install one, or set CHROMIUM to its path"
METHODS = ("threetraj", "r2po", "puresearch")
TASKS = ("cartpole", "nim")


def sweep(folder: Path) -> None:
    """Two tasks, three methods, two runs each."""
    chosen = [word for name in TASKS for word in ("--env", name)] + [
        word for name in METHODS for word in ("--variant", name)
    ]
    command = [sys.executable, "-m", "collector.cli", *chosen, "--runs", "2", "--iterations", "12", "--quiet"]
    subprocess.run([*command, "--out", str(folder / "runs")], check=True, capture_output=True, timeout=600)


@pytest.fixture(scope="session")
def grid() -> Path:
    """Records of a small sweep."""
    return made("viewer", sweep) / "runs"


@pytest.fixture(scope="session")
def served(grid):
    """The pages of the grid."""
    with audit.view(grid) as view:
        yield view


@pytest.fixture(scope="module")
def browser():
    """A Chromium. Its event loop runs in this thread until it is closed, and other modules need one of their own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        here = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
        path = here or playwright.chromium.executable_path
        if not Path(path).exists():
            pytest.skip(WITHOUT_BROWSER)
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A page whose console must stay empty."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(30_000)
        seen: list[str] = []
        page.on("console", lambda message: seen.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        yield page
        assert seen == []


def visit(page, view, hash_: str = ""):
    """Open an address of a view, and wait until its page is there."""
    page.goto("about:blank")
    page.goto(f"{view.address.partition('#')[0]}{hash_}")
    page.wait_for_selector("#main:not([aria-busy]) h1")
    return page

"""Takes the pictures of docs/viewer.md and README.md: `make screenshots`, with a Chromium on the machine.

python docs/screenshots.py data/runs
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import audit

HERE = Path(__file__).resolve().parent / "static"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
WIDTH, HEIGHT = 1200, 800


def main(data: Path) -> None:
    """Write seven pictures of a data set."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        sheet = Path(name) / "labels.csv"
        with sheet.open("wb") as stream:
            program = Path(sys.executable).with_name("audit")
            subprocess.run([program, "sample", data, "--n", "20"], stdout=stream, check=True)  # noqa: S603
        with audit.open(data) as store:
            # The regression that lost most of those whose answers cite the worst rollout.
            query = "select condition, env, variant, run, iteration from revisions where strict order by delta limit 1"
            key = "/".join(str(part).replace("+", "%2B") for part in store.sql(query).fetchall()[0])
        pages = {
            "overview": ("#/overview", "light"),
            "revisions": ("#/revisions?direction=regression&cites=true&sort=delta", "light"),
            "revision": (f"#/revision/{key}?strict=true&sort=delta", "light"),
            "replay": (f"#/replay/{key}", "dark"),
            "compare": ("#/compare?by=variant", "dark"),
            "coding": ("#/coding", "light"),
        }
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with audit.view(data, labels=[sheet]) as view:
            address = view.address.partition("#")[0]
            for page, (hash_, scheme) in pages.items():
                with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme) as context:
                    tab = context.new_page()
                    tab.goto(address + hash_)
                    tab.wait_for_selector("#main:not([aria-busy]) h1")
                    tab.wait_for_timeout(1_500)
                    take(tab, HERE / f"viewer-{page}.png")
                    if page == "revision":
                        tab.goto(f"{address}#/revision/{key}")
                        tab.wait_for_timeout(1_500)
                        take(tab, HERE / "revision.png", between=("Rollouts shown", "Judges, coders, truth"))
        browser.close()


def take(tab: Page, path: Path, between: tuple[str, str] | None = None) -> None:
    """Write a picture of what a page shows, or of its part from one heading to another."""
    if between is None:
        tab.screenshot(path=path)
    else:
        top, bottom = (tab.get_by_role("heading", name=name).bounding_box()["y"] for name in between)  # type: ignore[index]
        part = {"x": 0, "y": top - 12, "width": WIDTH, "height": bottom - top - 12}
        tab.screenshot(path=path, clip=part, full_page=True)  # type: ignore[arg-type]
    # A palette makes the file a third as large, and the difference cannot be seen.
    Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

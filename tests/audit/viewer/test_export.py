"""An exported folder answers as the server does, from files alone, and has nothing of the machine that made it."""

from __future__ import annotations

import errno
import functools
import http.server
import json
import random
import re
import shutil
import threading
import urllib.parse
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.options import Options
from audit.output.formats import as_json
from audit.viewer import export, pages
from audit.viewer.query import Query
from audit.viewer.revision import revision
from audit.viewer.run import run
from audit.viewer.session import Session
from audit.vocabulary.keys import RevisionKey, RunKey
from tests.audit.viewer.conftest import visit

pytestmark = pytest.mark.slow

TEXTS = Path(__file__).resolve().parents[3] / "data" / "gepa-planted"


@pytest.fixture(scope="module")
def session(grid):
    with Session(Options(paths=[grid], detector=None)) as session:
        yield session


@pytest.fixture(scope="module")
def made(grid, tmp_path_factory):
    return audit.export_view(grid, tmp_path_factory.mktemp("exported") / "view")


@pytest.fixture(scope="module")
def exported(made):
    """What `visit` opens: the page as a file."""
    return SimpleNamespace(address=made.path.joinpath("index.html").as_uri())


def values_in(folder: Path) -> dict[str, object]:
    """The value of each script file, by its name."""
    found = {}
    for path in folder.joinpath("data").iterdir():
        name, text = re.fullmatch(r"Exported\.put\('([\w-]+)', '(.*)'\);\n", path.read_text(), re.DOTALL).groups()
        assert name == path.stem
        found[name] = json.loads(re.sub(r"\\([\\'n])", lambda each: "\n" if each[1] == "n" else each[1], text))
    return found


def chunks(values: dict[str, object], name: str) -> list:
    return [each for number in range(len(values["index"][name])) for each in values[f"{name}-{number}"]]


def asked(page, path: str, query: str = ""):
    """What a page is answered: the value, or the error's message."""
    return page.evaluate(
        "async ([path, query]) => { try { return await Data.source(path, new URLSearchParams(query)); }"
        " catch (error) { return {error: error.message}; } }",
        [path, query],
    )


def as_sent(value):
    return json.loads(as_json(value))


def test_pages_are_those_of_the_server(page, session, exported) -> None:
    """All revisions in pages, as recorded or by one column, each revision in full, and runs."""
    visit(page, exported)
    columns = list(session.table.kinds)
    for number, sort in enumerate(["", *(["-delta", "delta", "-p_no_change", "pattern", "-strict", "run", "-env"])]):
        items = [("sort", sort), ("page", str(1 + number % 3))]
        query = Query.parse(items, session.table.kinds)
        wanted = as_sent(pages.revisions(session, query, columns))
        assert asked(page, "revisions", urllib.parse.urlencode([*items, ("columns", ",".join(columns))])) == wanted
    keys = [RevisionKey(*key) for key in session.table.all_rows(Query(), RevisionKey._fields)]
    for key in [keys[0], keys[-1], *random.Random(1).sample(keys, 8)]:
        for sort in ("", "-delta"):
            wanted = as_sent(revision(session, key, Query(sort=(sort,) if sort else ())))
            del wanted["row"]["file"]
            for item in wanted["shown"] or ():
                item.pop("trajectory", None)  # it is in the prompts, which are left out
            assert asked(page, path_of("revision", key), f"sort={sort}") == {**wanted, "prompt": None}
        assert asked(page, path_of("run", key[:-1])) == as_sent(run(session, RunKey(*key[:-1])))


def path_of(page: str, key) -> str:
    return "/".join([page, *(urllib.parse.quote(str(part), safe="") for part in key)])


def test_mistakes_and_what_needs_the_server_are_stated(page, served, exported) -> None:
    visit(page, exported)
    for path, query, message in (
        ("revisions", "sort=nonesuch", "no column 'nonesuch'"),
        ("revisions", "columns=nonesuch", "no column 'nonesuch'"),
        *(("revisions", f"page={text}", f"page '{text}': give a whole number from 1") for text in ("0", "x", "1.5")),
        ("revision/a/b/c/1/2", "", "no revision a b c 1 2: no such iteration, or it has no revised candidate"),
        ("run/a/b/c/1", "", "no run a b c 1"),
    ):
        assert asked(page, path, query) == {"error": message}
    for address in ("revisions?env=nim", "revisions?q=worst", "compare", "coding", "replay/a/b/c/1/2", "interventions"):
        visit(page, exported, f"#/{address}")
        assert "run audit view on the records" in page.inner_text("p.error"), address
    for address in ("overview", "revisions"):
        visit(page, exported, f"#/{address}")
        assert "run audit view on the records" in page.inner_text("main"), address
        assert "exported folder" not in visit(page, served, f"#/{address}").inner_text("main")


@pytest.mark.parametrize("host", ["file", "server"])
def test_every_page_is_shown_without_a_server_of_ours(page, made, exported, host) -> None:
    handler = functools.partial(Quiet, directory=made.path.parent)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/view/"
        view = exported if host == "file" else SimpleNamespace(address=address)
        visit(page, view, "#/overview")
        for figure in ("salience", "citing", "curves"):
            page.wait_for_selector(f"#chart-{figure} svg")
        assert page.query_selector_all("main [href*='revisions?']") == []  # of filters that only a server has
        page.click(".facts a:text('144')")
        page.wait_for_selector("#main[data-page=revisions] tbody tr")
        page.click("#sort-delta")
        page.wait_for_selector("th[aria-sort='descending']")
        page.click("main tbody tr:has(td:text-is('yes')) a")
        page.wait_for_selector("mark[data-mention]")
        page.click("text=its run")
        page.wait_for_selector("#main[data-page=run] h1")
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_) -> None:
        pass


def test_a_folder_has_all_revisions_and_nothing_of_this_machine(session, made, grid, monkeypatch, tmp_path) -> None:
    for path in made.path.rglob("*"):
        if path.is_file() and "vendor" not in path.parts:
            text = path.read_text()
            for folder in (grid.parent, Path.cwd(), Path.home()):
                assert f"{folder}/" not in text.replace("\\/", "/"), path
    whole = values_in(made.path)
    assert whole["about"]["paths"] == [grid.name]
    assert len(chunks(whole, "details")) == made.revisions == session.table.count(Query())
    assert made.files == sum(path.is_file() for path in made.path.rglob("*"))
    assert made.path.joinpath("revisions.csv").read_bytes() == b"".join(pages.csv(session, Query()))
    page = made.path.joinpath("index.html").read_text()
    assert "default-src 'none'; script-src 'self'" in page
    assert "frame-ancestors" not in page
    assert page.index("data.js") < page.index("export.js") < page.index("pages.js")
    monkeypatch.setattr(export, "ITEMS", 7)
    small = values_in(audit.export_view(grid, tmp_path / "view").path)
    assert chunks(small, "details") == chunks(whole, "details")
    assert small["index"]["details"] == list(range(0, made.revisions, 7))


def test_a_file_that_is_missing_is_named(browser, made, tmp_path) -> None:
    shutil.copytree(made.path, tmp_path / "view")
    tmp_path.joinpath("view", "data", "overview.js").unlink()
    with browser.new_context() as context:  # whose console has the browser's own message
        page = visit(context.new_page(), SimpleNamespace(address=tmp_path.joinpath("view", "index.html").as_uri()))
        assert "data/overview.js is missing" in page.inner_text("p.error")


def test_every_run_has_a_page_with_revisions_or_without(session, made) -> None:
    runs = [tuple(row[name] for name in ("condition", "env", "variant", "run")) for row in pages.runs(session)["rows"]]
    assert "puresearch" in {variant for _, _, variant, _ in runs}
    assert [tuple(key) for key in values_in(made.path)["index"]["run_keys"]] == runs


def test_a_texts_page_is_that_of_the_server() -> None:
    with Session(Options(paths=[TEXTS], detector=None)) as session:
        pages_of_all = list(export.details(session, with_prompts=True))
        for page in pages_of_all[::25]:
            wanted = revision(session, RevisionKey(*page["key"]), Query())
            del wanted["row"]["file"]
            assert as_sent({**wanted, **page}) == as_sent(wanted)
        assert len(pages_of_all) == session.table.count(Query())


def command(*arguments):
    return CliRunner().invoke(app, ["view", *map(str, arguments)])


def test_the_command_states_the_size_and_the_limit(grid, tmp_path) -> None:
    done = command(grid, "--export", tmp_path / "view")
    assert done.exit_code == 0
    assert done.stdout.strip() == str(tmp_path / "view" / "index.html")
    assert re.search(r"\d+ revisions in \d+ files, \d+\.\d MB", done.stderr)
    refused = command(grid, "--export", tmp_path / "more", "--limit", 5)
    assert refused.exit_code == 2
    assert re.search(r"at most 5 \(--limit\).*--env.*raise the limit", refused.stderr.splitlines()[-1])
    assert [path.name for path in tmp_path.iterdir()] == ["view"]


def test_an_earlier_export_is_replaced_as_a_whole_and_nothing_else(grid, tmp_path, monkeypatch) -> None:
    out = tmp_path / "view"
    first = audit.export_view(grid, out, env="nim", with_prompts=True)
    with_prompts = chunks(values_in(out), "details")
    assert {page["row"]["env"] for page in with_prompts} == {"nim"}
    assert all(page["prompt"] for page in with_prompts if page["revised"]["source"] == "critic")
    assert audit.export_view(grid, out, env="nim").size < first.size
    before = values_in(out)
    assert [page["prompt"] for page in chunks(before, "details")] == [None] * before["about"]["revisions"]
    with monkeypatch.context() as patch:
        patch.setattr(export, "_write_text", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(audit.AuditError, match="No space left"):
            audit.export_view(grid, out)
    assert values_in(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["view"]
    (out / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("")
    for place, message in (
        (out, r"not of an earlier export, such as notes\.txt"),
        *((place, "the records are there") for place in (grid, grid / "view", grid.parent)),
        *((place, "not a folder") for place in (tmp_path / "file", tmp_path / "file" / "view")),
    ):
        with pytest.raises(audit.UsageError, match=message):
            audit.export_view(grid, place)
    assert (out / "notes.txt").read_text() == "mine"

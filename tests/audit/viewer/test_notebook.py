"""In a notebook: the pages in a frame, and rows of revisions that lead to them."""

from __future__ import annotations

import functools
import html
import http.server
import re
import shutil
import threading

import pytest

import audit
from tests.audit.viewer.conftest import visit
from tests.audit.viewer.test_export import Quiet


def links_of(text: str) -> list[str]:
    """The addresses of links."""
    return [html.unescape(found) for found in re.findall(r'<a href="([^"]*)"', text)]


@pytest.mark.slow
def test_rows_of_revisions_link_to_the_open_viewer(page, grid, tmp_path) -> None:
    # A folder of its own: other tests have a view of the grid open.
    grid = shutil.copytree(grid, tmp_path / "runs")
    with audit.open(grid) as store:
        table = audit.revisions(store, env="nim")
        assert table._repr_html_() is None
        with audit.view(store) as view:
            links = links_of(table._repr_html_())
            assert len(links) == len(table)
            place = links[3].removeprefix(view.address)
            visit(page, view, place)
            row = list(table)[3]
            assert f"run {row['run']} · iteration {row['iteration']}" in page.inner_text("h1")
            assert links_of(audit.revisions(grid)._repr_html_())[0].startswith(view.address)
            assert audit.summary(store)._repr_html_() is None
        assert table._repr_html_() is None
    assert "link" not in table.columns


def test_names_are_text_in_a_notebook(tmp_path) -> None:
    from audit.output.linked import linked_table

    row = {"condition": "<script>1</script>", "env": '"><b>', "variant": "v", "run": 1, "iteration": 0}
    text = linked_table(list(row), [row], lambda _: 'http://127.0.0.1/"><script>')
    assert "<script>" not in text
    assert "<b>" not in text


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_page_of_another_port_may_show_the_frame(page, served, tmp_path, host) -> None:
    tmp_path.joinpath("notebook.html").write_text(f"<link rel=icon href='data:,'>{served._repr_html_()}")
    handler = functools.partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://{host}:{server.server_port}/notebook.html")
        table = page.frame_locator("iframe").locator("#salience table")
        table.wait_for()
        assert "ThreeTraj" in table.inner_text()
        server.shutdown()

"""In a notebook: the pages in a frame."""

from __future__ import annotations

import functools
import http.server
import threading

import pytest

from tests.audit.viewer.test_export import Quiet


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

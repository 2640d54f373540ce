"""What servers send beyond all measure is bounded while it comes."""

from __future__ import annotations

import contextlib
import gzip

import pytest
from typer.testing import CliRunner

from audit.cli import app
from tests.audit.remote import web

MOST = 2 * 2**20
"""What tests allow a server to send."""
ZEROS = bytes(2**16)


class Faulty(web.Handler):
    """Answers a path by the method of that name."""

    def _answer(self, *, with_body):
        self.server.requests.append((self.command, self.path, None))
        kind = self.path.strip("/").split("/")[0].split(".")[0]
        with contextlib.suppress(ConnectionError):
            getattr(self, f"_{kind}")()

    def _head(self, **headers):
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        return self.command == "GET"

    def _endlessly(self, part):
        self.close_connection = True
        while self.server.sent < 100 * 2**20 and not self.server.stopping:
            self.wfile.write(part)
            self.server.sent += len(part)

    def _endless(self):
        """A body until the connection ends."""
        if self._head(Connection="close"):
            self._endlessly(ZEROS)

    def _chunked(self):
        if self._head(Transfer_Encoding="chunked"):
            self._endlessly(b"%x\r\n%b\r\n" % (len(ZEROS), ZEROS))

    def _more(self):
        """More when it is fetched than was said before."""
        if self.command == "HEAD":
            self._head(Content_Length=1000)
        else:
            self._endless()

    def _bomb(self):
        """Packed although it was not asked for: a thousand times as much when it is unpacked."""
        body = gzip.compress(bytes(50 * 2**20))
        if self._head(Content_Encoding="gzip", Content_Length=len(body)):
            self.wfile.write(body)

    def _listing(self):
        """A page that never ends."""
        if self._head(Content_Type="text/html", Connection="close"):
            self._endlessly(b'<a href="x/">x</a>\n' * 2000)

    def _page(self, links):
        """A folder that names others, and files."""
        body = "".join(f'<a href="{link}">x</a>' for link in links).encode()
        if self._head(Content_Type="text/html", Content_Length=len(body)):
            self.wfile.write(body)

    def _itself(self):
        """A folder that links into itself, twice."""
        self._page(("../", "?C=N", "a/", "b/", "x"))

    def _deeper(self):
        """Ever other folders."""
        self._page(f"{len(self.server.requests)}-{each}/" for each in range(3))

    def _many(self):
        self._page(range(300))


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    pytest.importorskip("aiohttp")
    with web.web(tmp_path_factory.mktemp("faulty"), Faulty) as server:
        yield server


@pytest.fixture(autouse=True)
def _bounds(monkeypatch, quick):
    monkeypatch.setattr("audit.remote.downloads.UNSTATED", MOST)
    monkeypatch.setattr("audit.remote.listings.PAGE", MOST)
    monkeypatch.setattr("audit.remote.listings.FOLDERS", 100)
    monkeypatch.setattr("audit.remote.listings.NAMES", 200)


def failed(url):
    result = CliRunner().invoke(app, ["summary", url])
    assert result.exit_code == 1, url
    assert len(result.stderr.splitlines()) == 1, result.stderr
    return result.stderr


def test_a_body_without_end_is_not_written_to_the_disk(faulty, tmp_path):
    for name, words in {
        "endless.tar": "does not state",
        "chunked.pack.parquet": "does not state",
        "bomb.tar.gz": "does not state",
        "more.tar": "changed while it was copied",
    }.items():
        faulty.sent = 0
        assert words in failed(f"{faulty.url}/{name}"), name
        assert faulty.sent < 20 * 2**20, name
        assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size > MOST], name


def test_a_listing_without_end_is_not_read(faulty):
    faulty.sent = 0
    assert "listing" in failed(f"{faulty.url}/listing")
    assert faulty.sent < 20 * 2**20


def test_a_listing_that_leads_into_itself_or_ever_further_is_left(faulty):
    for name, words, most in (("itself", "leads into itself", 10), ("deeper", "folders", 200), ("many", "files", 10)):
        faulty.requests.clear()
        assert words in failed(f"{faulty.url}/{name}"), name
        assert len(faulty.requests) <= most, name


def test_an_endless_part_of_a_pack_is_not_kept_in_memory(packed, server, by_ranges, monkeypatch):
    """A server that sends more than the range it was asked for."""
    given = web.Handler._send

    def send(self, status, data, headers, **more):
        if status == 206 and self.headers.get("Range") != "bytes=0-0":
            data += bytes(2**20)
        given(self, status, data, headers, **more)

    monkeypatch.setattr(web.Handler, "_send", send)
    assert "changed while it was read" in failed(f"{server.url}/x%20y.pack.parquet")

"""What servers send beyond all measure is bounded while it comes."""

from __future__ import annotations

import contextlib
import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from audit.cli import app

MOST = 2 * 2**20
"""What tests allow a server to send."""
ZEROS = bytes(2**16)


class Faulty(ThreadingHTTPServer):
    """Answers a path by the function of that name, which gets the request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent = 0
        self.requests = 0
        self.page = b""
        self.stopping = False
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_):
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Faulty

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.requests += 1
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

    def _itself(self):
        """A folder that links into itself, twice."""
        body = b'<a href="../">up</a><a href="?C=N">sort</a><a href="a/">a</a><a href="b/">b</a><a href="x">x</a>'
        if self._head(Content_Type="text/html", Content_Length=len(body)):
            self.wfile.write(body)

    def _deeper(self):
        """Ever other folders."""
        body = "".join(f'<a href="{self.server.requests}-{each}/">x</a>' for each in range(3)).encode()
        if self._head(Content_Type="text/html", Content_Length=len(body)):
            self.wfile.write(body)

    def _many(self):
        body = "".join(f'<a href="{each}">x</a>' for each in range(300)).encode()
        if self._head(Content_Type="text/html", Content_Length=len(body)):
            self.wfile.write(body)


@pytest.fixture(scope="module")
def faulty():
    pytest.importorskip("aiohttp")
    server = Faulty()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.stopping = True
    server.shutdown()
    server.server_close()
    thread.join()


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
        faulty.requests = 0
        assert words in failed(f"{faulty.url}/{name}"), name
        assert faulty.requests <= most, name


def test_an_endless_part_of_a_pack_is_not_kept_in_memory(packed, server, by_ranges, monkeypatch):
    """A server that sends more than the range it was asked for."""
    from tests.audit.remote import web

    given = web._Handler._send

    def send(self, status, data, headers, **more):
        if status == 206 and self.headers.get("Range") != "bytes=0-0":
            data += bytes(2**20)
        given(self, status, data, headers, **more)

    monkeypatch.setattr(web._Handler, "_send", send)
    assert "changed while it was read" in failed(f"{server.url}/x%20y.pack.parquet")

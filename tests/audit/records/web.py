"""A web server on the loopback that gives a folder's files, and fails on request."""

from __future__ import annotations

import contextlib
import hashlib
import html
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote


class Web(ThreadingHTTPServer):
    """The server; its attributes change how it answers.

    After `healthy` requests, so many as `failures` get the status `status`, or with 0 break off in the middle.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.failures = 0
        self.healthy = 0
        self.status = 503
        self.silence = 0.0
        self.requests: list[tuple[str, str]] = []

    def handle_error(self, *_: object) -> None:
        """A client that went away is what some tests are about."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Web
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, *, with_body: bool) -> None:
        server = self.server
        server.requests.append((self.command, self.path))
        time.sleep(server.silence)
        is_broken = False
        if server.healthy > 0:
            server.healthy -= 1
        elif server.failures > 0:
            server.failures -= 1
            if server.status:
                self._send(server.status, b"", {})
                return
            is_broken = True
        path = server.folder / unquote(re.split(r"[?#]", self.path)[0]).lstrip("/")
        if path.is_dir():
            links = "".join(
                f'<a href="{quote(each.name)}{"/" if each.is_dir() else ""}">{html.escape(each.name)}</a>\n'
                for each in sorted(path.iterdir())
            )
            self._send(200, f"<html>{links}</html>".encode(), {"Content-Type": "text/html"}, with_body=with_body)
            return
        if not path.is_file():
            self._send(404, b"", {}, with_body=with_body)
            return
        data = path.read_bytes()
        tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
        self._send(200, data, {"ETag": tag}, with_body=with_body, is_broken=is_broken)

    def _send(
        self, status: int, data: bytes, headers: dict[str, str], *, with_body: bool = True, is_broken: bool = False
    ) -> None:
        with contextlib.suppress(ConnectionError):
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if with_body:
                self.wfile.write(data[: len(data) // 2] if is_broken else data)
        self.close_connection = is_broken


@contextlib.contextmanager
def web(folder: Path) -> Iterator[Web]:
    """The server of a folder."""
    server = Web(folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""Audits of a pack elsewhere, over a slow link: seconds, requests and bytes of each command.

python -m benchmarks.remote PACK [--command salience] [--megabits 100] [--latency 0.03]

A server on the loopback stands for the network: all that it sends shares one rate, and each request waits first. It
answers as web servers do, and as S3 does for a single object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.processes import Spent, cache_in, spent

COMMANDS = (
    *("salience", "summary", "patterns", "rates", "agreement", "runs"),
    *("sql 'select count(*) from revisions'", "find --case salience"),
)
"""Commands without their first argument, the pack."""
CHUNK = 16 * 2**10


class Link(ThreadingHTTPServer):
    """A pack, or a folder of packs, over a link of a rate (bytes a second) and a latency (seconds a request)."""

    daemon_threads = True

    def __init__(self, file: Path, rate: float, latency: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.file = file
        self.rate = rate
        self.latency = latency
        self.sent = self.requests = 0
        self._free_at = 0.0
        self._lock = threading.Lock()

    def wait_for(self, size: int) -> None:
        """Wait until so many more bytes may have been sent."""
        with self._lock:
            self.sent += size
            self._free_at = max(self._free_at, time.monotonic()) + size / self.rate
            until = self._free_at
        time.sleep(max(0.0, until - time.monotonic()))


class _Handler(BaseHTTPRequestHandler):
    server: Link
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(0, None)

    def do_GET(self) -> None:
        file = self._file()
        if file is None:
            names = sorted(path.name for path in self.server.file.iterdir())
            self._send_list("".join(f'<a href="{name}">{name}</a>' for name in names).encode())
            return
        size = file.stat().st_size
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if match is None:
            self._answer(0, size)
        else:
            self._answer(int(match[1]), min(int(match[2] or size - 1) + 1, size), is_part=True)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _file(self) -> Path | None:
        """The file that is asked for; None for the folder."""
        if self.server.file.is_file():
            return self.server.file
        path = self.server.file / Path(self.path).name
        return path if path.is_file() else None

    def _send_list(self, page: bytes) -> None:
        time.sleep(self.server.latency)
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def _answer(self, start: int, end: int | None, *, is_part: bool = False) -> None:
        server = self.server
        file = self._file()
        if file is None:
            self._send_list(b"")
            return
        size = file.stat().st_size
        with server._lock:
            server.requests += 1
        time.sleep(server.latency)
        with contextlib.suppress(ConnectionError):
            self.send_response(206 if is_part else 200)
            self.send_header("ETag", f'"{size:032x}"')
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            self.send_header("Accept-Ranges", "bytes")
            if is_part:
                self.send_header("Content-Range", f"bytes {start}-{(end or size) - 1}/{size}")
            self.send_header("Content-Length", str(size if end is None else end - start))
            self.end_headers()
            with file.open("rb") as stream:
                stream.seek(start)
                left = 0 if end is None else end - start
                while left and (data := stream.read(min(CHUNK, left))):
                    server.wait_for(len(data))
                    self.wfile.write(data)
                    left -= len(data)


@contextlib.contextmanager
def link(file: Path, rate: float, latency: float) -> Iterator[Link]:
    """The server, while it runs."""
    server = Link(file, rate, latency)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def measure(pack: Path, commands: Sequence[str], *, megabits: float, latency: float, s3: bool) -> list[dict[str, Any]]:
    """A row a command, each with a cache of its own, and what the second call with that cache reads."""
    rows = []
    size = sum(path.stat().st_size for path in (pack.iterdir() if pack.is_dir() else [pack]))
    with link(pack, megabits * 1e6 / 8, latency) as server:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        url = f"s3://bucket/{pack.name}" if s3 else f"{address}/{pack.name}"
        if s3:
            os.environ |= {"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none"}
        for command in commands:
            name, *others = shlex.split(command)
            words = [sys.executable, "-c", "from audit.cli import main; main()", name, url, *others]
            with tempfile.TemporaryDirectory() as cache, cache_in(Path(cache)):
                run, requests, first = _run(server, words)
                _, _, again = _run(server, words)
            rows.append(
                {
                    "command": command,
                    "seconds": run.seconds,
                    "requests": requests,
                    "megabytes": first / 1e6,
                    "share": first / size,
                    "peak_megabytes": run.megabytes,
                    "share_again": again / size,
                }
            )
    return rows


def _revision(pack: Path) -> str:
    """The first revision of a pack, as `audit show` takes it."""
    files = str(pack / "*" if pack.is_dir() else pack)
    query = "select env, variant, run, iteration from read_parquet(?) where revised is not null order by place, number"
    found = duckdb.execute(f"{query} limit 1", [files]).fetchone()
    return shlex.join(map(str, found or ()))


def _run(server: Link, words: list[str]) -> tuple[Spent, int, int]:
    """A command, the requests that it made, and the bytes that it was sent."""
    server.sent = server.requests = 0
    return spent(words), server.requests, server.sent


def main() -> None:
    """Print a table, and the rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--command", action="append", help=f"default: {', '.join(COMMANDS)}, and show")
    parser.add_argument("--megabits", type=float, default=100.0, help="a second")
    parser.add_argument("--latency", type=float, default=0.03, help="seconds a request")
    parser.add_argument("--s3", action="store_true", help="by s3:// instead of http://")
    given = parser.parse_args()
    rows = measure(
        given.pack,
        given.command or [*COMMANDS, f"show {_revision(given.pack)}"],
        megabits=given.megabits,
        latency=given.latency,
        s3=given.s3,
    )
    print("| command | seconds | requests | MB | share | again |\n|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row['command']} | {row['seconds']:.1f} | {row['requests']} | {row['megabytes']:.1f} "
            f"| {row['share']:.1%} | {row['share_again']:.1%} |"
        )
    print(json.dumps(rows))


if __name__ == "__main__":
    main()

"""A scripted server on this machine that speaks as Ollama and as OpenAI-compatible servers do."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from collector.llm.ollama import OllamaModel
from collector.llm.openai import OpenAIModel

PROMPT = "What next?"
HTML = b"<html><body>Welcome to nginx</body></html>"


@dataclass(frozen=True)
class Reply:
    """One scripted reply. `how` is what the server does instead of sending it in full."""

    status: int = 200
    body: Any = b""
    headers: dict[str, str] = field(default_factory=dict)
    how: str = "whole"

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Loopback:
    """Answers each path from its own list of replies; the last one of a list is given for ever.

    Connections that are kept alive hold their threads until the client closes them: only for servers of thousands of
    calls.
    """

    keeps_alive = False

    def __init__(self) -> None:
        self.replies: dict[str, list[Reply]] = {}
        self.requests: list[Request] = []
        self.asked = threading.Event()
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._http = _Quiet(("127.0.0.1", 0), type("Handler", (_Handler,), {"loopback": self}))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    def next_reply(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            script = self.replies.get(request.path, [Reply(404, b"404 page not found")])
            return script.pop(0) if len(script) > 1 else script[0]

    def close(self) -> None:
        self.over.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = False  # so that closing the server waits for its last replies, and no socket stays open
    block_on_close = True
    request_queue_size = 64  # many calls at once must not wait for the network's own retries

    def handle_error(self, request, client_address):
        """A client that went away is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    loopback: Loopback

    def do_GET(self):
        self.answer()

    def do_POST(self):
        self.answer()

    def log_message(self, *args):
        pass

    def answer(self):
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.loopback.next_reply(Request(self.command, self.path, headers, body))
        self.loopback.asked.set()
        self.close_connection = not self.loopback.keeps_alive
        getattr(self, f"send_{reply.how}")(reply)

    def send_whole(self, reply):
        content = reply.content()
        self.send_head(reply, {"Content-Length": str(len(content))})
        self.wfile.write(content)

    def send_cut(self, reply):
        content = reply.content()
        self.send_head(reply, {"Content-Length": str(len(content) + 1)})
        self.wfile.write(content)

    def send_reset(self, reply):
        # A linger of zero seconds makes the close a reset.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def send_stalled(self, reply):
        self.loopback.over.wait()

    def send_endless(self, reply):
        self.send_head(reply, {"Transfer-Encoding": "chunked"})
        while not self.loopback.over.wait(0.005):
            self.wfile.write(b"1\r\n \r\n")

    def send_flood(self, reply):
        """Chunk after chunk, each of as many blanks as the body says, until the client has seen enough."""
        self.send_head(reply, {"Transfer-Encoding": "chunked"})
        while not self.loopback.over.is_set():
            self.wfile.write(b"%x\r\n%s\r\n" % (reply.body, b" " * reply.body))

    def send_head(self, reply, more):
        self.send_response(reply.status)
        for name, value in (
            {"Content-Type": "application/json"}
            | reply.headers
            | more
            | ({} if self.loopback.keeps_alive else {"Connection": "close"})
        ).items():
            self.send_header(name, value)
        self.end_headers()


class Clock:
    """A clock that tests can read: sleeping takes no time but is written down."""

    def __init__(self) -> None:
        self.time = 1000.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


@dataclass(frozen=True)
class Dialect:
    """One kind of server: what the tests need to send the same request to both."""

    name: str
    chat: str
    key: str
    make: Callable[..., Any]
    missing: Reply
    pull: str

    def __str__(self) -> str:
        return self.name

    def model(self, server, **options):
        return self.make(getattr(server, "url", server), **options)

    def asked(self, server, *replies, prompt=PROMPT, seed=3, form=None, **options):
        """The completion of a prompt by a model with these options, from a server that sends these replies."""
        server.replies[self.chat] = list(replies)
        return ask(self.model(server, **options), prompt, seed=seed, form=form)

    def answer(self, text="params[0]: 1", **message) -> Reply:
        return Reply(body=ANSWERS[self.name](text, message))


def use(model, *calls):
    """What calls of a model give, at once; it is closed then."""

    async def used():
        try:
            return await asyncio.gather(*(call(model) for call in calls))
        finally:
            await model.aclose()

    return asyncio.run(used())


def ask(model, prompt=PROMPT, *, seed=3, form=None):
    """The completion of a prompt."""
    return use(model, lambda each: each.complete(prompt, seed=seed, form=form))[0]


def check(model):
    use(model, lambda each: each.check())


def _ollama_answer(text, message):
    ended = message.pop("ended", "stop")
    return {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": text, **message},
        "done": True,
        "done_reason": ended,
        "prompt_eval_count": 11,
        "eval_count": 7,
    }


def _openai_answer(text, message):
    ended = message.pop("ended", "stop")
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": ended},
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


ANSWERS = {"ollama": _ollama_answer, "openai": _openai_answer}

OLLAMA = Dialect(
    name="ollama",
    chat="/api/chat",
    key="OLLAMA_API_KEY",
    make=lambda url, **options: OllamaModel("tiny:1b", base_url=url, **options),
    missing=Reply(404, {"error": "model 'tiny:1b' not found"}),
    pull="`ollama pull tiny:1b`",
)
OPENAI = Dialect(
    name="openai",
    chat="/v1/chat/completions",
    key="OPENAI_API_KEY",
    make=lambda url, **options: OpenAIModel("tiny:1b", base_url=f"{url}/v1", **options),
    missing=Reply(404, {"error": {"message": "The model `tiny:1b` does not exist.", "type": "NotFoundError"}}),
    pull="--model NAME",
)

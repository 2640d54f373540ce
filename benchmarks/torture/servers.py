"""Faults of a model's server: replies that are wrong, endless, slow, huge or hostile, on both backends."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import socket
import struct
import threading
import time
import traceback
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from benchmarks.torture.campaign import Trial, where
from benchmarks.torture.drawing import mutated
from benchmarks.torture.records import SEEDS

MEMORY: Final = 400 * 2**20
"""Bytes by which a reply may make the process grow."""
TIMEOUT: Final = 1.0
LONGEST: Final = 15.0
"""Seconds that a call may take whose timeout is one second, tries and closing included."""
Send = Callable[[socket.socket], None]
Faults = Iterator[tuple[str, str]]


def servers(trial: Trial, draw: Callable[..., Any]) -> None:
    """Ask a server of either kind that something is wrong with."""
    kind = draw(st.sampled_from(("ollama", "openai")))
    name, send = _reply(draw, kind)
    trial.step(f"{trial.again}  # {kind}: {name}")
    trial.count()
    with _served(send) as port:
        trial.check((f"{kind}: {fault}", f"{name}: {what}") for fault, what in _asked(kind, port))


def _asked(kind: str, port: int) -> Faults:
    from collector.errors import ModelError

    before, began = _peak(), time.monotonic()
    try:
        completion = asyncio.run(_complete(kind, port))
    except ModelError as error:
        message = str(error)
        if len(message) > 2000 or "\n" in message:
            yield "a message of more than a line", repr(message[:300])
        if acting := [each for each in message if unicodedata.category(each)[0] == "C"]:
            yield "control characters in a message", f"{acting[:5]!r} in {message[:300]!r}"
    except BaseException as error:
        yield where(error), traceback.format_exc(limit=-4)
    else:
        if not _is_text(completion):
            yield "an answer that no record can hold", repr(completion.text)[:300]
        for number in (completion.prompt_tokens, completion.completion_tokens):
            if number is not None and (type(number) is not int or not -(2**63) <= number < 2**64):
                yield "a number of tokens that no record can hold", repr(number)
    if (took := time.monotonic() - began) > LONGEST:
        yield "a call outlives its timeout", f"{took:.0f} s with a timeout of {TIMEOUT:.0f} s"
    if (grown := _peak() - before) > MEMORY:
        yield "a reply takes too much memory", f"{grown / 2**20:.0f} MB"


def _is_text(completion: Any) -> bool:
    try:
        f"{completion.text}{completion.thinking or ''}".encode()
    except UnicodeEncodeError:
        return False
    return True


async def _complete(kind: str, port: int) -> Any:
    from collector.llm.ollama import OllamaModel
    from collector.llm.openai import OpenAIModel
    from collector.llm.retry import Gate, RetryPolicy

    async def no_sleep(seconds: float) -> None:
        """Waits between tries take no time."""

    now = iter(range(0, 10**9, 10**6))
    policy = RetryPolicy(attempts=2, limited_attempts=2, timed_out_attempts=1, empty_attempts=1)
    gate = Gate(now=lambda: float(next(now)), sleep=no_sleep)
    given: dict[str, Any] = {"timeout": TIMEOUT, "retry": policy, "gate": gate}
    url = f"http://127.0.0.1:{port}"
    if kind == "ollama":
        model: Any = OllamaModel("tiny:1b", base_url=url, **given)
    else:
        model = OpenAIModel("tiny:1b", base_url=f"{url}/v1", **given)
    try:
        return await model.complete("What next?", seed=3)
    finally:
        await model.aclose()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# Replies -------------------------------------------------------------------------------------------------------------

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED: Final = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
HEADERS: Final = (
    *(
        b"Retry-After: " + each
        for each in b"nan,inf,-5,1e400,soon,99999999999,Wed - 21 Oct 2015 07:28:00 GMT".split(b",")
    ),
    *(b"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", b"Retry-After: Wed, 99 Foo 99999 07:28:00 GMT", b"X: \xff\xfe"),
    *(b"Content-Type: " + each for each in (b"text/html", b"application/json; charset=nosuch", b";;;", b"")),
    *(b"X: \x1b[31m", b"X\x00Y: 1", b" folded: 1", b"nocolon", b"Set-Cookie: " + b"a" * 20_000, b"Connection: upgrade"),
    *(b"Location: http://[::1", b"Location: ftp://127.0.0.1/", b"X-Request-Id: \x07", b"Content-Length: 5"),
)
TEXTS: Final = (
    *rb'"\ud83d" "\udfff" "\u0000" "\u001b[31m" "" null 5 [] {} true ["a"] "\u202e" "\ufeff" "params[0]:1e999"'.split(
        b" "
    ),
    *(b'"\x7f"', b'" "', b'"\xff"', '"\U0001f600"'.encode(), b'"' + b"\\n" * 10**5 + b'"'),
)
STATUSES: Final = (
    *range(200, 209),
    300,
    301,
    302,
    304,
    307,
    308,
    *range(400, 432),
    451,
    *range(500, 512),
    599,
    100,
    101,
    999,
)
LENGTHS: Final = (b"-1", b"0", b"1", b"99999999999999999999", b"x", b"", b"1, 2", b"700")


def _answer(kind: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": "HERE", "thinking": "Hm."}
    if kind == "ollama":
        times = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "prompt_eval_count": 11, "eval_count": 7}
        return {**times, "message": message, "done": True, "done_reason": "stop"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def _reply(draw: Callable[..., Any], kind: str) -> tuple[str, Send]:
    """A reply that something is wrong with, in words and as what is sent."""
    sound = _answer(kind)
    content = json.dumps(sound).encode()
    rest = HEAD + b"Content-Length: 999\r\n\r\n"
    wrong, how = mutated(Random(draw(SEEDS)), sound)
    text, header, length = (draw(st.sampled_from(each)) for each in (TEXTS, HEADERS, LENGTHS))
    status, noise, depth = (
        draw(st.sampled_from(STATUSES)),
        draw(st.binary(max_size=300)),
        draw(st.sampled_from((500, 10**5))),
    )
    nested = draw(st.sampled_from((b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth + b"]" * depth)))
    ways: dict[str, Callable[[], Send]] = {
        f"answer with {how}": lambda: _whole(wrong),
        f"answer with {how}, as it is": lambda: _whole(wrong),
        f"text {text[:30]!r}": lambda: _whole(content.replace(b'"HERE"', text)),
        f"status {status}, {header[:40]!r}": lambda: _whole(content, b"HTTP/1.1 %d Well\r\n%s\r\n" % (status, header)),
        f"header {header[:40]!r}": lambda: _whole(content, HEAD + header + b"\r\n"),
        f"length {length!r}": lambda: _then(HEAD + b"Content-Length: " + length + b"\r\n\r\n" + content),
        "nested": lambda: _whole(nested),
        "nested in an answer": lambda: _whole(content[:-1] + b', "more": ' + nested + b"}"),
        "gzip bomb": lambda: _whole(_bomb(gzip.compress), HEAD + b"Content-Encoding: gzip\r\n"),
        "deflate bomb": lambda: _whole(_bomb(zlib.compress), HEAD + b"Content-Encoding: deflate\r\n"),
        "gzip that is none": lambda: _whole(content, HEAD + b"Content-Encoding: gzip\r\n"),
        "unknown encoding": lambda: _whole(content, HEAD + b"Content-Encoding: br, nosuch\r\n"),
        "gzip cut off": lambda: _whole(gzip.compress(content)[:-9], HEAD + b"Content-Encoding: gzip\r\n"),
        "reset at once": lambda: _then(b"", _reset),
        "closed at once": lambda: _then(b""),
        "reset in an answer": lambda: _then(rest + content, _reset),
        "silence": lambda: _then(b"", _wait),
        "silence in an answer": lambda: _then(rest + content[:20], _wait),
        "slow bytes": lambda: _then(HEAD + b"Content-Length: %d\r\n\r\n" % len(content), _repeated(content, 6)),
        "slow spaces for ever": lambda: _then(CHUNKED, _repeated(b"1\r\n \r\n" * 10**4, 6)),
        "endless stream": lambda: _then(HEAD + b"\r\n", _repeated(b" " * 2**16)),
        "endless chunks": lambda: _then(CHUNKED, _repeated(b"10000\r\n" + b"x" * 2**16 + b"\r\n")),
        "endless header": lambda: _then(b"HTTP/1.1 200 OK\r\nX: ", _repeated(b"x" * 2**16)),
        "endless headers": lambda: _then(b"HTTP/1.1 200 OK\r\n", _repeated(b"X: y\r\n" * 1000)),
        "chunks that are none": lambda: _then(CHUNKED + b"zz\r\n" + content),
        "not HTTP": lambda: _then(noise),
        "HTTP/0.9": lambda: _then(content),
        "two answers": lambda: _whole(content + content),
        "an answer as a stream of lines": lambda: _whole(content + b"\n" + content + b"\n"),
        "redirect to itself": lambda: _whole(b"", b"HTTP/1.1 307 Well\r\nLocation: /api/chat\r\n"),
        "bytes that are no text": lambda: _whole(noise),
        "UTF-16": lambda: _whole(json.dumps(sound).encode("utf-16")),
        "a very long answer": lambda: _whole(content.replace(b"HERE", b"x" * (4 * 10**7))),
    }
    name = draw(st.sampled_from(list(ways)))
    return name, ways[name]()


@cache
def _bomb(compress: Callable[[bytes], bytes]) -> bytes:
    return compress(bytes(600 * 2**20))


def _whole(body: bytes, head: bytes = HEAD) -> Send:
    return _then(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def _then(data: bytes, rest: Send = lambda _: None) -> Send:
    def send(connection: socket.socket) -> None:
        connection.sendall(data)
        rest(connection)

    return send


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _wait(connection: socket.socket) -> None:
    connection.recv(1)


def _repeated(data: bytes, slowly: int = 0) -> Send:
    """Send data once, so many bytes at a time, or again and again, up to 2 GB, as long as a call may take."""

    def send(connection: socket.socket) -> None:
        until = time.monotonic() + LONGEST
        pieces = len(data) // slowly + 1 if slowly else 2**31 // len(data)
        for number in range(pieces):
            if time.monotonic() > until:
                return
            connection.sendall(data[number * slowly : (number + 1) * slowly] if slowly else data)
            time.sleep(0.05 if slowly else 0)

    return send


@contextmanager
def _served(send: Send) -> Iterator[int]:
    """A server that gives every request the same reply; yields its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(LONGEST)
                head, _, body = connection.recv(2**16).partition(b"\r\n\r\n")
                fields = (line.split(b":") for line in head.lower().split(b"\r\n"))
                length = next((int(field[1]) for field in fields if field[0] == b"content-length"), 0)
                while len(body) < length:
                    body += connection.recv(2**16)
                send(connection)
            except OSError:
                """The client has gone away, as it should."""

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=partial(answer, connection), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)

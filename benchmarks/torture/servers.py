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
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.torture.mutations import mutate
from benchmarks.torture.trial import Trial

EACH: Final = 40
"""Replies of an attempt."""
MEMORY: Final = 400 * 2**20
"""Bytes by which a reply may make the process grow."""
TIMEOUT: Final = 1.0
LONGEST: Final = 15.0
"""Seconds that a call may take whose timeout is one second, tries and closing included."""
BOMB: Final = 600 * 2**20

Send = Callable[[socket.socket], None]


def attempt(trial: Trial) -> None:
    """Ask both kinds of server, each time with another fault."""
    for _ in range(EACH):
        kind = trial.rng.choice(("ollama", "openai"))
        name, send = draw(trial.rng, kind)
        trial.step(f"{trial.again}  # {kind}: {name}")
        with served(send) as port:
            _ask(trial, kind, name, port)
        trial.count()


def _ask(trial: Trial, kind: str, name: str, port: int) -> None:
    from collector.errors import ModelError

    before, began = _peak(), time.monotonic()
    try:
        completion = asyncio.run(_complete(kind, port))
    except ModelError as error:
        message = str(error)
        if len(message) > 2000 or "\n" in message:
            trial.fail(f"{kind}: a message of more than a line", f"{name}: {message[:300]!r}")
        if acting := [each for each in message if unicodedata.category(each)[0] == "C"]:
            trial.fail(f"{kind}: control characters in a message", f"{name}: {acting[:5]!r} in {message[:300]!r}")
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"
        trial.fail(f"{kind}: {where}", f"{name}\n{traceback.format_exc(limit=-4)}")
    else:
        for part in (completion.text, completion.thinking or ""):
            try:
                part.encode()
            except UnicodeEncodeError as error:
                trial.fail(f"{kind}: an answer that no record can hold", f"{name}: {error}")
        for number in (completion.prompt_tokens, completion.completion_tokens):
            if number is not None and (type(number) is not int or not -(2**63) <= number < 2**64):
                trial.fail(f"{kind}: a number of tokens that no record can hold", f"{name}: {number!r}")
    if (took := time.monotonic() - began) > LONGEST:
        trial.fail(f"{kind}: a call outlives its timeout", f"{name}: {took:.0f} s with a timeout of {TIMEOUT:.0f} s")
    if (grown := _peak() - before) > MEMORY:
        trial.fail(f"{kind}: a reply takes too much memory", f"{name}: {grown / 2**20:.0f} MB")


async def _complete(kind: str, port: int) -> Any:
    from collector.llm.ollama import OllamaModel
    from collector.llm.openai import OpenAIModel
    from collector.llm.retry import Gate, RetryPolicy

    async def no_sleep(seconds: float) -> None:
        """Waits between tries take no time."""

    now = iter(range(0, 10**9, 10**6))
    policy = RetryPolicy(attempts=2, limited_attempts=2, timed_out_attempts=1, empty_attempts=1)
    url = f"http://127.0.0.1:{port}"
    given: dict[str, Any] = {
        "timeout": TIMEOUT,
        "retry": policy,
        "gate": Gate(now=lambda: float(next(now)), sleep=no_sleep),
    }
    model: Any = (
        OllamaModel("tiny:1b", base_url=url, **given)
        if kind == "ollama"
        else OpenAIModel("tiny:1b", base_url=f"{url}/v1", **given)
    )
    try:
        return await model.complete("What next?", seed=3)
    finally:
        await model.aclose()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# Replies -------------------------------------------------------------------------------------------------------------


def draw(rng: Random, kind: str) -> tuple[str, Send]:
    """A reply that something is wrong with, in words and as what is sent."""
    sound = _answer(kind)
    content = json.dumps(sound).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    def whole(body: bytes, head: bytes = head) -> Send:
        return _sending(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    mutated, how = mutate(rng, sound)
    status = rng.choice(
        (*range(200, 209), 300, 301, 302, 304, 307, 308, *range(400, 432), 451, *range(500, 512), 599, 100, 101, 999)
    )
    length = rng.choice(
        (b"-1", b"0", b"1", b"99999999999999999999", b"x", b"", b"1, 2", str(len(content) + 7).encode())
    )
    header = rng.choice(HEADERS)
    depth = rng.choice((500, 5_000, 100_000))
    nested = b'{"a":' * depth + b"1" + b"}" * depth if rng.random() < 0.5 else b"[" * depth + b"]" * depth
    text = rng.choice(TEXTS)
    answered = content.replace(b'"HERE"', text)
    ways: dict[str, Callable[[], Send]] = {
        f"answer with {how}": lambda: whole(mutated),
        f"answer with {how[:20]}, again": lambda: whole(mutated),
        f"text {text[:30]!r}": lambda: whole(answered),
        f"status {status}": lambda: whole(
            content, b"HTTP/1.1 %d Well\r\nContent-Type: application/json\r\n%s\r\n" % (status, header)
        ),
        f"header {header[:40]!r}": lambda: whole(content, head + header + b"\r\n"),
        f"length {length!r}": lambda: _sending(head + b"Content-Length: " + length + b"\r\n\r\n" + content),
        f"nested {depth} deep": lambda: whole(nested),
        f"nested {depth} deep in an answer": lambda: whole(content[:-1] + b', "more": ' + nested + b"}"),
        "gzip bomb": lambda: whole(_bomb(gzip.compress), head + b"Content-Encoding: gzip\r\n"),
        "deflate bomb": lambda: whole(_bomb(zlib.compress), head + b"Content-Encoding: deflate\r\n"),
        "gzip that is none": lambda: whole(content, head + b"Content-Encoding: gzip\r\n"),
        "unknown encoding": lambda: whole(content, head + b"Content-Encoding: br, nosuch\r\n"),
        "gzip cut off": lambda: whole(gzip.compress(content)[:-9], head + b"Content-Encoding: gzip\r\n"),
        "reset at once": lambda: _reset,
        "closed at once": lambda: _sending(b""),
        "reset in an answer": lambda: _then(head + b"Content-Length: 999\r\n\r\n" + content, _reset),
        "silence": lambda: _wait,
        "silence in an answer": lambda: _then(head + b"Content-Length: 999\r\n\r\n" + content[:20], _wait),
        "slow bytes": lambda: _then(head + b"Content-Length: %d\r\n\r\n" % len(content), _slowly(content)),
        "slow spaces for ever": lambda: _then(
            head + b"Transfer-Encoding: chunked\r\n\r\n", _slowly(b"1\r\n \r\n" * 10**4)
        ),
        "endless stream": lambda: _then(head + b"\r\n", _endless(b" " * 2**16)),
        "endless chunks": lambda: _then(
            head + b"Transfer-Encoding: chunked\r\n\r\n", _endless(b"10000\r\n" + b"x" * 2**16 + b"\r\n")
        ),
        "endless header": lambda: _then(b"HTTP/1.1 200 OK\r\nX: ", _endless(b"x" * 2**16)),
        "endless headers": lambda: _then(b"HTTP/1.1 200 OK\r\n", _endless(b"X: y\r\n" * 1000)),
        "chunks that are none": lambda: _sending(head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + content),
        "not HTTP": lambda: _sending(rng.randbytes(200)),
        "HTTP/0.9": lambda: _sending(content),
        "two answers": lambda: whole(content + content),
        "an answer as a stream of lines": lambda: whole(content + b"\n" + content + b"\n"),
        "redirect to itself": lambda: _sending(
            b"HTTP/1.1 307 Well\r\nLocation: /api/chat\r\nContent-Length: 0\r\n\r\n"
        ),
        "bytes that are no text": lambda: whole(rng.randbytes(300)),
        "UTF-16": lambda: whole(json.dumps(sound).encode("utf-16")),
        "a very long answer": lambda: whole(content.replace(b"HERE", b"x" * rng.choice((2 * 10**6, 4 * 10**7)))),
    }
    name = rng.choice(list(ways))
    return name, ways[name]()


HEADERS: Final = (
    *(b"Retry-After: nan", b"Retry-After: inf", b"Retry-After: -5", b"Retry-After: 1e400", b"Retry-After: soon"),
    *(
        b"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT",
        b"Retry-After: Wed, 99 Foo 99999 07:28:00 GMT",
        b"Retry-After: 99999999999",
    ),
    *(
        b"Content-Type: text/html",
        b"Content-Type: application/json; charset=nosuch",
        b"Content-Type: ;;;",
        b"Content-Type:",
    ),
    *(
        b"X: \xff\xfe",
        b"X: \x1b[31m",
        b"X\x00Y: 1",
        b" folded: 1",
        b"nocolon",
        b"Set-Cookie: " + b"a" * 20_000,
        b"Connection: upgrade",
    ),
    *(b"Location: http://[::1", b"Location: ftp://127.0.0.1/", b"X-Request-Id: \x07", b"Content-Length: 5"),
)
TEXTS: Final = (
    *(
        b'"\\ud83d"',
        b'"\\udfff x"',
        b'"\\u0000"',
        b'"\x7f"',
        b'"\\u001b[31m"',
        b'""',
        b'" "',
        b"null",
        b"5",
        b"[]",
        b"{}",
        b"true",
    ),
    *(
        b'["a"]',
        b'"\\u202e"',
        b'"\xf0\x9f\x98\x80"',
        b'"\xff"',
        b'"' + b"\\n" * 10**5 + b'"',
        b'"params[0]: 1e999"',
        b'"\\ufeff"',
    ),
)


def _answer(kind: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": "HERE", "thinking": "Hm."}
    if kind == "ollama":
        completion = {
            "model": "m",
            "created_at": "2026-01-01T00:00:00Z",
            "message": message,
            "done": True,
            "done_reason": "stop",
        }
        return {**completion, "prompt_eval_count": 11, "eval_count": 7}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


_packed: dict[Any, bytes] = {}


def _bomb(compress: Callable[[bytes], bytes]) -> bytes:
    if compress not in _packed:
        _packed[compress] = compress(bytes(BOMB))
    return _packed[compress]


# Ways to send --------------------------------------------------------------------------------------------------------


def _sending(data: bytes) -> Send:
    return lambda connection: connection.sendall(data)


def _then(data: bytes, rest: Send) -> Send:
    def send(connection: socket.socket) -> None:
        connection.sendall(data)
        rest(connection)

    return send


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _wait(connection: socket.socket) -> None:
    connection.settimeout(LONGEST)
    connection.recv(1)


def _slowly(data: bytes) -> Send:
    def send(connection: socket.socket) -> None:
        until = time.monotonic() + LONGEST
        for index in range(0, len(data), 6):
            if time.monotonic() > until:
                return
            connection.sendall(data[index : index + 6])
            time.sleep(0.05)

    return send


def _endless(data: bytes) -> Send:
    def send(connection: socket.socket) -> None:
        until = time.monotonic() + LONGEST
        for _ in range(2 * 2**30 // len(data)):
            if time.monotonic() > until:
                return
            connection.sendall(data)

    return send


@contextmanager
def served(send: Send) -> Iterator[int]:
    """A server that gives every request the same reply; yields its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.settimeout(LONGEST)
                request = connection.recv(2**16)
                head, _, body = request.partition(b"\r\n\r\n")
                lengths = [
                    line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
                ]
                while lengths and len(body) < int(lengths[0]):
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
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)

"""How each fault of a server is reported, and how often the server is asked before."""

import asyncio
import gc
import socket
import traceback
from dataclasses import dataclass, replace
from functools import partial

import pytest

from collector.errors import ModelError
from collector.llm.faults import EmptyAnswerError
from collector.llm.retry import Gate, RetryPolicy
from tests.collector.llm.loopback import HTML, OLLAMA, OPENAI, Reply, ask, use

POLICY = RetryPolicy(attempts=3, limited_attempts=4, timed_out_attempts=2, empty_attempts=2)
SECRET = "sk-secret-4711"


def impatient(dialect, server, clock, **options):
    return dialect.model(server, **{"retry": POLICY, "gate": Gate(now=clock.now, sleep=clock.sleep)} | options)


def failure(dialect, server, clock, *replies, **options) -> ModelError:
    """The error of a call, to a server that sends these replies."""
    if replies:
        server.requests.clear()
        clock.slept.clear()
        server.replies[dialect.chat] = list(replies)
    with pytest.raises(ModelError) as caught:
        ask(impatient(dialect, server, clock, **options))
    return caught.value


@dataclass(frozen=True)
class Row:
    """A fault, the parts of its message, and the number of requests it costs."""

    reply: Reply
    parts: tuple[str, ...]
    requests: int


def error(status, text="", **headers):
    return Reply(status, {"error": text} if text else b"", headers)


FAULTS = {
    "400": Row(
        error(400, "prompt too long"), ("refused the request (400: prompt too long)", "length of the prompt"), 1
    ),
    "401": Row(error(401, f"bad key {SECRET[:6]}***"), ("(401: bad key ***)", "_API_KEY"), 1),
    "403": Row(error(403, "subscribe first"), ("denies access to tiny:1b (403: subscribe first)", "_API_KEY"), 1),
    "404, another program": Row(Reply(404, b"404 page not found"), ("does not know this request", "check"), 1),
    "422": Row(error(422, "no such option"), ("refused the request (422: no such option)",), 1),
    "304": Row(Reply(304), ("refused the request (304)",), 1),
    "408": Row(error(408), ("failed (408)", "gave up after 3 tries"), 3),
    "409": Row(error(409), ("failed (409)", "gave up after 3 tries"), 3),
    "425": Row(error(425), ("failed (425)", "gave up after 3 tries"), 3),
    "429": Row(error(429, "slow down"), ("limits how often it is asked (429: slow down)", "run fewer at once"), 4),
    "429, quota": Row(
        Reply(429, {"error": {"message": "no credit", "code": "insufficient_quota"}}),
        ("has no quota left for this key (429: no credit)",),
        1,
    ),
    "500": Row(error(500, "model runner\nhas stopped"), ("failed (500: model runner has stopped)", "server's log"), 3),
    "502, HTML": Row(Reply(502, HTML), ("failed (502)",), 3),
    "503": Row(Reply(503, {"detail": "loading"}), ("failed (503: loading)",), 3),
    "HTML": Row(Reply(200, HTML, {"Content-Type": "text/html"}), ("cannot be read (it begins: <html><body>",), 3),
    "HTML called JSON": Row(Reply(200, HTML), ("cannot be read (it begins: <html><body>",), 3),
    "truncated JSON": Row(Reply(200, b'{"message": {"role": "assis'), ('cannot be read (it begins: {"message"',), 3),
    "not text": Row(Reply(200, b"\xff\xfe\x00"), ("cannot be read",), 3),
    "no body": Row(Reply(200, b""), ("cannot be read",), 3),
    "JSON list": Row(Reply(200, []), ("cannot be read",), 3),
    "JSON null": Row(Reply(200, b"null"), ("cannot be read",), 3),
    "empty object": Row(Reply(200, {}), ("cannot be read",), 3),
    "cut off": Row(Reply(200, b'{"message": ', how="cut"), ("the connection to", "broke off"), 3),
    "reset": Row(Reply(how="reset"), ("the connection to", "broke off"), 3),
}


def test_each_fault_is_reported_in_one_line(server, dialect, clock, monkeypatch):
    missing = Row(dialect.missing, ("has no model tiny:1b", dialect.pull), 1)
    monkeypatch.setenv(dialect.key, SECRET)
    for name, row in {**FAULTS, "missing": missing}.items():
        message = str(failure(dialect, server, clock, row.reply))
        for part in (*row.parts, server.url):
            assert part in message, name
        assert "\n" not in message
        assert (len(server.requests), len(clock.slept)) == (row.requests, row.requests - 1), name
    for status in (400, 401, 403, 404, 429, 500):
        reply = error(status, f"key {SECRET} is wrong for this model")
        assert SECRET not in "".join(traceback.format_exception(failure(dialect, server, clock, reply)))
    monkeypatch.delenv(dialect.key)
    assert f"wants an API key (401): set {dialect.key}" in str(failure(dialect, server, clock, error(401)))


SAID_NOTHING = "gave an empty answer: "
RAN_OUT = "gave an empty answer after thinking and ran out of tokens: allow more tokens"
EMPTY = [
    (OLLAMA, {"text": ""}, SAID_NOTHING),
    (OLLAMA, {"text": "  \n"}, SAID_NOTHING),
    (OLLAMA, {"text": None}, SAID_NOTHING),
    (OLLAMA, {"text": "", "thinking": "long", "ended": "length"}, RAN_OUT),
    (OPENAI, {"text": ""}, SAID_NOTHING),
    (OPENAI, {"text": None}, SAID_NOTHING),
    (OPENAI, {"text": None, "reasoning": "long", "ended": "length"}, RAN_OUT),
    (OPENAI, {"text": "<think>no end", "ended": "length"}, RAN_OUT),
]


def test_an_answer_without_text_is_an_error_of_its_own(server, clock):
    for dialect, answer, part in EMPTY:
        raised = failure(dialect, server, clock, dialect.answer(**answer))
        assert isinstance(raised, EmptyAnswerError)
        assert (raised.completion.text.strip(), raised.completion.completion_tokens) == ("", 7)
        assert (raised.completion.thinking is not None) == ("after thinking" in part)
        assert part in str(raised)
        assert len(server.requests) == 2


def test_a_server_that_never_finishes_is_down_or_unknown(server, dialect, clock, monkeypatch):
    for how in ("stalled", "endless"):
        message = str(failure(dialect, server, clock, Reply(how=how), timeout=0.3))
        assert "gave no full answer within 0.3 s" in message
        assert "--timeout" in message
        assert len(server.requests) == 2
    with socket.create_server(("127.0.0.1", 0)) as closed:
        place = f"127.0.0.1:{closed.getsockname()[1]}"
    program = "Ollama" if dialect is OLLAMA else "the OpenAI-compatible server"
    clock.slept.clear()
    refused = f"cannot connect to {program} at http://{place}"
    message = str(failure(dialect, f"http://{place}", clock))
    assert message.startswith(refused)
    assert "(connection refused): start it" in message

    def unknown(*args, **options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    message = str(failure(dialect, "http://nowhere.invalid:8000", clock))
    assert "nowhere.invalid:8000" in message
    assert "(the host name is not known)" in message
    assert len(clock.slept) == 4


def test_a_server_that_recovers_is_answered(server, dialect, clock):
    server.replies[dialect.chat] = [error(503), Reply(200, HTML), Reply(how="reset"), dialect.answer("at last")]
    waits = []
    model = impatient(
        dialect, server, clock, retry=replace(POLICY, attempts=4), on_wait=lambda *wait: waits.append(wait)
    )

    assert ask(model).text == "at last"
    assert [seconds for _, seconds in waits] == clock.slept
    assert [server.url in reason for reason, _ in waits] == [True, True, True]
    # Each of these is a failure of the same kind: the waits double, less a jitter of at most half.
    assert [low <= seconds <= 2 * low for low, seconds in zip((0.5, 1, 2), clock.slept, strict=True)] == [True] * 3


def test_a_password_in_the_address_is_never_shown(clock, server):
    server.replies[OPENAI.chat] = [error(500)]
    raised = failure(OPENAI, server.url.replace("http://", "http://me:hunter2@"), clock)
    assert "hunter2" not in "".join(traceback.format_exception(raised))
    assert server.requests[0].headers["authorization"].startswith("Basic ")


def test_a_call_or_a_wait_is_cancelled_at_once_and_leaves_nothing_behind(server, dialect):
    """The wait before another try lasts an hour here."""
    patient = RetryPolicy(first_wait=3600, longest_wait=3600, total_wait=7200)

    async def cancelled(reply):
        server.replies[dialect.chat] = [reply]
        waiting = asyncio.Event()
        model = dialect.model(server, retry=patient, on_wait=lambda *_: waiting.set())
        pending = asyncio.create_task(model.complete("What next?", seed=3))
        assert await (asyncio.to_thread(server.asked.wait, 10) if reply.how == "stalled" else waiting.wait())
        pending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pending
        await model.aclose()
        return asyncio.all_tasks() - {asyncio.current_task()}

    for reply in (Reply(how="stalled"), error(500)):
        server.requests.clear()
        assert asyncio.run(cancelled(reply)) == set()
        gc.collect()  # an unclosed connection would be reported here, as an error
        assert len(server.requests) == 1


def test_many_calls_share_one_model(server, dialect, clock):
    server.replies[dialect.chat] = [dialect.answer()]
    calls = [partial(lambda model, seed: model.complete("What next?", seed=seed), seed=seed) for seed in range(32)]
    assert len(use(impatient(dialect, server, clock), *calls)) == 32
    seeds = {request.body.get("options", request.body)["seed"] for request in server.requests}
    assert seeds == set(range(32))

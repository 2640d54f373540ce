"""Replies without bound are ended, and replies that no record can hold as they are handed over all the same."""

import asyncio
import gzip
import json
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from collector.errors import ModelError
from collector.llm.faults import UnusableAnswerError
from collector.llm.retry import Gate, RetryPolicy
from tests.collector.llm.loopback import OLLAMA, Reply

ROOT = Path(__file__).parents[3]
MEGABYTE = 2**20
GZIP = {"Content-Encoding": "gzip"}


def bomb(megabytes):
    """A gzip body that unpacks to so much: one compressed megabyte of blanks, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return bytes.fromhex("1f8b0800000000000003") + once * megabytes


def ask(model):
    async def call():
        try:
            return await model.complete("What next?", seed=3)
        finally:
            await model.aclose()

    return asyncio.run(call())


def unusable(dialect, server, clock, reply):
    """What is handed over of a reply, and the number of requests it cost."""
    server.replies[dialect.chat] = [reply]
    model = dialect.model(server, retry=RetryPolicy(attempts=3), gate=Gate(now=clock.now, sleep=clock.sleep))
    with pytest.raises(UnusableAnswerError) as caught:
        ask(model)
    assert "\n" not in str(caught.value)
    assert server.url in str(caught.value)
    assert len(server.requests) == 1
    return caught.value.completion


ENDLESS = {
    "packed": Reply(body=bomb(40), headers=GZIP),
    "packed twice": Reply(body=gzip.compress(bomb(1500)), headers={"Content-Encoding": "gzip, gzip"}),
    "plain": Reply(body=b" " * (33 * MEGABYTE)),
    "in chunks": Reply(body=MEGABYTE, how="flood"),
}


@pytest.mark.parametrize("reply", [ENDLESS[name] for name in ("packed", "plain", "in chunks")])
def test_a_reply_without_bound_is_ended(server, dialect, clock, reply):
    completion = unusable(dialect, server, clock, reply)
    assert "more than 32 MB" in completion.fault
    assert completion.text.isspace()
    assert len(completion.text) <= MEGABYTE


MEASURE = """
import asyncio, re, sys
from pathlib import Path
from collector.errors import ModelError
from collector.llm.retry import RetryPolicy
from tests.collector.llm.loopback import OLLAMA, OPENAI

def peak():
    # Of this program alone: getrusage would count the one that started it.
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

async def run(dialect, url, calls):
    model = dialect.model(url, retry=RetryPolicy(attempts=1), logprobs=True)
    await model.check()
    before, failures = peak(), 0
    for _ in range(calls):
        try:
            await model.complete("What next?", seed=3)
        except ModelError:
            failures += 1
    await model.aclose()
    print(failures, peak() - before)

asyncio.run(run({"ollama": OLLAMA, "openai": OPENAI}[sys.argv[1]], sys.argv[2], int(sys.argv[3])))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not report a program's memory")
def test_memory_is_bounded_whatever_is_sent(server, dialect):
    greedy = [
        *ENDLESS.values(),
        Reply(body=bomb(1500), headers=GZIP),
        Reply(400, bomb(1500), GZIP),
        # Thirty megabytes of JSON, of which Python would make a gigabyte of objects.
        Reply(body=b'{"message": 1, "choices": 1, "x": [' + b"{}," * (10 * MEGABYTE) + b"{}]}"),
    ]
    # An answer all the same, though with more tokens than any model writes.
    tokens = b'[{"token": "", "logprob": 0}%s]' % (b', {"token": "abc", "logprob": -1}' * 900_000)
    logprobs = tokens if dialect is OLLAMA else b'{"content": %s}' % tokens
    talkative = dialect.answer().content().replace(b'"message"', b'"logprobs": %s, "message"' % logprobs)
    server.replies = {
        dialect.chat: [*greedy, Reply(body=talkative)],
        "/api/show": [Reply(body={})],
        "/v1/models": [Reply(body={"data": []})],
    }
    command = [sys.executable, "-c", MEASURE, dialect.name, server.url, str(len(greedy) + 1)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    failures, megabytes = map(int, done.stdout.split())
    assert failures == len(greedy)
    assert megabytes < 200


@pytest.mark.parametrize("reply", ENDLESS.values(), ids=ENDLESS)
def test_the_check_before_a_run_is_bounded_too(server, dialect, reply):
    server.replies = {"/api/show": [reply], "/v1/models": [reply]}
    model = dialect.model(server)
    with pytest.raises(ModelError, match=r"more than 32 MB|cannot be read") as caught:
        asyncio.run(_check(model))
    assert "\n" not in str(caught.value)


async def _check(model):
    try:
        await model.check()
    finally:
        await model.aclose()


def test_a_packed_answer_is_read(server, dialect):
    answer = dialect.answer("params[0]: 1 \N{GRINNING FACE}")
    server.replies[dialect.chat] = [Reply(body=gzip.compress(answer.content()), headers=GZIP)]
    assert ask(dialect.model(server)).text == "params[0]: 1 \N{GRINNING FACE}"
    assert server.requests[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("half", ["\ud800", "\udc00", "\ud83d\ud83d\ude00"], ids=ascii)  # noqa: PT014 - they differ
def test_half_a_surrogate_pair_is_spelled_out(server, dialect, clock, half):
    """A backslash before it and a whole pair beside it are left alone."""
    text = f"params[0]: 1 \\ud800 \\\\ {half} \N{GRINNING FACE}"
    completion = unusable(dialect, server, clock, dialect.answer(text, thinking="hmm", reasoning="hmm"))
    spelled = json.dumps(half[0])[1:-1] + half[1:].encode("utf-16", "surrogatepass").decode("utf-16")
    assert completion.text == f"params[0]: 1 \\ud800 \\\\ {spelled} \N{GRINNING FACE}"
    assert (completion.thinking, completion.prompt_tokens, completion.completion_tokens) == ("hmm", 11, 7)
    assert "surrogate" in completion.fault


NESTED = b"[" * 5000 + b"]" * 5000


@pytest.mark.parametrize(
    "body",
    [NESTED, b'{"message": %s, "choices": %s}' % (NESTED, NESTED), b'{"x": %s}' % NESTED],
    ids=["all", "the answer", "beside it"],
)
def test_nesting_without_bound_is_handed_over_as_it_came(server, dialect, clock, body):
    completion = unusable(dialect, server, clock, Reply(body=body))
    assert completion.text == body.decode()
    assert "nested too deeply" in completion.fault


@pytest.mark.parametrize("status", [400, 500])
def test_an_error_with_nesting_without_bound_is_an_error(server, dialect, clock, status):
    server.replies[dialect.chat] = [Reply(status, b'{"error": %s}' % NESTED)]
    model = dialect.model(server, retry=RetryPolicy(attempts=2), gate=Gate(now=clock.now, sleep=clock.sleep))
    with pytest.raises(ModelError, match=f"\\({status}"):
        ask(model)


def test_counts_that_no_record_can_hold_are_left_out(server, dialect):
    answer = dialect.answer().content().replace(b" 11", b" %d" % 10**30).replace(b" 7", b" -7")
    server.replies[dialect.chat] = [Reply(body=answer)]
    completion = ask(dialect.model(server))
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)

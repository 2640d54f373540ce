"""Replies without bound are ended, and replies that no record can hold as they are handed over all the same."""

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
from tests.collector.helpers import GOOD, answer, collect, lines, spec
from tests.collector.llm.loopback import OLLAMA, Reply, check

ROOT = Path(__file__).parents[3]
MEGABYTE = 2**20
GZIP = {"Content-Encoding": "gzip"}


def bomb(megabytes):
    """A gzip body that unpacks to so much: one compressed megabyte of blanks, again and again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = packer.compress(b" " * MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return bytes.fromhex("1f8b0800000000000003") + once * megabytes


def unusable(dialect, server, clock, reply):
    """What is handed over of a reply, which is asked for once."""
    server.requests.clear()
    with pytest.raises(UnusableAnswerError) as caught:
        dialect.asked(server, reply, retry=RetryPolicy(attempts=3), gate=Gate(now=clock.now, sleep=clock.sleep))
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


def test_a_reply_without_bound_is_ended(server, dialect, clock):
    for name, reply in ENDLESS.items():
        if name != "packed twice":
            completion = unusable(dialect, server, clock, reply)
            assert "more than 32 MB" in completion.fault
            assert completion.text.isspace()
            assert len(completion.text) <= MEGABYTE
        server.replies |= {"/api/show": [reply], "/v1/models": [reply]}
        with pytest.raises(ModelError, match=r"more than 32 MB|cannot be read") as caught:
            check(dialect.model(server))
        assert "\n" not in str(caught.value)


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


def test_a_packed_answer_is_read(server, dialect):
    packed = gzip.compress(dialect.answer("params[0]: 1 \N{GRINNING FACE}").content())
    assert dialect.asked(server, Reply(body=packed, headers=GZIP)).text == "params[0]: 1 \N{GRINNING FACE}"
    assert server.requests[0].headers["accept-encoding"] == "gzip"


def test_half_a_surrogate_pair_is_spelled_out(server, dialect, clock):
    """A backslash before it and a whole pair beside it are left alone."""
    for half in ("\ud800", "\udc00", "\ud83d\ud83d\ude00"):
        text = f"params[0]: 1 \\ud800 \\\\ {half} \N{GRINNING FACE}"
        completion = unusable(dialect, server, clock, dialect.answer(text, thinking="hmm", reasoning="hmm"))
        spelled = json.dumps(half[0])[1:-1] + half[1:].encode("utf-16", "surrogatepass").decode("utf-16")
        assert completion.text == f"params[0]: 1 \\ud800 \\\\ {spelled} \N{GRINNING FACE}"
        assert (completion.thinking, completion.prompt_tokens, completion.completion_tokens) == ("hmm", 11, 7)
        assert "surrogate" in completion.fault


NESTED = b"[" * 5000 + b"]" * 5000


def test_nesting_without_bound_is_handed_over_as_it_came_or_an_error(server, dialect, clock):
    for body in (NESTED, b'{"message": %s, "choices": %s}' % (NESTED, NESTED), b'{"x": %s}' % NESTED):
        completion = unusable(dialect, server, clock, Reply(body=body))
        assert completion.text == body.decode()
        assert "nested too deeply" in completion.fault
    for status in (400, 500):
        with pytest.raises(ModelError, match=f"\\({status}"):
            dialect.asked(server, Reply(status, b'{"error": %s}' % NESTED), retry=RetryPolicy(attempts=1))


def test_counts_that_no_record_can_hold_are_left_out(server, dialect):
    answer = dialect.answer().content().replace(b" 11", b" %d" % 10**30).replace(b" 7", b" -7")
    completion = dialect.asked(server, Reply(body=answer))
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)


def test_a_reply_that_cannot_be_read_is_recorded_and_asked_for_again(server, dialect, tmp_path):
    good = dialect.answer(answer(GOOD))
    half = dialect.answer(answer(GOOD, "half \ud83d of it"))
    server.replies[dialect.chat] = [half, Reply(body=NESTED), ENDLESS["plain"], good]
    model = dialect.model(server)
    folder = collect(spec("frozenlake", "threetraj", model=model, iterations=1), tmp_path, model)
    calls = lines(folder / "calls.jsonl")
    assert [(call["role"], call["attempt"], call["error"]) for call in calls] == [
        ("search", 1, "an answer with half of a surrogate pair"),
        ("search", 2, "a reply that is nested too deeply"),
        ("search", 3, "a reply of more than 32 MB"),
        ("search", 4, None),
        ("critic", 1, None),
    ]
    assert calls[0]["completion"] == answer(GOOD, "half \\ud83d of it")
    assert calls[0]["completion_tokens"] == 7
    assert calls[1]["completion"] == NESTED.decode()
    assert len(server.requests) == 5

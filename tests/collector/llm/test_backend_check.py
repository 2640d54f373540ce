"""What is found out before a run begins."""

import asyncio

import pytest

from collector.errors import ModelError
from collector.llm.retry import Gate
from tests.collector.llm.loopback import HTML, OLLAMA, OPENAI, Reply

SHOW = {"details": {}, "model_info": {}, "capabilities": ["completion", "thinking"]}


def check(model):
    async def call():
        try:
            await model.check()
        finally:
            await model.aclose()

    asyncio.run(call())


def models(*names):
    return Reply(body={"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


LIST, ONE = "/v1/models", "/v1/models/tiny:1b"

GOOD = {
    "Ollama knows it": (OLLAMA, {"/api/show": [Reply(body=SHOW)]}, 1),
    "Ollama knows little of it": (OLLAMA, {"/api/show": [Reply(body={"remote_host": "https://ollama.com"})]}, 1),
    "listed": (OPENAI, {LIST: [models("other", "tiny:1b")]}, 1),
    "known though not listed": (OPENAI, {LIST: [models("models/tiny:1b")], ONE: [Reply(body={"id": "tiny:1b"})]}, 2),
    "an empty list": (OPENAI, {LIST: [models()]}, 1),
    "no list": (OPENAI, {}, 1),
    "a list that is not offered": (OPENAI, {LIST: [Reply(405)]}, 1),
}


@pytest.mark.parametrize(("dialect", "replies", "requests"), GOOD.values(), ids=GOOD.keys())
def test_a_model_that_can_be_used(server, dialect, replies, requests):
    server.replies = {path: list(script) for path, script in replies.items()}
    check(dialect.model(server))
    assert len(server.requests) == requests


BAD = {
    "Ollama lacks it": (
        OLLAMA,
        {"/api/show": [OLLAMA.missing]},
        "has no model tiny:1b: get it with `ollama pull tiny:1b`",
    ),
    "not Ollama": (OLLAMA, {}, "does not know this request"),
    "Ollama, HTML": (OLLAMA, {"/api/show": [Reply(body=HTML)]}, "cannot be read"),
    "Ollama, no key": (OLLAMA, {"/api/show": [Reply(401)]}, "set OLLAMA_API_KEY"),
    "Ollama fails": (OLLAMA, {"/api/show": [Reply(500)]}, "failed (500)"),
    "Ollama stalls": (OLLAMA, {"/api/show": [Reply(how="stalled")]}, "gave no full answer within 0.3 s"),
    "not listed": (OPENAI, {LIST: [models("a", "b")]}, "has no model tiny:1b; it has a, b: choose"),
    "no key": (OPENAI, {LIST: [Reply(401)]}, "set OPENAI_API_KEY"),
    "HTML": (OPENAI, {LIST: [Reply(body=HTML)]}, "cannot be read"),
    "fails": (OPENAI, {LIST: [Reply(500)]}, "failed (500)"),
    "stalls": (OPENAI, {LIST: [Reply(how="stalled")]}, "gave no full answer within 0.3 s"),
}


@pytest.mark.parametrize(("dialect", "replies", "part"), BAD.values(), ids=BAD.keys())
def test_a_model_that_cannot_be_used_is_reported_at_once(server, dialect, replies, part):
    server.replies = {path: list(script) for path, script in replies.items()}
    with pytest.raises(ModelError) as caught:
        check(dialect.model(server, timeout=0.3))
    assert part in str(caught.value)
    assert server.url in str(caught.value)
    assert sum(request.path != ONE for request in server.requests) == 1


def test_the_model_is_asked_for_by_name(server):
    server.replies["/api/show"] = [Reply(body=SHOW)]
    check(OLLAMA.model(server))
    assert server.requests[0].body["model"] == "tiny:1b"


def test_a_busy_server_is_waited_for(server, clock):
    server.replies["/api/show"] = [Reply(429, headers={"Retry-After": "7"}), Reply(body=SHOW)]
    check(OLLAMA.model(server, gate=Gate(now=clock.now, sleep=clock.sleep)))
    assert len(server.requests) == 2
    assert 7 <= clock.slept[0] <= 8

"""Replies that no program can read are recorded, paid for once, and asked for again."""

from __future__ import annotations

import pytest

from tests.collector.helpers import answer, collect, lines, spec
from tests.collector.llm.loopback import OLLAMA, OPENAI, Loopback, Reply

GOOD = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]


@pytest.fixture
def server():
    loopback = Loopback()
    yield loopback
    loopback.close()


@pytest.mark.parametrize("dialect", [OLLAMA, OPENAI], ids=str)
def test_a_reply_that_cannot_be_read_is_recorded_and_asked_for_again(dialect, server, tmp_path, monkeypatch):
    monkeypatch.delenv(dialect.key, raising=False)
    nested = b"[" * 5000 + b"]" * 5000
    server.replies[dialect.chat] = [
        dialect.answer(answer(GOOD, "half \ud83d of it")),
        Reply(body=nested),
        Reply(body=b" " * (33 * 2**20)),
        dialect.answer(answer(GOOD)),
    ]
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
    assert calls[1]["completion"] == nested.decode()
    assert len(server.requests) == 5

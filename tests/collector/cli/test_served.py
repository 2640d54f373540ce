"""`collect` with a model behind a server: what reaches the records, and the user."""

from __future__ import annotations

import json

import pytest

from collector.cli import main
from tests.collector.helpers import GOOD, answer, in_process, lines
from tests.collector.llm.loopback import OLLAMA, OPENAI, Loopback, Reply

SMALL = ["--env", "frozenlake", "--variant", "threetraj", "--runs", "2", "--iterations", "2", "--rollouts", "5"]


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "OLLAMA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    loopback = Loopback()
    loopback.replies = {
        "/api/show": [Reply(body={"details": {}})],
        "/v1/models": [Reply(body={"data": [{"id": "tiny:1b", "owned_by": "system"}]})],
    }
    yield loopback
    loopback.close()


def collect(server, dialect, out, *options):
    url = server.url + ("/v1" if dialect is OPENAI else "")
    named = ["--backend", dialect.name, "--model", "tiny:1b", "--base-url", url, "--out", out]
    return in_process(main, *SMALL, *named, *options)


def test_a_suspicion_that_ollama_cuts_prompts_is_one_line(server, tmp_path):
    server.replies[OLLAMA.chat] = [OLLAMA.answer(answer(GOOD))]
    result = collect(server, OLLAMA, tmp_path)
    assert result.returncode == 0, result.stderr
    (line,) = [line for line in result.stderr.splitlines() if "--num-ctx" in line]
    assert "reports 11 tokens of a prompt of at least" in line


@pytest.mark.parametrize("dialect", [OLLAMA, OPENAI], ids=str)
def test_structured_answers_are_recorded_raw_and_written_out_and_resumed(server, dialect, tmp_path):
    raw = json.dumps({"params": GOOD, "explanation": "The worst rollout fell into a hole."})
    server.replies[dialect.chat] = [dialect.answer(raw)]
    result = collect(server, dialect, tmp_path, "--structured")
    assert result.returncode == 0, result.stderr
    asked = len(server.requests)
    (folder, _) = sorted(path.parent for path in tmp_path.rglob("calls.jsonl"))
    assert json.loads((folder / "run.json").read_text())["options"]["structured"] is True
    for call in lines(folder / "calls.jsonl"):
        assert call["raw"] == raw
        assert call["completion"] == answer(GOOD, "The worst rollout fell into a hole.")
        assert call["error"] is None
    assert collect(server, dialect, tmp_path, "--structured").returncode == 0
    assert {request.path for request in server.requests[asked:]} <= {"/api/show", "/v1/models"}

"""What tests of judges share: a machine without proxies and keys, and a scripted server."""

from __future__ import annotations

import pytest

from tests.audit.judging.judges import JudgeServer


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    """Neither proxies nor keys of the machine that runs the tests."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "OLLAMA_HOST", "OLLAMA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server():
    judge = JudgeServer()
    yield judge
    judge.close()

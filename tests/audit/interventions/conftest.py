"""Records that the tests of experiments share."""

from __future__ import annotations

import pytest

from tests.audit.interventions.planned import recorded


@pytest.fixture(scope="session")
def records(tmp_path_factory):
    """Two CartPole runs."""
    return recorded(tmp_path_factory.mktemp("records"))


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    """Neither proxies nor keys of the machine that runs the tests."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "OLLAMA_HOST", "OLLAMA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)

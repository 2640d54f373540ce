import pytest

from tests.collector.llm.loopback import OLLAMA, OPENAI, Clock, Loopback

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
SETTINGS = ("OLLAMA_HOST", "OLLAMA_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch):
    """Neither proxies nor keys of the machine that runs the tests."""
    for name in (*PROXIES, *(proxy.upper() for proxy in PROXIES), *SETTINGS):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    loopback = Loopback()
    yield loopback
    loopback.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=[OLLAMA, OPENAI], ids=str)
def dialect(request):
    return request.param

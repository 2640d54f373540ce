"""A server that redirects requests elsewhere would send prompts where nobody has named anything."""

import asyncio

import pytest

from collector.errors import ModelError
from collector.llm.address import parse_address
from collector.llm.retry import Gate, RetryPolicy
from tests.collector.llm.loopback import Loopback, Reply


@pytest.fixture
def other():
    loopback = Loopback()
    yield loopback
    loopback.close()


def ask(model, method="complete"):
    async def call():
        try:
            return await (model.complete("What next?", seed=3) if method == "complete" else model.check())
        finally:
            await model.aclose()

    return asyncio.run(call())


def test_a_redirect_to_another_host_or_port_is_refused(server, other, dialect, clock, monkeypatch):
    monkeypatch.setenv(f"{dialect.name.upper()}_API_KEY", "sk-secret-4711")
    other.replies[dialect.chat] = [dialect.answer("text")]
    there = f"{other.url.replace('//', '//user:secret@')}{dialect.chat}?token=secret#access_token=secret"
    places = {
        there: other.url,
        there.replace("http:", "HTTPS:").replace("127.0.0.1", "LOCALHOST"): other.url[-6:],
        there.removeprefix("http:"): other.url,  # of the same scheme
        f"ftp://127.0.0.1{dialect.chat}": "ftp://127.0.0.1",
    }
    options = {"retry": RetryPolicy(attempts=3), "gate": Gate(now=clock.now, sleep=clock.sleep)}
    for status, (place, named) in [(302, (there, other.url)), *((307, each) for each in places.items())]:
        server.requests.clear()
        server.replies[dialect.chat] = [Reply(status, headers={"Location": place})]
        with pytest.raises(ModelError) as refused:
            ask(dialect.model(server, **options))
        message = str(refused.value)
        assert named in message, place
        assert "--allow-redirects" in message
        assert "secret" not in message
        assert "\n" not in message
        assert len(server.requests) == 1
    assert other.requests == []


def test_it_is_followed_where_it_is_allowed_and_on_the_same_server(server, other, dialect, monkeypatch):
    monkeypatch.setenv(f"{dialect.name.upper()}_API_KEY", "sk-secret-4711")
    other.replies[dialect.chat] = [dialect.answer("text")]
    server.replies[dialect.chat] = [Reply(307, headers={"Location": f"{other.url}{dialect.chat}"})]
    assert ask(dialect.model(server, allow_redirects=True)).text == "text"
    assert "authorization" not in other.requests[0].headers
    server.replies[f"/moved{dialect.chat}"] = [dialect.answer("text")]
    server.replies[dialect.chat] = [Reply(308, headers={"Location": f"/moved{dialect.chat}"})]
    assert ask(dialect.model(server)).text == "text"


def test_a_redirect_to_what_is_no_address_is_one_line(server, dialect):
    for allowed in (False, True):
        for place in ("http://[::1", "http://[::1]:x/", "http://\x7f/", "/" + "x" * 70_000):
            server.replies[dialect.chat] = [Reply(307, headers={"Location": place})]
            with pytest.raises(ModelError, match="broke off"):
                ask(dialect.model(server, allow_redirects=allowed, retry=RetryPolicy(attempts=1)))


def test_the_check_before_a_run_refuses_it_too(server, other, dialect):
    for path in ("/api/show", "/v1/models"):
        server.replies[path] = [Reply(302, headers={"Location": f"{other.url}{path}"})]
    with pytest.raises(ModelError, match="--allow-redirects"):
        ask(dialect.model(server), "check")
    assert other.requests == []


def test_what_the_same_server_is():
    plain, secure = (parse_address(f"{scheme}://Host/v1", source="") for scheme in ("http", "https"))
    assert plain.is_same_server("http", "host", 80)
    assert plain.is_same_server("https", "host", None)
    assert not plain.is_same_server("https", "host", 8443)
    assert not plain.is_same_server("http", "host", 8080)
    assert not secure.is_same_server("http", "host", None)
    assert not secure.is_same_server("http", "host", 443)
    assert not secure.is_same_server("https", "host.example", None)
    assert parse_address("http://[::1]:80", source="").is_same_server("http", "::1", None)

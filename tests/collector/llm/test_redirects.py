"""Where a server is; one that redirects requests elsewhere would send prompts where nobody has named anything."""

import pytest

from collector.errors import ModelError, UsageError
from collector.llm.address import parse_address
from collector.llm.retry import Gate, RetryPolicy
from tests.collector.llm.loopback import Loopback, Reply, check


@pytest.fixture
def other():
    loopback = Loopback()
    yield loopback
    loopback.close()


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
        with pytest.raises(ModelError) as refused:
            dialect.asked(server, Reply(status, headers={"Location": place}), **options)
        message = str(refused.value)
        assert named in message, place
        assert "--allow-redirects" in message
        assert "secret" not in message
        assert "\n" not in message
        assert len(server.requests) == 1
    for path in ("/api/show", "/v1/models"):
        server.replies[path] = [Reply(302, headers={"Location": f"{other.url}{path}"})]
    with pytest.raises(ModelError, match="--allow-redirects"):
        check(dialect.model(server))
    assert other.requests == []


def test_it_is_followed_where_it_is_allowed_and_on_the_same_server(server, other, dialect, monkeypatch):
    monkeypatch.setenv(f"{dialect.name.upper()}_API_KEY", "sk-secret-4711")
    other.replies[dialect.chat] = [dialect.answer("text")]
    elsewhere = Reply(307, headers={"Location": f"{other.url}{dialect.chat}"})
    assert dialect.asked(server, elsewhere, allow_redirects=True).text == "text"
    assert "authorization" not in other.requests[0].headers
    server.replies[f"/moved{dialect.chat}"] = [dialect.answer("text")]
    assert dialect.asked(server, Reply(308, headers={"Location": f"/moved{dialect.chat}"})).text == "text"


def test_a_redirect_to_what_is_no_address_is_one_line(server, dialect):
    for allowed in (False, True):
        for place in ("http://[::1", "http://[::1]:x/", "http://\x7f/", "/" + "x" * 70_000):
            options = {"allow_redirects": allowed, "retry": RetryPolicy(attempts=1)}
            with pytest.raises(ModelError, match="broke off"):
                dialect.asked(server, Reply(307, headers={"Location": place}), **options)


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


ADDRESSES = [
    # text, port for bare hosts, url for the client, shown
    ("127.0.0.1", 11434, "http://127.0.0.1:11434", "http://127.0.0.1:11434"),
    (":8080", 11434, "http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ("gpu.example:1234/ollama/", 11434, "http://gpu.example:1234/ollama", "http://gpu.example:1234/ollama"),
    ("http://gpu.example", 11434, "http://gpu.example", "http://gpu.example"),
    ("https://ollama.com", 11434, "https://ollama.com", "https://ollama.com"),
    ("[::1]:9", None, "http://[::1]:9", "http://[::1]:9"),
    ("localhost:8000/v1", None, "http://localhost:8000/v1", "http://localhost:8000/v1"),
    ("https://me:word@h.example/v1", None, "https://me:word@h.example/v1", "https://h.example/v1"),
    ("https://h.example/v1?key=word", None, "https://h.example/v1?key=word", "https://h.example/v1"),
    (" http://h.example/v1/ \n", None, "http://h.example/v1", "http://h.example/v1"),
]


def test_an_address_is_read_and_shown_without_secrets():
    for text, port, url, shown in ADDRESSES:
        address = parse_address(text, source="test", port=port)
        assert (address.url, address.shown) == (url, shown)
        assert "word" not in repr(address)
    for text in ("ftp://h", "http://", "http://h:port", "http://[::1", "http://a b/", "http://h:99999"):
        with pytest.raises(UsageError, match=r"--base-url is not an (HTTP )?address: write it like http://HOST:PORT"):
            parse_address(text, source="--base-url")


ROUTES = [
    ("http://127.0.0.1:1", {"all://127.0.0.1": None}),
    ("http://localhost", {"all://localhost": None}),
    ("http://[::1]:1", {"all://[::1]": None}),
    ("http://0.0.0.0:1", {"all://0.0.0.0": None}),
    ("http://192.168.0.7", {}),
    ("https://api.openai.com/v1", {}),
]


def test_only_this_machine_is_reached_past_the_proxy():
    for text, routes in ROUTES:
        assert parse_address(text, source="test").direct_routes() == routes, text

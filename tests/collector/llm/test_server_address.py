"""How an address is read, and what of it is shown."""

import pytest

from collector.errors import UsageError
from collector.llm.address import parse_address

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


@pytest.mark.parametrize(("text", "port", "url", "shown"), ADDRESSES)
def test_an_address_is_read_and_shown_without_secrets(text, port, url, shown):
    address = parse_address(text, source="test", port=port)
    assert (address.url, address.shown) == (url, shown)
    assert "word" not in repr(address)


@pytest.mark.parametrize(
    "text", ["ftp://h", "http://", "http://h:port", "http://[::1", "http://a b/", "http://h:99999"]
)
def test_what_is_no_address_is_refused(text):
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


@pytest.mark.parametrize(("text", "routes"), ROUTES)
def test_only_this_machine_is_reached_past_the_proxy(text, routes):
    assert parse_address(text, source="test").direct_routes() == routes

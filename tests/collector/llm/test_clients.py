"""A client serves one call at a time, and is used again."""

from contextlib import ExitStack

import httpx
import pytest

from collector.llm import clients
from collector.llm.clients import Clients, certificates


def test_a_client_is_made_when_all_others_are_in_use():
    made = []
    those = Clients(lambda: made.append(None) or len(made))
    assert made == [None]  # the first at once, so that its errors come early
    with ExitStack() as calls:
        assert [calls.enter_context(those.one()) for _ in range(3)] == [1, 2, 3]
    with those.one() as again:
        assert again in those.all
    assert len(made) == 3


def test_certificates_are_read_once_for_all_clients(monkeypatch):
    """By the library that makes the clients, each with its own idea of whom to trust."""
    openai = pytest.importorskip("openai")
    clients._read.cache_clear()
    for kind in (httpx.AsyncClient, openai.DefaultAsyncHttpxClient):
        assert certificates(kind) is certificates(kind)
        monkeypatch.setenv("SSL_CERT_FILE", httpx.__file__.replace("__init__.py", "no-such-file.pem"))
        with pytest.raises(OSError, match="No such file"):
            certificates(kind)
        monkeypatch.delenv("SSL_CERT_FILE")

"""Calls straight to a server: connections that are kept, late, refused, trusted or not."""

import asyncio
import json
import re
import socket
import ssl
import threading
import time
from contextlib import asynccontextmanager

import httpx
import pytest

from collector.errors import ModelError
from collector.llm import clients, direct, served
from collector.llm.address import parse_address
from collector.llm.clients import certificates
from collector.llm.direct import direct_transport
from collector.llm.retry import RetryPolicy
from tests.collector.llm.loopback import use

QUICK = RetryPolicy(first_wait=0.01)


@asynccontextmanager
async def serving(dialect, *, calls_each=None, trusted=None, after=b"", late=None, garbled=None):
    """A server that keeps connections for so many calls; its port, and how many calls each connection had.

    After each response it sends bytes that nobody asked for: with it, or where `late` is a list, once that has been
    read, which the list then states. Its answer to one call is garbled.
    """
    connections, writers = [], []

    async def serve(reader, writer):
        place = len(connections)
        writers.append(writer)
        connections.append(0)
        while connections[place] != calls_each:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            await reader.readexactly(int(re.search(rb"content-length: (\d+)", head.lower())[1]))
            connections[place] += 1
            body = dialect.answer().content()
            early = b"HTTP/1.1 103 Early Hints\r\n\r\n" if sum(connections) != garbled else b"garbled\r\n\r\n"
            writer.write(
                early + b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body) + after * (late is None)
            )
            await writer.drain()
            if late is not None:
                await asyncio.sleep(0.01)
                writer.write(after)
                late.append(place)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=trusted) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", connections
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)


async def asked(model, times=1):
    try:
        return [(await model.complete("What next?", seed=seed)).text for seed in range(times)]
    finally:
        await model.aclose()


def test_a_connection_is_used_again_for_a_while_and_replaced_where_the_server_has_closed_it(dialect, monkeypatch):
    async def run(calls_each):
        waits = []
        async with serving(dialect, calls_each=calls_each) as (place, connections):
            await asked(dialect.model(f"http://{place}", on_wait=lambda *wait: waits.append(wait)), times=6)
        assert waits == []
        return connections

    assert asyncio.run(run(None)) == [6]
    assert asyncio.run(run(2)) == [2, 2, 2]
    monkeypatch.setattr(direct, "KEPT_SECONDS", 0)
    assert asyncio.run(run(None)) == [1] * 6


def test_a_connection_with_bytes_that_nobody_asked_for_is_not_used_again(dialect):
    """They would be taken for the answer to the next call, or have it asked, and paid for, a second time."""
    body = dialect.answer("of another call").content()
    unasked = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)

    async def run(after, late):
        async with serving(dialect, after=after, late=late) as (place, connections):
            model = dialect.model(f"http://{place}")
            try:
                for seed in range(3):
                    assert (await model.complete("What next?", seed=seed)).text == "params[0]: 1"
                    while late is not None and len(late) <= seed:
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.01)
            finally:
                await model.aclose()
        return connections

    for after in (unasked, b"\r\n"):
        for late in (None, []):
            assert asyncio.run(run(after, late)) == [1, 1, 1], (after, late)


def test_an_unreadable_response_on_a_kept_connection_counts_as_a_try(dialect):
    """The server has worked on it: only a connection that it had closed before is no try."""

    async def run():
        waits = []
        async with serving(dialect, garbled=2) as (place, connections):
            await asked(
                dialect.model(f"http://{place}", retry=QUICK, on_wait=lambda *wait: waits.append(wait)), times=2
            )
        return connections, len(waits)

    assert asyncio.run(run()) == ([2, 1], 1)


def test_what_is_refused_at_all_addresses_of_a_host_is_named(dialect):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ModelError, match="connection refused"):
        asyncio.run(asked(dialect.model(f"http://localhost:{port}", retry=RetryPolicy(attempts=1))))


def test_a_server_that_accepts_late_is_tried_again(dialect, monkeypatch):
    """When a run begins, too: its queue of connections is full, as that of a busy server is."""
    monkeypatch.setattr(served, "CONNECT_SECONDS", 0.05)
    monkeypatch.setattr(direct, "GRACE_SECONDS", 0.05)
    for ask in ("check", "complete"):
        with socket.create_server(("127.0.0.1", 0), backlog=0) as late, socket.create_connection(late.getsockname()):
            waits = []
            accepting = threading.Thread(target=accept, args=(late, dialect))

            def wait(reason, _, waits=waits, accepting=accepting):
                waits.append(reason)
                if len(waits) == 1:
                    accepting.start()
                    time.sleep(0.2)

            model = dialect.model(f"http://127.0.0.1:{late.getsockname()[1]}", retry=QUICK, on_wait=wait)
            use(model, lambda each, ask=ask: each.check() if ask == "check" else each.complete("What next?", seed=3))
            assert "cannot connect" in waits[0]
            assert "(no reply)" in waits[0]
            accepting.join()


def accept(late, dialect):
    """Accept what has waited, and answer the next call."""
    late.accept()[0].close()
    connection = late.accept()[0]
    with connection:
        head = connection.recv(65536)
        answer = dialect.answer().body | {"data": [{"id": "tiny:1b"}]}
        assert head
        body = json.dumps(answer).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


def test_a_busy_process_takes_the_connection_that_has_come_in_the_meantime(dialect, monkeypatch):
    monkeypatch.setattr(served, "CONNECT_SECONDS", 0.05)

    async def run():
        async with serving(dialect) as (place, _):
            waits = []
            asking = asyncio.create_task(asked(dialect.model(f"http://{place}", on_wait=lambda *w: waits.append(w))))
            while not asking.done():
                time.sleep(0.06)  # as with other runs
                await asyncio.sleep(0)
            assert waits == []
            return await asking

    assert asyncio.run(run()) == ["params[0]: 1"]


def test_where_a_proxy_is_set_calls_go_through_it(monkeypatch):
    here, there = (parse_address(f"http://{host}", source="") for host in ("localhost", "host.example"))
    assert direct_transport(httpx.AsyncClient, there) is not None
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert direct_transport(httpx.AsyncClient, there) is None
    assert direct_transport(httpx.AsyncClient, here) is not None


def test_https_is_for_servers_with_a_trusted_certificate(dialect, monkeypatch, tmp_path):
    own = certificate(tmp_path)
    trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trusted.load_cert_chain(own)

    async def run():
        async with serving(dialect, trusted=trusted) as (place, _):
            return await asked(dialect.model(f"https://{place}"), times=2)

    with pytest.raises(ModelError, match="is not trusted"):
        asyncio.run(run())
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    assert asyncio.run(run()) == ["params[0]: 1"] * 2


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


def certificate(folder):
    """A certificate for this machine that nobody has signed but itself, and its key."""
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path = folder / "own.pem"
    pem = serialization.Encoding.PEM
    path.write_bytes(key.private_bytes(pem, *form) + signed.public_bytes(pem))
    return path

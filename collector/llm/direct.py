"""HTTP/1.1 straight to a server, as a transport of `httpx`: each call has a connection, which later ones use again.

The transport that `httpx` brings is for many calls at once. For each it takes several locks, looks through all its
connections and asks the system about them, which is most of the processor time of a call to a model.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import Any, Final, TypeAlias
from urllib.request import getproxies

import h11

from collector.llm.address import Address
from collector.llm.clients import certificates, library_of
from collector.llm.faults import Server
from collector.llm.reply import PACKED

KEPT_SECONDS: Final = 5.0
"""How long a connection is kept that is not used: as long as by `httpx`, since routers forget such connections."""
GRACE_SECONDS: Final = 1.0
"""Added to the time for connecting, once it is over: if this process was busy, the connection is there by then."""
MAX_REDIRECTS: Final = 3
"""Maximum number of redirects of one request, each of which is given the prompt."""
LONGEST_HEAD: Final = 100 * 1024
PART: Final = 64 * 1024

Opening: TypeAlias = "asyncio.Task[tuple[asyncio.StreamReader, asyncio.StreamWriter]]"

_HAPPY_EYEBALLS: Final = 0.25  # seconds for one address before the next is tried as well (RFC 8305)


def http_options(client: type, server: Server, seconds: float, receive: Callable[[Any], Awaitable[Any]]) -> Any:
    """Options of an HTTP client that goes straight to a server, or through the proxy that is set for it.

    Args:
        client: an `AsyncClient` of `httpx` or `httpx2`, or a class made from one.
        server: that it asks.
        seconds: that it waits for a connection; for an answer it waits without limit.
        receive: is called with each response before its body is read.
    """
    library: Any = library_of(client)
    return {
        "timeout": library.Timeout(None, connect=seconds),
        "limits": library.Limits(max_connections=None),
        "mounts": server.address.direct_routes(),
        "transport": direct_transport(client, server.address),
        "verify": certificates(client),
        "headers": PACKED,
        "max_redirects": MAX_REDIRECTS,
        "event_hooks": {"response": [receive]},
    }


def direct_transport(client: type, address: Address) -> Direct | None:
    """A transport for a client's calls to a server; None where a proxy is set for them, which `httpx` itself knows.

    Args:
        client: as for `http_options`.
        address: of the server.
    """
    proxied = not address.direct_routes() and getproxies().keys() & {"http", "https", "all"}
    return None if proxied else Direct(client)


class Direct:
    """A transport with a connection for each call in flight: the one that was used last, if one is idle.

    Args:
        client: the class of the client, whose responses and errors are those of its library.
    """

    def __init__(self, client: type) -> None:
        self._library: Any = library_of(client)
        self._client = client
        self._kept: list[_Connection] = []

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request; the response whose head has come, and whose body is still to be read.

        Args:
            request: of the client's library.

        Raises:
            Exception: of the library, for a connection that cannot be made, or that breaks.
        """
        place = request.url.scheme, request.url.raw_host.decode("ascii"), request.url.port
        body = await request.aread()
        while self._kept:
            kept = self._kept.pop()
            try:
                if await kept.is_usable(place):
                    return self._response(kept, await kept.ask(request, body))
            except OSError:
                pass  # the server has closed it in the meantime
            except h11.RemoteProtocolError as error:
                raise self._library.ReadError(str(error)) from error
            kept.close()
        connection = await self._open(place, (request.extensions.get("timeout") or {}).get("connect"))
        try:
            return self._response(connection, await connection.ask(request, body))
        except (OSError, h11.RemoteProtocolError) as error:
            raise self._library.ReadError(str(error)) from error

    async def aclose(self) -> None:
        """Close the connection."""
        while self._kept:
            self._kept.pop().close()
        await asyncio.sleep(0)  # asyncio closes sockets in its next round

    async def _open(self, place: tuple[str, str, int | None], seconds: float | None) -> _Connection:
        scheme, host, port = place
        trusted = certificates(self._client) if scheme == "https" else None
        opening: Opening = asyncio.ensure_future(
            asyncio.open_connection(
                host,
                port or (443 if trusted else 80),
                ssl=trusted,
                happy_eyeballs_delay=_HAPPY_EYEBALLS,
            )
        )
        try:
            for time_left in (seconds, GRACE_SECONDS):
                if not opening.done():
                    await asyncio.wait({opening}, timeout=time_left)
        except BaseException:
            _give_up(opening)
            raise
        if not opening.done():
            _give_up(opening)
            raise self._library.ConnectTimeout(f"no connection within {seconds:g} s")
        try:
            return _Connection(place, *opening.result())
        except (OSError, UnicodeError) as error:
            raise self._library.ConnectError(str(error)) from _common(error)

    def _response(self, connection: _Connection, head: h11.Response) -> Any:
        stream = _body_type(self._library)(connection, self._library, lambda: self._kept.append(connection))
        return self._library.Response(head.status_code, headers=head.headers.raw_items(), stream=stream)


class _Connection:
    """A connection to a server, and the state of the call on it."""

    def __init__(
        self, place: tuple[str, str, int | None], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._place, self._reader, self._writer = place, reader, writer
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._since = 0.0

    async def is_usable(self, place: tuple[str, str, int | None]) -> bool:
        """Whether another call to a place can be made on it: not if it has ended, or holds what nobody asked for."""
        if place != self._place or time.monotonic() - self._since >= KEPT_SECONDS or self._http.trailing_data[0]:
            return False
        try:
            async with asyncio.timeout(0):
                await self._reader.read(1)
        except TimeoutError:
            return not self._reader.at_eof()
        return False

    async def ask(self, request: Any, body: bytes) -> h11.Response:
        """Send a request, and wait for the head of the response."""
        try:
            head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
            sent = [self._http.send(head), self._http.send(h11.Data(data=body)), self._http.send(h11.EndOfMessage())]
            self._writer.write(b"".join(part for part in sent if part))
            while not isinstance(event := await self.event(), h11.Response):
                pass  # such as 103, early hints
        except BaseException:
            self.close()
            raise
        return event

    async def event(self) -> Any:
        """What comes next of the response."""
        while (event := self._http.next_event()) is h11.NEED_DATA:
            part = await self._reader.read(PART)
            if not part and self._http.their_state is h11.SEND_RESPONSE:
                raise ConnectionResetError("the server closed the connection without a response")
            self._http.receive_data(part)
        return event

    def end(self) -> bool:
        """End a call; whether another one can be made, as its response was read to the end. If not, it is closed."""
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
            self._since = time.monotonic()
            return True
        self.close()
        return False

    def close(self) -> None:
        """Close at once, whatever is still to come."""
        self._writer.transport.abort()


class _Body:
    """The body of a response, part by part."""

    def __init__(self, connection: _Connection, library: Any, keep: Callable[[], None]) -> None:
        self._connection, self._library, self._keep = connection, library, keep
        self._over = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while isinstance(event := await self._connection.event(), h11.Data):
                yield bytes(event.data)
        except (OSError, h11.RemoteProtocolError) as error:
            raise self._library.ReadError(str(error)) from error

    async def aclose(self) -> None:
        """Keep the connection for another call, or close it where the body has not come to its end."""
        if not self._over:
            self._over = True
            if self._connection.end():
                self._keep()


@cache
def _body_type(library: Any) -> type[_Body]:
    """The body as a type of the library, which its clients insist on."""
    return type("Body", (_Body, library.AsyncByteStream), {})


def _give_up(opening: Opening) -> None:
    """Wait for a connection no more, and close it should it have come about."""

    def close(opening: Opening) -> None:
        if not opening.cancelled() and opening.exception() is None:
            opening.result()[1].transport.abort()

    opening.add_done_callback(close)
    opening.cancel()


def _common(error: Exception) -> Exception:
    """What is wrong at all addresses of a host alike, which asyncio states in words alone."""
    numbers = set(re.findall(r"\[Errno (\d+)\]", str(error)))
    if isinstance(error, ssl.SSLError) or not isinstance(error, OSError) or error.errno or len(numbers) != 1:
        return error
    return OSError(int(numbers.pop()), str(error))
